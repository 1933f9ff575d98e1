import LinkProtocol
import Units

/// What happens to links, one step after the other, as a value: for `glasswing relay --script`, scenarios and tests. What
/// the steps leave open, such as when a stall comes, the seed decides, so that a script is the same each time.
///
/// As text, each line is a time and a step; a time is from the begin, written like `0`, `1.5s`, `200ms` or `2m`, and none is
/// before the one above it. Blank lines, and what follows a `#`, say nothing.
///
/// ```
/// seed 7
/// 0s    preset wifi-busy
/// 5s    rate 600k              # both directions
/// 5s    rate 100k to-glasses   # or to-app
/// 8s    latency 20ms jitter 5ms
/// 8s    stalls every 2s lasting 50ms-300ms
/// 10s   hold                   # half-open: nothing comes, nothing ends
/// 15s   release                # what was held comes at once
/// 20s   cut                    # each connection breaks
/// 20s   refuse                 # and new ones, until
/// 25s   accept
/// 25s   hold-back 400ms        # the next connection, so that later ones overtake it
/// 60s   clear                  # no fault, and none of the conditions
/// ```
///
/// `rate none`, `stalls none` and `latency 0` take one condition back.
package struct LinkScript: Hashable, Sendable {
  package struct Step: Hashable, Sendable {
    /// From the begin.
    package var time: Duration
    package var action: Action

    package init(at time: Duration, _ action: Action) {
      self.time = time
      self.action = action
    }
  }

  package enum Action: Hashable, Sendable {
    case preset(LinkPreset)
    case rate(Bitrate?, Way)
    case latency(Duration, jitter: Duration, Way)
    case stalls(LinkCondition.Stalls?, Way)
    case hold(Way)
    case release(Way)
    case cut
    case refuse
    case accept
    case holdBack(Duration)
    case clear
  }

  /// One direction, or both.
  package enum Way: String, CaseIterable, Hashable, Sendable {
    case both
    case toApp = "to-app"
    case toGlasses = "to-glasses"

    package var directions: [LinkConditioner.Direction] {
      switch self {
      case .both: [.toApp, .toGlasses]
      case .toApp: [.toApp]
      case .toGlasses: [.toGlasses]
      }
    }
  }

  /// nil where whoever runs it chooses.
  package var seed: UInt64?
  /// In the order of their times.
  package private(set) var steps: [Step]

  /// Steps are put into the order of their times; equal times keep theirs.
  package init(seed: UInt64? = nil, _ steps: [Step] = []) {
    self.seed = seed
    self.steps = steps.enumerated().sorted { ($0.element.time, $0.offset) < ($1.element.time, $1.offset) }
      .map(\.element)
  }
}

extension LinkConditioner {
  /// Carries out one step of a script.
  package func apply(_ action: LinkScript.Action) {
    switch action {
    case .preset(let preset): apply(preset)
    case .rate(let rate, let way): for direction in way.directions { limit(rate, direction) }
    case .latency(let latency, let jitter, let way):
      for direction in way.directions { setLatency(latency, jitter: jitter, direction) }
    case .stalls(let stalls, let way): for direction in way.directions { setStalls(stalls, direction) }
    case .hold(let way): for direction in way.directions { hold(direction) }
    case .release(let way): for direction in way.directions { release(direction) }
    case .cut: cut()
    case .refuse: refuse(true)
    case .accept: refuse(false)
    case .holdBack(let delay): holdBackNext(by: delay)
    case .clear: clear()
    }
  }
}

/// Carries a script out on a conditioner. Ends when it is released or stopped; what was done to the links stays.
package final class LinkScriptRun: Sendable {
  private let lane: any Lane

  /// Begins now.
  ///
  /// - Parameter done: each step, right after it was carried out; on a lane of its own.
  package init(
    _ script: LinkScript, on conditioner: LinkConditioner, timekeeper: any Timekeeper,
    done: @escaping @Sendable (LinkScript.Step) -> Void = { _ in }
  ) {
    lane = timekeeper.makeLane("link script")
    let begin = timekeeper.now
    for step in script.steps {
      lane.run(at: begin + step.time) {
        conditioner.apply(step.action)
        done(step)
      }
    }
  }

  deinit { lane.end() }

  package func stop() { lane.end() }
}
