import LinkProtocol

/// A session's life as a value: an event goes in, what to do comes out, in the order in which it is to be done.
///
/// States go idle, starting, started, paused and started again at will, stopping, stopped. Whatever ends a session,
/// the error that explains it comes before `.stopping`, capabilities end between `.stopping` and `.stopped`, and
/// `.stopped` comes once, last. Only a session that was never started goes from idle to stopped directly.
struct SessionMachine: Hashable, Sendable {
  enum Phase: Hashable, Sendable {
    case idle
    /// `start()` looks for the device and makes the link; idle to the outside.
    case preparing
    /// The link opens.
    case connecting
    /// The glasses were asked for the session.
    case opening
    case started
    case paused(SessionPaused.Reason)
    /// Capabilities are being ended; then the farewell.
    case ending(Farewell)
    /// The glasses were asked to close the session.
    case closing
    case stopped
  }

  /// What is left to do with the glasses once the capabilities have ended.
  enum Farewell: Hashable, Sendable {
    /// Close the session, await the answer, leave.
    case close
    /// There is no session at the glasses, or no time: leave.
    case leave
    /// The link is gone.
    case nothing
  }

  enum Event: Hashable, Sendable {
    case linkMade
    case linkRefused
    case stopRequested
    case linkOpened
    case opened
    case paused(SessionPaused.Reason)
    case resumed
    case closed(SessionClosed.Reason, retryAfter: Duration? = nil, text: String)
    case failed(LinkErrorCode, text: String)
    case linkClosed(LinkClose)
    case startDeadline
    case closeDeadline
    case capabilitiesEnded
  }

  enum Action: Equatable, Sendable {
    case announce(DeviceSessionState)
    case announceFailure(SessionFailure)
    case awaitStart
    case awaitClose
    case sendOpen
    case sendClose
    case pauseCapabilities(SessionPaused.Reason)
    case resumeCapabilities
    /// Answered by `capabilitiesEnded`.
    case endCapabilities
    case leaveLink
    /// Listeners and streams have had everything.
    case finish
  }

  enum StartVerdict: Hashable, Sendable {
    /// Find the device, make the link, then tell `linkMade` or `linkRefused`.
    case prepare
    case underway
    case refused
  }

  private(set) var phase: Phase = .idle

  /// The state that the outside sees.
  var state: DeviceSessionState {
    switch phase {
    case .idle, .preparing: .idle
    case .connecting, .opening: .starting
    case .started: .started
    case .paused: .paused
    case .ending, .closing: .stopping
    case .stopped: .stopped
    }
  }

  /// Why the glasses hold the session; nil while they don't.
  var pauseReason: SessionPaused.Reason? {
    switch phase {
    case .paused(let reason): reason
    case .idle, .preparing, .connecting, .opening, .started, .ending, .closing, .stopped: nil
    }
  }

  /// The app wants to start.
  mutating func start() -> StartVerdict {
    switch phase {
    case .idle:
      phase = .preparing
      return .prepare
    case .preparing, .connecting, .opening, .started, .paused: return .underway
    case .ending, .closing, .stopped: return .refused
    }
  }

  mutating func handle(_ event: Event) -> [Action] {
    switch event {
    case .linkMade: linkMade()
    case .linkRefused: linkRefused()
    case .stopRequested: stop()
    case .linkOpened: linkOpened()
    case .opened: opened()
    case .paused(let reason): paused(reason)
    case .resumed: resumed()
    case .closed(let reason, let retryAfter, let text): closed(reason, retryAfter, text)
    case .failed(let code, let text): failed(.failed(code, text: text))
    case .startDeadline: startDeadline()
    case .linkClosed(let close): linkClosed(close)
    case .closeDeadline: closeDeadline()
    case .capabilitiesEnded: capabilitiesEnded()
    }
  }

  // MARK: Beginning

  private mutating func linkMade() -> [Action] {
    switch phase {
    case .preparing:
      phase = .connecting
      return [.announce(.starting), .awaitStart]
    // Stopped while the link was made: who made it sees that by the phase and closes it.
    case .stopped: return []
    // Only `start()` makes links, and only in `preparing`.
    case .idle, .connecting, .opening, .started, .paused, .ending, .closing: return []
    }
  }

  private mutating func linkRefused() -> [Action] {
    switch phase {
    case .preparing:
      phase = .idle
      return []
    // As above.
    case .idle, .connecting, .opening, .started, .paused, .ending, .closing, .stopped: return []
    }
  }

