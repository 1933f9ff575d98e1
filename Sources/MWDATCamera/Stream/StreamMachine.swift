import LinkProtocol
import MWDATCore

/// What a stream does about what happens to it, as a value: an event goes in, actions in their order come out.
///
/// Rules
/// - Each start ends in exactly one `.stopping` followed by one `.stopped`.
/// - An error stands before the states that it explains, and an end that somebody asked for has none.
/// - `.streaming` is announced only for an access unit that has passed the loss gate.
/// - Sound has no phases of its own: that it is missing is a stall as well, and its failure the stream's.
/// - Every event that belongs to one attempt names it; what comes from an older attempt changes nothing.
/// - Each phase that waits for someone else holds the number of its deadline; a deadline of an earlier phase that
///   fires late has another number.
package struct StreamMachine: Sendable {
  package enum Phase: Hashable, Sendable {
    case stopped
    /// Device and permission are looked at (`isPermitted` false), or a paused session is waited out.
    case waitingForDevice(StreamID, isPermitted: Bool, DeadlineID)
    case starting(StreamID, DeadlineID)
    case streaming(StreamID)
    /// Units have stopped coming, without a reason given: `.starting` to the outside while the link answers, and
    /// `.waitingForDevice` while it doesn't.
    case stalled(StreamID, linkAnswers: Bool, DeadlineID, of: Medium = .pictures)
    /// The session rests.
    case paused(StreamID)
    /// The session goes on and the first unit after the rest is awaited; still `.paused` to the outside.
    case resuming(StreamID, DeadlineID)
    /// The glasses were told. `next` is the attempt that a start during this time asked for.
    case stopping(StreamID, next: StreamID?, DeadlineID)
    /// The stream failed, or its camera is gone: `.stopped` to the outside, for good.
    case invalidated
  }

  /// What a stream carries. Where both are missing it is the pictures that count.
  package enum Medium: Hashable, Sendable, CaseIterable { case pictures, sound }

  /// Numbers the deadlines of one stream.
  package struct DeadlineID: Hashable, Sendable {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
  }

  package enum Event: Equatable, Sendable {
    /// The app starts; the identity is fresh and belongs to this attempt.
    case start(StreamID)
    case stop
    /// The device is there, and what the stream uses is permitted.
    case permitted(StreamID)
    /// The device is missing or permission is denied.
    case refused(StreamID, StreamError)
    /// An access unit has passed the loss gate; in a stall: everything that was missing has come again.
    case unitPassed(StreamID)
    /// None has passed for too long, or no sound has come; comes again when it is known anew whether the link answers.
    /// The recovery that it begins may take `allowance` at most (nil: `Limits.recovery`); with none left the attempt ends.
    case unitsMissing(StreamID, of: Medium = .pictures, linkAnswers: Bool, allowance: Duration? = nil)
    /// This side can't go on with this attempt, or the glasses reported a failure of it.
    case failed(StreamID, StreamError)
    /// The glasses say that the stream has ended: as asked, or by this error.
    case glassesStopped(StreamID, StreamError?)
    case linkLost(StreamError)
    case sessionPaused
    case sessionResumed
    case deadline(DeadlineID)
    /// The camera stops or the session ends.
    case parentEnded
  }

  package enum Action: Equatable, Sendable {
    case announce(StreamState)
    case report(StreamError)
    /// Announce that a call can't be served; what ended the stream stays what ended it.
    case refuse(StreamError)
    /// Look whether the device is there and permission is granted; answer with `permitted` or `refused`.
    case check(StreamID)
    /// Take units of this attempt and ask the glasses for them.
    case open(StreamID)
    /// Send `unitsMissing` when no unit passes for `stall`, until the stream leaves `.streaming` and `stalled`.
    case watch
    /// Ask the glasses for a sync unit, which gets a source or a gate going that waits for one.
    case askForKeyframe
    /// Let no unit pass until `resume`.
    case hold
    /// Let units pass again, from a sync unit on.
    case resume
    /// Take no more units; tell the glasses when they were asked for some.
    case close(StreamID, tellsGlasses: Bool)
    /// Send `deadline` with this number after so long; replaces the deadline before.
    case setDeadline(DeadlineID, Duration)
    case clearDeadline
    /// The stream failed for good: its camera stops.
    case endCamera
  }

  package struct Limits: Hashable, Sendable {
    /// From the first look for the device to the request for pictures.
    package var connect: Duration = .seconds(30)
    /// From the request for pictures to the first one.
    package var start: Duration = .seconds(10)
    /// From the order to stop to the answer of the glasses.
    package var stop: Duration = .milliseconds(1500)
    /// Between two units before they count as missing; three frame intervals where that is more. Between two of sound too.
    package var stall: Duration = .seconds(1)
    /// From then to the next unit.
    package var recovery: Duration = .seconds(10)
    /// What all recoveries of one attempt may take.
    package var budget = RecoveryBudget.Limits()
    package init() {}
  }

  package private(set) var phase: Phase
  package private(set) var isSessionPaused: Bool
  package let limits: Limits
  private let device: DeviceIdentifier
  private var lastDeadline: UInt64 = 0

  package init(
    device: DeviceIdentifier, limits: Limits = Limits(), phase: Phase = .stopped, isSessionPaused: Bool = false
  ) {
    self.device = device
    self.limits = limits
    self.phase = phase
    self.isSessionPaused = isSessionPaused
  }

  package var state: StreamState {
    switch phase {
    case .stopped, .invalidated: .stopped
    case .waitingForDevice: .waitingForDevice
    case .starting: .starting
    case .streaming: .streaming
    case .stalled(_, let linkAnswers, _, _): linkAnswers ? .starting : .waitingForDevice
    case .paused, .resuming: .paused
    case .stopping: .stopping
    }
  }

  /// The attempt under way; nil at rest.
  package var currentAttempt: StreamID? {
    switch phase {
    case .waitingForDevice(let attempt, _, _), .starting(let attempt, _), .streaming(let attempt),
      .stalled(let attempt, _, _, _), .paused(let attempt), .resuming(let attempt, _), .stopping(let attempt, _, _):
      attempt
    case .stopped, .invalidated:
      nil
    }
  }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .start(let attempt): start(attempt)
    case .stop: stop()
    case .permitted(let attempt): permitted(attempt)
    case .refused(let attempt, let error), .failed(let attempt, let error): failed(attempt, error)
    case .unitPassed(let attempt): unitPassed(attempt)
    case .unitsMissing(let attempt, let medium, let linkAnswers, let allowance):
      unitsMissing(attempt, medium, linkAnswers: linkAnswers, allowance: allowance)
    case .glassesStopped(let attempt, let error): glassesStopped(attempt, error)
    case .linkLost(let error): linkLost(error)
    case .sessionPaused: sessionPaused()
    case .sessionResumed: sessionResumed()
    case .deadline(let id): deadline(id)
    case .parentEnded: parentEnded()
    }
  }
}

