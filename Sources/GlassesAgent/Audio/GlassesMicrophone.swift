import LinkProtocol
import MediaEngine
import Synchronization
import Units

/// What the microphone of a pair of glasses hears.
///
/// Every member may be called from any thread and none waits for work. A source that is set is heard from the beginning of
/// the 20 ms that are being captured, also in a stream that runs.
package final class GlassesMicrophone: Sendable {
  private struct State {
    var source = MicrophoneSource.feed
    /// Rises with each source that is set, also with the same one: it begins anew.
    var setting = 0
    var mutes = MuteLog()
    var injections = Injections()
    var clockSkew = 0.0
    var failureObserver: (@Sendable (String) -> Void)?
  }

  /// What holds for a stretch of time.
  struct Conditions: Sendable {
    var source: MicrophoneSource
    var setting: Int
    var clockSkew: Double
    /// Times of silence by the user's wish, within the stretch.
    var muted: [Range<Instant>]
    var injected: [Injections.Piece]
  }

  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let state = Mutex(State())

  /// - Parameter lane: where a failure is told.
  init(timekeeper: any Timekeeper, lane: any Lane) {
    self.timekeeper = timekeeper
    self.lane = lane
  }

  package var source: MicrophoneSource { state.withLock { $0.source } }

  /// Hears something else from now on. A file or a tone begins at its beginning, also when it is set again.
  package func setSource(_ source: MicrophoneSource) {
    state.withLock { state in
      state.source = source
      state.setting &+= 1
    }
  }

  /// Hears these samples at that time, the first at the sample whose time is nearest, in place of the source; of several
  /// for the same time the one that came last. Without a stream with sound at that time nobody hears them.
  ///
  /// - Throws: `tooLate` for a time that has passed already, `tooMuchPending` when more would wait than may.
  package func inject(_ block: PCMBlock, at moment: Instant) throws(InjectionError) {
    // The time is taken with the lock held: what has been captured by then, was so before.
    try state.withLock { (state) throws(InjectionError) in
      try state.injections.add(block, at: moment, now: timekeeper.now)
    }
  }

  /// Injected sound that is still to come.
  package var pendingInjections: Duration { state.withLock { $0.injections.pending(at: timekeeper.now) } }

  package var isMuted: Bool { state.withLock { $0.mutes.isMuted } }

  /// Gives silence in place of all else, to the sample. Time runs on.
  package func setMuted(_ isMuted: Bool) {
    state.withLock { $0.mutes.set(isMuted, at: timekeeper.now) }
  }

  /// Fails now: a stream with sound ends. A stream that begins later has sound again.
  ///
  /// - Parameter text: what is wrong, in words.
  package func fail(_ text: String) {
    state.withLock { state in
      guard let observer = state.failureObserver else { return }
      lane.run { observer(text) }
    }
  }

  /// How much faster than its rate says samples come, in millionths, measured by the glasses' own clock; 0 unless a test
  /// wants a clock that drifts.
  package var clockSkew: Double {
    get { state.withLock { $0.clockSkew } }
    set { state.withLock { $0.clockSkew = newValue.isFinite ? min(max(newValue, -10_000), 10_000) : 0 } }
  }

  func observeFailure(_ observer: @escaping @Sendable (String) -> Void) {
    state.withLock { $0.failureObserver = observer }
  }

  /// What holds for samples that are captured between two moments.
  func conditions(from start: Instant, to end: Instant) -> Conditions {
    state.withLock { state in
      Conditions(
        source: state.source, setting: state.setting, clockSkew: state.clockSkew,
        muted: state.mutes.muted(from: start, to: end), injected: state.injections.pieces(from: start, to: end))
    }
  }
}

/// When it was muted.
struct MuteLog: Sendable {
  /// Times that are remembered; of more the oldest are joined, what lies between them included.
  private static let limit = 32

  private var spans: [Range<Instant>] = []

  var isMuted: Bool { spans.last?.upperBound == .distantFuture }

  mutating func set(_ isMuted: Bool, at now: Instant) {
    guard isMuted != self.isMuted else { return }
    if isMuted {
      spans.append(now..<Instant.distantFuture)
      if spans.count > Self.limit {
        let oldest = spans.removeFirst()
        spans[0] = oldest.lowerBound..<spans[0].upperBound
      }
    } else if let last = spans.popLast() {
      spans.append(last.lowerBound..<max(last.lowerBound, now))
    }
  }

  func muted(from start: Instant, to end: Instant) -> [Range<Instant>] {
    guard !spans.isEmpty else { return [] }
    return spans.filter { $0.lowerBound < end && $0.upperBound > start }
  }
}
