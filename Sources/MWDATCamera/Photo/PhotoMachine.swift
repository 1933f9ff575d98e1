import LinkProtocol

/// The lifecycle of standalone photos, as a value: an event goes in, actions in their order come out.
///
/// Being started costs the glasses nothing, so what startup waits for is the look at device and permission alone, and
/// what stops does so at once.
package struct PhotoMachine: Sendable {
  package enum Phase: Hashable, Sendable {
    case stopped
    /// Device and permission are looked at. A stop in this time is kept until that has resolved.
    case starting(Attempt, isStopWanted: Bool)
    case started(Attempt)
    /// The camera is gone: `.stopped` to the outside, for good.
    case invalidated
  }

  /// Numbers the starts of one object, so that an answer that comes late is known as such.
  package struct Attempt: Hashable, Sendable {
    package let value: UInt64
    package init(_ value: UInt64) { self.value = value }
  }

  /// Why a start came to nothing.
  package enum SetupFailure: Error, Hashable, Sendable {
    case permissionDenied
    /// The session has no link to glasses, or lost it.
    case notConnected
    /// Nobody could say whether permission is granted; the text says why.
    case permissionUnknown(String)
    /// Nobody said so in time.
    case timedOut
    /// The camera was stopped before.
    case cameraStopped
  }

  package enum Event: Hashable, Sendable {
    case start
    case stop
    case permitted(Attempt)
    case refused(Attempt, SetupFailure)
    case deadline(Attempt)
    case linkLost
    case parentEnded
  }

  package enum Action: Hashable, Sendable {
    case announce(PhotoState)
    case report(SetupFailure)
    /// Look at device and permission; answer with `permitted`, `refused`, or after `checkLimit` with `deadline`.
    case check(Attempt)
    /// End the capture in flight, if any: what it brings is not wanted any more.
    case cancelCapture
  }

  /// From a start to the answer about permission.
  package static let checkLimit: Duration = .seconds(30)

  package private(set) var phase: Phase
  private var lastAttempt: UInt64 = 0

  package init(phase: Phase = .stopped) { self.phase = phase }

  package var isStarted: Bool {
    switch phase {
    case .started: true
    case .stopped, .starting, .invalidated: false
    }
  }

  package mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .start: start()
    case .stop: stop()
    case .permitted(let attempt): permitted(attempt)
    case .refused(let attempt, let failure): refused(attempt, failure)
    case .deadline(let attempt): refused(attempt, .timedOut)
    case .linkLost: linkLost()
    case .parentEnded: parentEnded()
    }
  }

  private mutating func start() -> [Action] {
    switch phase {
    case .stopped:
      lastAttempt &+= 1
      let attempt = Attempt(lastAttempt)
      phase = .starting(attempt, isStopWanted: false)
      return [.announce(.starting), .check(attempt)]
    case .starting(let attempt, _):
      phase = .starting(attempt, isStopWanted: false)
      return []
    case .started:
      return []
    case .invalidated:
      return [.report(.cameraStopped)]
    }
  }

  private mutating func stop() -> [Action] {
    switch phase {
    case .starting(let attempt, _):
      phase = .starting(attempt, isStopWanted: true)
      return []
    case .started:
      phase = .stopped
      return [.cancelCapture, .announce(.stopping), .announce(.stopped)]
    case .stopped, .invalidated:
      return []
    }
  }

  private mutating func permitted(_ attempt: Attempt) -> [Action] {
    switch phase {
    case .starting(attempt, isStopWanted: false):
      phase = .started(attempt)
      return [.announce(.started)]
    case .starting(attempt, isStopWanted: true):
      phase = .stopped
      return [.announce(.stopping), .announce(.stopped)]
    case .starting, .started, .stopped, .invalidated:
      return []
    }
  }

  private mutating func refused(_ attempt: Attempt, _ failure: SetupFailure) -> [Action] {
    switch phase {
    case .starting(attempt, let isStopWanted):
      phase = .stopped
      // An end that was asked for needs no reason.
      return (isStopWanted ? [] : [.report(failure)]) + [.announce(.stopping), .announce(.stopped)]
    case .starting, .started, .stopped, .invalidated:
      return []
    }
  }

  private mutating func linkLost() -> [Action] {
    switch phase {
    case .starting(let attempt, _):
      return refused(attempt, .notConnected)
    case .started, .stopped, .invalidated:
      // The capture in flight, if any, has failed for itself; the session's end follows.
      return []
    }
  }

  private mutating func parentEnded() -> [Action] {
    let before = phase
    phase = .invalidated
    switch before {
    case .starting:
      return [.announce(.stopping), .announce(.stopped)]
    case .started:
      return [.cancelCapture, .announce(.stopping), .announce(.stopped)]
    case .stopped, .invalidated:
      return []
    }
  }
}
