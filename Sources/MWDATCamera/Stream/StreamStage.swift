extension StreamMachine {
  /// The step at which an attempt failed.
  package enum Stage: Hashable, Sendable, CaseIterable {
    /// Device and permission were looked at, or a paused session was waited out.
    case connect
    /// The glasses were asked for pictures, and none had come.
    case start
    /// Pictures came, and this side could not go on with them.
    case stream
    /// Pictures had stopped coming.
    case recovery
    /// The session rested.
    case pause
    /// The session went on, and no picture had come since.
    case resume
    /// The link ended.
    case link
    /// The glasses ended it while pictures came or rested.
    case glasses
  }

  /// Where it failed if `event` now ends the attempt.
  func stage(of event: Event) -> Stage {
    switch phase {
    case .stopped, .waitingForDevice, .stopping, .invalidated:
      if case .linkLost = event { return .link }
      return .connect
    case .starting:
      if case .linkLost = event { return .link }
      return .start
    case .streaming: return running(event, .stream)
    case .stalled: return running(event, .recovery)
    case .paused: return running(event, .pause)
    case .resuming: return running(event, .resume)
    }
  }

  private func running(_ event: Event, _ stage: Stage) -> Stage {
    switch event {
    case .linkLost: .link
    case .glassesStopped: .glasses
    case .unitsMissing: .recovery
    case .start, .stop, .permitted, .refused, .unitPassed, .failed, .sessionPaused, .sessionResumed, .deadline,
      .parentEnded:
      stage
    }
  }
}
