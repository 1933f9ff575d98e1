import LinkProtocol
import MWDATCore
import Synchronization
import Units

/// Where frames leave for their listeners: `videoFramePublisher`.
///
/// Each listener has a lane of its own and a bounded queue in front of it (`FrameBroadcaster`). A decoded frame that a
/// slow listener misses costs it that frame. Compressed units depend on one another, so here a listener that missed
/// one, or came between two sync units, gets nothing until the next sync unit, which is asked for at once.
final class FrameOutlet: Announcer, Sendable {
  enum ListenersChange: Sendable { case added, removed }

  private struct Delivery: Sendable {
    let frame: VideoFrame
    let stream: StreamID
    /// Counts deliveries; a step of more than one is what the listener missed.
    let number: UInt32
  }

  /// The number of the stream whose frames may reach listeners; 0 while there is none. Frames that wait in a
  /// listener's queue when a stream stops or rests are not delivered any more.
  private let open = Atomic<UInt32>(0)
  private let lastNumber = Atomic<UInt32>(0)
  private let broadcaster: FrameBroadcaster<Delivery>
  private let codec: VideoCodec
  private let timekeeper: any Timekeeper
  private let telemetry: TelemetryRecorder
  private let requester: KeyframeRequester

  init(
    codec: VideoCodec, timekeeper: any Timekeeper, telemetry: TelemetryRecorder, requester: KeyframeRequester
  ) {
    self.codec = codec
    self.timekeeper = timekeeper
    self.telemetry = telemetry
    self.requester = requester
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

  /// Frames that listeners were too slow for.
  var droppedFrames: Int { broadcaster.statistics.dropped }

  /// Called after a listener came or went, on its thread.
  func onListenersChanged(_ handler: @escaping @Sendable (ListenersChange) -> Void) {
    broadcaster.onListenersChanged { change in
      switch change {
      case .added: handler(.added)
      case .removed: handler(.removed)
      }
    }
  }

  func open(_ stream: StreamID) { open.store(stream.value, ordering: .releasing) }
  func close() { open.store(0, ordering: .releasing) }

  /// Hands a frame to the listeners' lanes; nothing happens when its stream is not the open one.
  func deliver(_ frame: VideoFrame, of stream: StreamID) {
    guard isOpen(stream) else { return }
    let number = lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    broadcaster.send(Delivery(frame: frame, stream: stream, number: number))
  }

  private func isOpen(_ stream: StreamID) -> Bool { open.load(ordering: .acquiring) == stream.value }

  func listen(_ listener: @escaping @Sendable (VideoFrame) -> Void) -> any AnyListenerToken {
    switch codec {
    case .raw:
      return broadcaster.listen { [weak self] delivery in
        guard self?.isOpen(delivery.stream) == true else { return }
        listener(delivery.frame)
      }
    case .hvc1:
      let gate = Mutex(CompressedListenerGate())
      return broadcaster.listen { [weak self] delivery in
        guard let self, isOpen(delivery.stream) else { return }
        let now = timekeeper.now
        let outcome = gate.withLock {
          $0.admit(delivery.number, of: delivery.stream, delivery.frame, at: now)
        }
        switch outcome {
        case .deliver(let isDiscontinuity):
          listener(isDiscontinuity ? delivery.frame.markedAsDiscontinuity() : delivery.frame)
        case .withhold(let isMissed, let asksForKeyframe):
          if isMissed { telemetry.count { $0.listeners += 1 } }
          if asksForKeyframe { requester.request(.lateListener) }
        }
      }
    }
  }
}

/// Keeps one listener of compressed units from units that it can't decode.
struct CompressedListenerGate: Sendable {
  enum Outcome: Hashable, Sendable {
    case deliver(isDiscontinuity: Bool)
    /// `isMissed` is false before the first sync unit: a listener that comes late misses nothing that was its own.
    case withhold(isMissed: Bool, asksForKeyframe: Bool)
  }

  private var gate = LossGate()
  private var hasBegun = false
  private var stream: StreamID?
  private var lastNumber: UInt32?

  mutating func admit(_ number: UInt32, of stream: StreamID, _ frame: VideoFrame, at now: Instant) -> Outcome {
    if self.stream != stream {
      // Each stream begins with a sync unit of its own.
      gate = LossGate()
      hasBegun = false
      self.stream = stream
      lastNumber = nil
    }
    let missed = lastNumber.map { Int(number &- $0 &- 1) } ?? 0
    lastNumber = number
    var flags: AccessUnit.Flags = frame.isSync ? [.sync, .parameterSets] : []
    if frame.isDiscontinuity { flags.insert(.discontinuity) }
    switch gate.admit(sequence: number, flags: flags, lostBefore: missed, at: now) {
    case .deliver(let discontinuity):
      hasBegun = true
      return .deliver(isDiscontinuity: discontinuity)
    case .withhold:
      return .withhold(isMissed: hasBegun, asksForKeyframe: gate.timeout(at: now))
    }
  }
}
