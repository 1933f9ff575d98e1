import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization

/// Where sound leaves for its listeners: `audioFramePublisher`.
///
/// Each listener has a lane of its own and a bounded queue in front of it (`FrameBroadcaster`): 25 frames, which are half
/// a second. The oldest makes room for a new one, is counted, and the next frame that this listener hears says how many
/// samples it misses. Others miss nothing.
final class AudioOutlet: Announcer, Sendable {
  /// One time between an `open` and the `close` after it. A stream that rests has another before and after.
  struct Opening: Hashable, Sendable {
    let stream: StreamID
    fileprivate let number: UInt64
  }

  /// A frame, and where it stands in the stream's sound.
  struct Piece: Sendable {
    var frame: AudioFrame
    /// Samples of each channel before it since the stream's first one, those that are missing included.
    var position: Int64
  }

  private struct Delivery: Sendable {
    let piece: Piece
    let opening: Opening
  }

  /// How many frames may wait for one listener.
  static let limit = 25

  /// The number of the opening whose frames may reach listeners; 0 while closed.
  private let open = Atomic<UInt64>(0)
  private let lastOpening = Atomic<UInt64>(0)
  private let broadcaster: FrameBroadcaster<Delivery>

  init(timekeeper: any Timekeeper) {
    broadcaster = FrameBroadcaster(name: "sound", timekeeper: timekeeper, limit: Self.limit)
  }

  var hasListeners: Bool { broadcaster.hasListeners }

  /// Frames that listeners were too slow for, those that left included.
  var droppedFrames: Int { broadcaster.statistics.dropped }

  /// What each present listener has had, oldest first.
  var listenerStatistics: [(number: Int, counts: FrameListenerCounts)] { broadcaster.listenerStatistics }

  /// As `FrameOutlet.onDrops`.
  func onDrops(_ handler: (@Sendable (_ listener: Int, _ count: Int) -> Void)?) { broadcaster.onDrops(handler) }

  func open(_ stream: StreamID) -> Opening {
    let number = lastOpening.wrappingAdd(1, ordering: .relaxed).newValue
    open.store(number, ordering: .releasing)
    return Opening(stream: stream, number: number)
  }

  /// What waits for listeners goes nowhere.
  func close() { open.store(0, ordering: .releasing) }

  /// Hands a frame to the listeners' lanes; nothing happens when its opening is over.
  func deliver(_ piece: Piece, of opening: Opening) {
    guard isOpen(opening) else { return }
    broadcaster.send(Delivery(piece: piece, opening: opening))
  }

  /// Calls `then` once everything delivered before has been heard, or its listeners are gone; at once where there are
  /// none. On a listener's thread, and not to block.
  func drained(_ then: @escaping @Sendable () -> Void) { broadcaster.drained(then) }

  func listen(_ listener: @escaping @Sendable (AudioFrame) -> Void) -> any AnyListenerToken {
    let gate = Mutex(AudioListenerGate())
    return broadcaster.subscribe { [weak self] delivery in
      guard self?.isOpen(delivery.opening) == true else { return .passed }
      listener(gate.withLock { $0.admit(delivery.piece, of: delivery.opening.stream) })
      return .heard
    }
  }

  private func isOpen(_ opening: Opening) -> Bool { open.load(ordering: .acquiring) == opening.number }
}

/// Tells what one listener for sound misses before each frame: also what it was too slow for, and what came while the
/// stream rested.
struct AudioListenerGate: Sendable {
  private var stream: StreamID?
  /// Where the next frame would stand if nothing were missing.
  private var expected: Int64 = 0

  /// A listener's first frame of a stream misses nothing: what came before was not its own.
  mutating func admit(_ piece: AudioOutlet.Piece, of stream: StreamID) -> AudioFrame {
    let isFirst = self.stream != stream
    let missing = isFirst ? 0 : max(0, Int(piece.position - expected))
    self.stream = stream
    expected = piece.position + Int64(piece.frame.pcmBuffer.frameLength)
    return piece.frame.marked(missing: missing, followsGap: !isFirst && (piece.frame.followsGap || missing > 0))
  }
}