// MARK: - One method an event

extension StreamMachine {
  private mutating func start(_ attempt: StreamID) -> [Action] {
    switch phase {
    case .stopped:
      return begin(attempt)
    case .stopping(let old, _, let id):
      phase = .stopping(old, next: attempt, id)
      return []
    case .waitingForDevice, .starting, .streaming, .stalled, .paused, .resuming:
      return []
    case .invalidated:
      return [.refuse(.internalError)]
    }
  }

  private mutating func begin(_ attempt: StreamID) -> [Action] {
    let id = nextDeadline()
    phase = .waitingForDevice(attempt, isPermitted: false, id)
    return [.announce(.waitingForDevice), .setDeadline(id, limits.connect), .check(attempt)]
  }

  private mutating func permitted(_ attempt: StreamID) -> [Action] {
    switch phase {
    case .waitingForDevice(attempt, isPermitted: false, let id):
      guard isSessionPaused else { return askForPictures(attempt) }
      phase = .waitingForDevice(attempt, isPermitted: true, id)
      return []
    case .waitingForDevice, .stopped, .starting, .streaming, .stalled, .paused, .resuming, .stopping, .invalidated:
      return []
    }
  }

  private mutating func askForPictures(_ attempt: StreamID) -> [Action] {
    let id = nextDeadline()
    phase = .starting(attempt, id)
    return [.announce(.starting), .setDeadline(id, limits.start), .open(attempt)]
  }

