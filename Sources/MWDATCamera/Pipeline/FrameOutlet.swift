import LinkProtocol
import MWDATCore
import PortableMedia
import Synchronization
import Units

/// Where frames leave for their listeners: `videoFramePublisher`.
///
/// Each listener has a lane of its own and a bounded queue in front of it (`FrameBroadcaster`). A decoded frame that a
/// slow listener misses costs it that frame. Compressed units depend on one another, so here a listener that missed
/// one, or came between two sync units, gets nothing until the next sync unit, which is asked for at once. One that came
/// between two and has had nothing for `patience`, since the glasses make none on request, gets what it needs all the
/// same: all frames from the last sync unit on, at once (`RecentUnits`), and goes on from there.
final class FrameOutlet: Announcer, Sendable {
  enum ListenersChange: Sendable { case added, removed }

  /// One time between an `open` and the `close` after it. A stream that rests has another before and after.
  struct Opening: Hashable, Sendable {
    let stream: StreamID
    fileprivate let number: UInt64
  }

  private struct Delivery: Sendable {
    let frame: VideoFrame
    let opening: Opening
    /// Counts deliveries; a step of more than one is what the listener missed.
    let number: UInt32
  }

  /// The number of the opening whose frames may reach listeners; 0 while closed. Frames that wait in a listener's queue
  /// when a stream stops or rests are not delivered any more, also when it goes on before their turn would have come.
  private let open = Atomic<UInt64>(0)
  private let lastOpening = Atomic<UInt64>(0)
  private let lastNumber = Atomic<UInt32>(0)
  private let broadcaster: FrameBroadcaster<Delivery>
  private let codec: VideoCodec
  private let requester: KeyframeRequester
  private let recent: RecentUnits
  private let timekeeper: any Timekeeper

  /// How long a listener for compressed frames waits for a sync unit that is asked for. A picture in two a second comes
  /// within it, and the next look at the time, as the next picture comes, is still within a second (LOSS-5).
  private static let patience: Duration = .milliseconds(500)

  init(
    codec: VideoCodec, timekeeper: any Timekeeper, requester: KeyframeRequester, recent: RecentUnits
  ) {
    self.codec = codec
    self.requester = requester
    self.recent = recent
    self.timekeeper = timekeeper
    broadcaster = FrameBroadcaster(name: "frames", timekeeper: timekeeper, limit: Self.limit(codec))
  }

  /// How many frames may wait for one listener. Decoded ones are big, and a newer one is better than an old one. Of
  /// compressed ones each is needed: the limit is what arrives at once when a link that stood still for a second, at 30
  /// pictures a second, gets going again.
  static func limit(_ codec: VideoCodec) -> Int {
    switch codec {
    case .raw: 3
    case .hvc1: 32
    }
  }

  var hasListeners: Bool { broadcaster.hasListeners }

  /// Frames that listeners were too slow for, those that left included.
  var droppedFrames: Int { broadcaster.statistics.dropped }

  /// What each present listener has had, oldest first.
  var listenerStatistics: [(number: Int, counts: FrameListenerCounts)] { broadcaster.listenerStatistics }

  /// Called each time a listener loses frames because it is too slow: with its number (1 for the stream's first, none
  /// is used again) and how many. At most once a frame and listener; on the link's, the decoder's or the listener's
  /// lane, with no lock held.
  func onDrops(_ handler: (@Sendable (_ listener: Int, _ count: Int) -> Void)?) { broadcaster.onDrops(handler) }

  /// Called after a listener came or went, on its thread.
  func onListenersChanged(_ handler: @escaping @Sendable (ListenersChange) -> Void) {
    broadcaster.onListenersChanged { change in
      switch change {
      case .added: handler(.added)
      case .removed: handler(.removed)
      }
    }
  }

  func open(_ stream: StreamID) -> Opening {
    let number = lastOpening.wrappingAdd(1, ordering: .relaxed).newValue
    open.store(number, ordering: .releasing)
    return Opening(stream: stream, number: number)
  }

  func close() { open.store(0, ordering: .releasing) }

  /// Hands a frame to the listeners' lanes; nothing happens when its opening is over.
  func deliver(_ frame: VideoFrame, of opening: Opening) {
    guard isOpen(opening) else { return }
    let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    broadcaster.send(Delivery(frame: frame, opening: opening, number: number))
  }

  /// What is made for a listener in another opening goes nowhere.
  func isOpen(_ opening: Opening) -> Bool { open.load(ordering: .acquiring) == opening.number }

  func listen(_ listener: @escaping @Sendable (VideoFrame) -> Void) -> any AnyListenerToken {
    switch codec {
    case .raw:
      let gate = Mutex(DecodedListenerGate())
      return broadcaster.subscribe { [weak self] delivery in
        guard self?.isOpen(delivery.opening) == true else { return .passed }
        let hasMissed = gate.withLock { $0.admit(delivery.number, of: delivery.opening.stream) }
        listener(hasMissed ? delivery.frame.markedAfterGap() : delivery.frame)
        return .heard
      }
    case .hvc1:
      let gate = Mutex(CompressedListenerGate())
      let came = timekeeper.now
      return broadcaster.subscribe { [weak self] delivery in
        guard let self, isOpen(delivery.opening) else { return .passed }
        switch gate.withLock({ $0.admit(delivery.number, of: delivery.opening.stream, delivery.frame) }) {
        case .deliver(let followsGap):
          listener(followsGap ? delivery.frame.markedAfterGap() : delivery.frame)
          return .heard
        case .withhold(let isMissed, let asks):
          if asks { requester.request(.lateListener) }
          if isMissed { return .missed }
          guard timekeeper.now - came >= Self.patience, let earlier = earlier(than: delivery) else { return .passed }
          gate.withLock { $0 = CompressedListenerGate() }
          return .replay(earlier + [delivery])
        }
      }
    }
  }

  /// The frames from the last sync unit on that this one depends on; nil when they are not there.
  private func earlier(than delivery: Delivery) -> [Delivery]? {
    let stamp = CMSampleBufferGetPresentationTimeStamp(delivery.frame.sampleBuffer)
    let units = recent.units(before: Instant(nanoseconds: stamp.value))
    guard !units.isEmpty else { return nil }
    var samples = UnitSampleFactory()
    var number = delivery.number &- UInt32(truncatingIfNeeded: units.count)
    var deliveries: [Delivery] = []
    deliveries.reserveCapacity(units.count + 1)
    for unit in units {
      guard let layout = try? samples.examine(unit.unit), let sample = samples.makeSample(unit, layout) else {
        return nil
      }
      let frame = VideoFrame(sampleBuffer: sample, isSync: unit.unit.flags.contains(.sync), followsGap: false)
      deliveries.append(Delivery(frame: frame, opening: delivery.opening, number: number))
      number &+= 1
    }
    return deliveries
  }
}
