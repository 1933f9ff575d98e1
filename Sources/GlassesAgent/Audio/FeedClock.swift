import Synchronization
import Units

/// What the camera's feed showed when: maps the host's time to the feed's own.
///
/// The producer of the pictures moves it, whoever plays the feed's sound reads it; so picture and sound of a feed can't
/// part, whatever the producer does: begin a loop anew, jump to a key picture, fall behind a slow file, or open another
/// feed. Written ahead of the time that it is read for: a producer knows the end of a round before it comes.
///
/// Any thread; nothing here waits for long. Times that are asked for reach back `memory` at most.
package final class FeedClock: Sendable {
  /// From a moment on the feed's time runs on from `time`, until the next stretch begins.
  package struct Stretch: Hashable, Sendable {
    package var from: Instant
    /// Nil while no feed is open.
    package var feed: FeedDescription?
    /// The feed's own time at `from`: a film's since its first picture, the pattern's since it was opened.
    package var time: Duration
    /// When the feed begins anew, in its own time; nil where it has no end or none is known yet.
    var cycle: Duration?
  }

  /// How far back it can be asked.
  static let memory: Duration = .seconds(3)
  /// Stretches that are remembered, however fast a producer jumps.
  private static let limit = 512
  /// A shorter round than that of any film with sound is not followed to its end.
  private static let shortestCycle: Duration = .milliseconds(10)

  /// An opening of a feed: what a producer that has been replaced still says is not heard.
  package struct Opening: Hashable, Sendable {
    fileprivate let number: Int
  }

  private struct State {
    var stretches: [Stretch] = []
    var openings = 0
    var begun: Instant?
    var waiting: [@Sendable (Instant) -> Void] = []
  }

  private let state = Mutex(State())

  package init() {}

  // MARK: - By the pictures' producer

  /// A feed was opened: at `moment` it shows its beginning.
  package func begin(_ feed: FeedDescription, at moment: Instant) -> Opening {
    let (waiting, opening) = state.withLock { state in
      Self.append(Stretch(from: moment, feed: feed, time: .zero), to: &state)
      defer { state.waiting = [] }
      if state.begun == nil { state.begun = moment }
      state.openings += 1
      return (state.waiting, Opening(number: state.openings))
    }
    for work in waiting { work(moment) }
    return opening
  }

  /// At `moment` the feed shows what it has at `time`. Most such news is none, and changes nothing.
  ///
  /// - Parameter cycle: when the feed begins anew, in its own time, where that is known by now.
  package func move(_ opening: Opening, to time: Duration, at moment: Instant, cycle: Duration?) {
    state.withLock { state in
      guard opening.number == state.openings, var last = state.stretches.last, let feed = last.feed else { return }
      let known = cycle.map { max($0, Self.shortestCycle) }
      guard last.time(at: moment, cycle: known ?? last.cycle) != time else {
        last.cycle = known ?? last.cycle
        state.stretches[state.stretches.count - 1] = last
        return
      }
      Self.append(Stretch(from: moment, feed: feed, time: time, cycle: known), to: &state)
    }
  }

  /// From `moment` on no feed is open, until the next `begin`.
  package func end(at moment: Instant) {
    state.withLock { state in
      state.openings += 1
      guard state.stretches.last?.feed != nil else { return }
      Self.append(Stretch(from: moment, feed: nil, time: .zero), to: &state)
    }
  }

  // MARK: - By the sound

  /// Calls back when the first feed begins, with the moment; at once when it has. Once.
  package func whenBegun(_ work: @escaping @Sendable (Instant) -> Void) {
    let begun = state.withLock { state in
      if state.begun == nil { state.waiting.append(work) }
      return state.begun
    }
    if let begun { work(begun) }
  }

  /// What was shown from `start` up to `end`: in order, without gaps, the first at `start`; each plays on without a
  /// jump up to the next. Nothing for an empty time.
  package func stretches(from start: Instant, to end: Instant) -> [Stretch] {
    guard start < end else { return [] }
    let known = state.withLock { state in
      let first = state.stretches.lastIndex { $0.from <= start } ?? 0
      return state.stretches[min(first, state.stretches.count)...].prefix { $0.from < end }
    }
    var result: [Stretch] = []
    var time = start
    if let first = known.first, first.from > start {
      result.append(Stretch(from: start, feed: nil, time: .zero))
      time = first.from
    } else if known.isEmpty {
      return [Stretch(from: start, feed: nil, time: .zero)]
    }
    for (index, stretch) in zip(known.indices, known) {
      let next = known.index(after: index)
      let last = next < known.endIndex ? known[next].from : end
      while time < last {
        var piece = stretch
        piece.from = time
        piece.time = stretch.time(at: time, cycle: stretch.cycle)
        result.append(piece)
        guard stretch.feed != nil, let cycle = stretch.cycle else {
          time = last
          continue
        }
        time = min(last, time + max(cycle - piece.time, .nanoseconds(1)))
      }
    }
    return result
  }

  private static func append(_ stretch: Stretch, to state: inout State) {
    // What was to be later is not any more.
    state.stretches.removeAll { $0.from >= stretch.from }
    state.stretches.append(stretch)
    let oldest = stretch.from - memory
    while state.stretches.count > 1, state.stretches[1].from < oldest || state.stretches.count > limit {
      state.stretches.removeFirst()
    }
  }
}

extension FeedClock.Stretch {
  /// The feed's own time at a moment of the stretch.
  fileprivate func time(at moment: Instant, cycle: Duration?) -> Duration {
    let passed = time + (moment - from)
    guard let cycle, passed >= cycle else { return passed }
    return .nanoseconds(passed.nanoseconds % max(cycle.nanoseconds, 1))
  }
}