  private mutating func unitPassed(_ attempt: StreamID) -> [Action] {
    switch phase {
    case .starting(attempt, _), .resuming(attempt, _), .stalled(attempt, _, _, _):
      phase = .streaming(attempt)
      return [.clearDeadline, .announce(.streaming), .watch]
    case .starting, .resuming, .stalled, .streaming, .paused, .stopped, .waitingForDevice, .stopping, .invalidated:
      return []
    }
  }

  private mutating func unitsMissing(
    _ attempt: StreamID, _ medium: Medium, linkAnswers: Bool, allowance: Duration?
  ) -> [Action] {
    let news: StreamState = linkAnswers ? .starting : .waitingForDevice
    // No keyframe brings sound back.
    let wish: [Action] = medium == .pictures ? [.askForKeyframe] : []
    switch phase {
    case .streaming(attempt):
      let length = min(limits.recovery, allowance ?? limits.recovery)
      guard length > .zero else { return end(attempt, missingError(medium, linkAnswers), tellsGlasses: true) }
      let id = nextDeadline()
      phase = .stalled(attempt, linkAnswers: linkAnswers, id, of: medium)
      return [.announce(news), .setDeadline(id, length)] + wish
    case .stalled(attempt, !linkAnswers, let id, _):
      phase = .stalled(attempt, linkAnswers: linkAnswers, id, of: medium)
      return [.announce(news)] + wish
    case .stalled(attempt, _, let id, let before) where before != medium:
      phase = .stalled(attempt, linkAnswers: linkAnswers, id, of: medium)
      return wish
    case .streaming, .stalled, .starting, .resuming, .paused, .stopped, .waitingForDevice, .stopping, .invalidated:
      return []
    }
  }

  /// What it is to the app that something doesn't come again.
  private func missingError(_ medium: Medium, _ linkAnswers: Bool) -> StreamError {
    switch medium {
    case _ where !linkAnswers: .deviceNotConnected(device)
    case .pictures: .timeout
    case .sound: .audioStreamingError
    }
  }

  private mutating func stop() -> [Action] {
    switch phase {
    case .waitingForDevice(let attempt, _, _):
      phase = .stopped
      return [.clearDeadline, .announce(.stopping), .close(attempt, tellsGlasses: false), .announce(.stopped)]
    case .starting(let attempt, _), .streaming(let attempt), .stalled(let attempt, _, _, _), .paused(let attempt),
      .resuming(let attempt, _):
      let id = nextDeadline()
      phase = .stopping(attempt, next: nil, id)
      return [.announce(.stopping), .setDeadline(id, limits.stop), .close(attempt, tellsGlasses: true)]
    case .stopping(let attempt, _, let id):
      phase = .stopping(attempt, next: nil, id)
      return []
    case .stopped, .invalidated:
      return []
    }
  }

  /// The glasses have stopped, or were given time enough.
  private mutating func stopped(next: StreamID?) -> [Action] {
    phase = .stopped
    let actions: [Action] = [.clearDeadline, .announce(.stopped)]
    guard let next else { return actions }
    return actions + begin(next)
  }

  private mutating func glassesStopped(_ attempt: StreamID, _ error: StreamError?) -> [Action] {
    switch phase {
    case .stopping(attempt, let next, _):
      return stopped(next: next)
    case .starting(attempt, _), .streaming(attempt), .stalled(attempt, _, _, _), .paused(attempt),
      .resuming(attempt, _):
      // Without an error nobody here asked for it, and the glasses give no reason.
      return end(attempt, error ?? .internalError, tellsGlasses: false)
    case .stopping, .starting, .streaming, .stalled, .paused, .resuming, .stopped, .waitingForDevice, .invalidated:
      return []
    }
  }