  private mutating func linkOpened() -> [Action] {
    switch phase {
    case .connecting:
      phase = .opening
      return [.sendOpen]
    // The link opens once, and nothing is asked on it once the session ends.
    case .idle, .preparing, .opening, .started, .paused, .ending, .closing, .stopped: return []
    }
  }

  private mutating func opened() -> [Action] {
    switch phase {
    case .opening:
      phase = .started
      return [.announce(.started)]
    // Not asked for, said twice, or crossed by our close, which the glasses answer next.
    case .idle, .preparing, .connecting, .started, .paused, .ending, .closing, .stopped: return []
    }
  }

  private mutating func startDeadline() -> [Action] {
    switch phase {
    case .connecting, .opening: return failed(.noAnswer)
    // In time.
    case .idle, .preparing, .started, .paused, .ending, .closing, .stopped: return []
    }
  }

  // MARK: Pausing, which only the glasses do

  private mutating func paused(_ reason: SessionPaused.Reason) -> [Action] {
    switch phase {
    case .started:
      phase = .paused(reason)
      return [.announce(.paused), .pauseCapabilities(reason)]
    // Said twice, too early, or too late to matter.
    case .idle, .preparing, .connecting, .opening, .paused, .ending, .closing, .stopped: return []
    }
  }

  private mutating func resumed() -> [Action] {
    switch phase {
    case .paused:
      phase = .started
      return [.announce(.started), .resumeCapabilities]
    // As above.
    case .idle, .preparing, .connecting, .opening, .started, .ending, .closing, .stopped: return []
    }
  }

  // MARK: Ending

  private mutating func stop() -> [Action] {
    switch phase {
    case .idle, .preparing: return stopped(leaving: false)
    case .connecting: return end(.leave)
    case .opening, .started, .paused: return end(.close)
    // Idempotent.
    case .ending, .closing, .stopped: return []
    }
  }

  private mutating func closed(
    _ reason: SessionClosed.Reason, _ retryAfter: Duration?, _ text: String
  ) -> [Action] {
    switch phase {
    case .opening:
      return [.announceFailure(.closed(reason, retryAfter: retryAfter, text: text, wasOpen: false))] + end(.leave)
    case .started, .paused:
      return [.announceFailure(.closed(reason, retryAfter: retryAfter, text: text, wasOpen: true))] + end(.leave)
    // The glasses were faster than our close.
    case .ending(.close):
      phase = .ending(.leave)
      return []
    case .closing: return stopped(leaving: true)
    // No session was asked for, or it is closed already.
    case .idle, .preparing, .connecting, .ending(.leave), .ending(.nothing), .stopped: return []
    }
  }

  private mutating func failed(_ failure: SessionFailure) -> [Action] {
    switch phase {
    case .connecting: return [.announceFailure(failure)] + end(.leave)
    case .opening, .started, .paused: return [.announceFailure(failure)] + end(.close)
    // It ends anyway, and an intended stop shows no errors.
    case .idle, .preparing, .ending, .closing, .stopped: return []
    }
  }

  private mutating func linkClosed(_ close: LinkClose) -> [Action] {
    switch phase {
    case .connecting, .opening: return [.announceFailure(.linkClosed(close, wasOpen: false))] + end(.nothing)
    case .started, .paused: return [.announceFailure(.linkClosed(close, wasOpen: true))] + end(.nothing)
    case .ending:
      phase = .ending(.nothing)
      return []
    case .closing: return stopped(leaving: false)
    // No link yet, or left by us.
    case .idle, .preparing, .stopped: return []
    }
  }

  private mutating func closeDeadline() -> [Action] {
    switch phase {
    case .ending(.close):
      phase = .ending(.leave)
      return []
    case .closing: return stopped(leaving: true)
    // In time.
    case .idle, .preparing, .connecting, .opening, .started, .paused, .ending(.leave), .ending(.nothing), .stopped:
      return []
    }
  }

  private mutating func capabilitiesEnded() -> [Action] {
    switch phase {
    case .ending(.close):
      phase = .closing
      return [.sendClose]
    case .ending(.leave): return stopped(leaving: true)
    case .ending(.nothing): return stopped(leaving: false)
    // Answers `endCapabilities`, which is asked for on entering `ending` only.
    case .idle, .preparing, .connecting, .opening, .started, .paused, .closing, .stopped: return []
    }
  }

  private mutating func end(_ farewell: Farewell) -> [Action] {
    phase = .ending(farewell)
    return [.announce(.stopping), .endCapabilities] + (farewell == .close ? [.awaitClose] : [])
  }

  private mutating func stopped(leaving: Bool) -> [Action] {
    phase = .stopped
    return (leaving ? [.leaveLink] : []) + [.announce(.stopped), .finish]
  }
}
