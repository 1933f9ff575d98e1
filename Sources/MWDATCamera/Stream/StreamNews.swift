import LinkProtocol
import Units

/// What there is to tell of a step of a stream's machine, besides states and errors, as a value. It is told before the
/// state that it explains.
struct StreamNews: Sendable {
  typealias Phase = StreamMachine.Phase
  typealias Kind = StreamTelemetryEvent.Kind

  /// When the last picture or sound before the stall that was told of came, and when the link fell silent in it.
  private var stalledSince: Instant?
  private var silentSince: Instant?

  /// - Parameters:
  ///   - missingSince: of an event that says that something is missing: when the last of it came.
  ///   - deadline: until when the step after it waits, if it does.
  mutating func tell(
    of event: StreamMachine.Event, from before: Phase, to after: Phase, missingSince: Instant, deadline: Instant?,
    at now: Instant
  ) -> [Kind] {
    guard before != after else { return [] }
    var kinds: [Kind] = []
    // A spent budget ends the stream without a stalled phase; the stall is one all the same.
    if case .unitsMissing(_, let medium, _, _) = event, case .streaming = before {
      stalledSince = missingSince
      kinds.append(.stallBegan(since: missingSince, of: medium, until: deadline))
    }
    if let since = silentSince, after.waitReason != .silentLink {
      silentSince = nil
      if after.isUnderWay { kinds.append(.reconnected(after: now - since)) }
    }
    if let reason = after.waitReason, reason != before.waitReason {
      if reason == .silentLink {
        silentSince = now
        kinds.append(.reconnecting(until: deadline))
      }
      kinds.append(.waiting(reason, until: deadline))
    }
    if let since = stalledSince, !after.isStalled {
      stalledSince = nil
      kinds.append(.stallEnded(since: since, length: now - since))
    }
    return kinds
  }
}

extension StreamMachine.Phase {
  /// Nil outside `.waitingForDevice`.
  var waitReason: StreamTelemetryEvent.WaitReason? {
    switch self {
    case .waitingForDevice(_, isPermitted: false, _): .permission
    case .waitingForDevice(_, isPermitted: true, _): .pausedSession
    case .stalled(_, linkAnswers: false, _, _): .silentLink
    case .stalled, .starting, .streaming, .paused, .resuming, .stopping, .stopped, .invalidated: nil
    }
  }

  /// Pictures came already: what counts is what listeners get.
  var wantsFrames: Bool {
    switch self {
    case .streaming, .stalled: true
    case .waitingForDevice, .starting, .paused, .resuming, .stopping, .stopped, .invalidated: false
    }
  }

  fileprivate var isStalled: Bool {
    switch self {
    case .stalled: true
    case .waitingForDevice, .starting, .streaming, .paused, .resuming, .stopping, .stopped, .invalidated: false
    }
  }

  /// Pictures come or are waited for.
  fileprivate var isUnderWay: Bool {
    switch self {
    case .starting, .streaming, .stalled: true
    case .waitingForDevice, .paused, .resuming, .stopping, .stopped, .invalidated: false
    }
  }
}
