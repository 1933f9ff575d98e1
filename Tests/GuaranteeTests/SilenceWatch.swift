import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// One observer of a stream, on a clock moved by hand: what it heard and when, and how long it heard nothing while the
/// stream was said to be streaming.
final class SilenceWatch: Sendable {
  fileprivate struct State {
    var stream: StreamState
    var lastNews: Instant
    var longest: Duration = .zero
    var events: [WatchedStream.Event] = []
    var frames: [Instant] = []
  }

  private let clock: ManualTimekeeper
  private let state: Mutex<State>
  private let tokens = ListenerTokenBag()

  /// - Parameter watched: taken as streaming from now on if it is.
  init(_ watched: MWDATCamera.Stream, _ clock: ManualTimekeeper) {
    self.clock = clock
    state = Mutex(State(stream: watched.state, lastNews: clock.now))
    watched.statePublisher.listen { [weak self] new in self?.hear { $0.heard(new) } }.store(in: tokens)
    watched.errorPublisher.listen { [weak self] new in self?.hear { $0.events.append(.error(new)) } }.store(in: tokens)
    watched.videoFramePublisher.listen { [weak self, clock] _ in self?.hear { $0.frames.append(clock.now) } }
      .store(in: tokens)
  }

  private func hear(_ news: (inout State) -> Void) {
    let now = clock.now
    state.withLock { state in
      state.measure(until: now)
      state.lastNews = now
      news(&state)
    }
  }

  /// The longest time up to now in which it was told nothing while the last state it had heard was `.streaming`.
  var longestSilence: Duration {
    let now = clock.now
    return state.withLock { state in
      state.measure(until: now)
      return state.longest
    }
  }

  var events: [WatchedStream.Event] { state.withLock { $0.events } }
  var frames: [Instant] { state.withLock { $0.frames } }
  var last: StreamState { state.withLock { $0.stream } }

  var errors: [StreamError] { events.compactMap { if case .error(let error) = $0 { error } else { nil } } }
  var states: [StreamState] { events.compactMap { if case .state(let state) = $0 { state } else { nil } } }
}

extension SilenceWatch.State {
  fileprivate mutating func measure(until now: Instant) {
    if stream == .streaming { longest = max(longest, now - lastNews) }
  }

  fileprivate mutating func heard(_ new: StreamState) {
    stream = new
    events.append(.state(new))
  }
}

extension ManualTimekeeper {
  /// Goes on in small steps, as a process that does other things between; stops as soon as `isDone` says so.
  func walk(_ length: Duration, by step: Duration = .milliseconds(50), until isDone: () -> Bool = { false }) {
    let end = now + length
    while now < end, !isDone() { advance(by: min(step, end - now)) }
  }
}