  private mutating func failed(_ attempt: StreamID, _ error: StreamError) -> [Action] {
    switch phase {
    case .waitingForDevice(attempt, _, _):
      return end(attempt, error, tellsGlasses: false)
    case .starting(attempt, _), .streaming(attempt), .stalled(attempt, _, _, _), .paused(attempt),
      .resuming(attempt, _):
      return end(attempt, error, tellsGlasses: true)
    case .stopping(attempt, let next, _):
      // An end was asked for; how it came about no longer matters.
      return stopped(next: next)
    case .waitingForDevice, .starting, .streaming, .stalled, .paused, .resuming, .stopping, .stopped, .invalidated:
      return []
    }
  }

  private mutating func linkLost(_ error: StreamError) -> [Action] {
    switch phase {
    case .waitingForDevice(let attempt, _, _), .starting(let attempt, _), .streaming(let attempt),
      .stalled(let attempt, _, _, _), .paused(let attempt), .resuming(let attempt, _):
      return end(attempt, error, tellsGlasses: false)
    case .stopping(_, let next, _):
      return stopped(next: next)
    case .stopped, .invalidated:
      return []
    }
  }

  /// Ends an attempt, and the camera with it, by the error that explains it. Nothing is waited for: glasses that
  /// failed may never answer. The camera is gone before `.stopped` is heard, so that a listener can add a new one.
  private mutating func end(_ attempt: StreamID, _ error: StreamError, tellsGlasses: Bool) -> [Action] {
    phase = .invalidated
    return [
      .clearDeadline, .report(error), .announce(.stopping), .close(attempt, tellsGlasses: tellsGlasses), .endCamera,
      .announce(.stopped),
    ]
  }

  private mutating func sessionPaused() -> [Action] {
    isSessionPaused = true
    switch phase {
    case .starting(let attempt, _), .streaming(let attempt), .stalled(let attempt, _, _, _):
      phase = .paused(attempt)
      return [.clearDeadline, .hold, .announce(.paused)]
    case .resuming(let attempt, _):
      phase = .paused(attempt)
      return [.clearDeadline, .hold]
    case .paused, .waitingForDevice, .stopping, .stopped, .invalidated:
      return []
    }
  }

  private mutating func sessionResumed() -> [Action] {
    isSessionPaused = false
    switch phase {
    case .paused(let attempt):
      let id = nextDeadline()
      phase = .resuming(attempt, id)
      return [.setDeadline(id, limits.start), .resume]
    case .waitingForDevice(let attempt, isPermitted: true, _):
      return askForPictures(attempt)
    case .waitingForDevice, .starting, .streaming, .stalled, .resuming, .stopping, .stopped, .invalidated:
      return []
    }
  }

  private mutating func deadline(_ id: DeadlineID) -> [Action] {
    switch phase {
    case .waitingForDevice(let attempt, _, id):
      return end(attempt, .deviceNotConnected(device), tellsGlasses: false)
    case .starting(let attempt, id), .resuming(let attempt, id):
      return end(attempt, .timeout, tellsGlasses: true)
    case .stalled(let attempt, let linkAnswers, id, let medium):
      return end(attempt, missingError(medium, linkAnswers), tellsGlasses: true)
    case .stopping(_, let next, id):
      return stopped(next: next)
    case .waitingForDevice, .starting, .resuming, .stopping, .streaming, .stalled, .paused, .stopped, .invalidated:
      return []
    }
  }

  /// Nothing is waited for: the parent is on its way out, and glasses serve their messages in order.
  private mutating func parentEnded() -> [Action] {
    let before = phase
    phase = .invalidated
    switch before {
    case .waitingForDevice(let attempt, _, _):
      return [.clearDeadline, .announce(.stopping), .close(attempt, tellsGlasses: false), .announce(.stopped)]
    case .starting(let attempt, _), .streaming(let attempt), .stalled(let attempt, _, _, _), .paused(let attempt),
      .resuming(let attempt, _):
      return [.clearDeadline, .announce(.stopping), .close(attempt, tellsGlasses: true), .announce(.stopped)]
    case .stopping:
      return [.clearDeadline, .announce(.stopped)]
    case .stopped, .invalidated:
      return []
    }
  }

  private mutating func nextDeadline() -> DeadlineID {
    lastDeadline &+= 1
    return DeadlineID(lastDeadline)
  }
}
