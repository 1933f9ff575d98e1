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

extension StreamMachine.Phase {
  /// What has not come when the deadline of this phase does, and from which stage on it was waited for.
  ///
  /// - Parameter hasAgreed: the glasses have answered this attempt.
  func missing(after length: Duration, hasAgreed: Bool) -> String {
    switch self {
    case .waitingForDevice(_, isPermitted: false, _):
      "connect: nobody said within \(length) whether the device is there and what is asked for permitted"
    case .waitingForDevice(_, isPermitted: true, _):
      "connect: the paused session did not go on within \(length)"
    case .starting where hasAgreed:
      "start: the glasses agreed to the stream, and no picture that can be shown came within \(length)"
    case .starting:
      "start: the glasses did not answer the request for pictures within \(length)"
    case .stalled(_, linkAnswers: true, _, of: .sound):
      "recovery: the link answers, and no sound that can be used came again within \(length)"
    case .stalled(_, linkAnswers: true, _, of: .pictures):
      "recovery: the link answers, and no picture that can be shown came again within \(length)"
    case .stalled(_, linkAnswers: false, _, _):
      "recovery: pictures stopped coming, and the link did not answer within \(length)"
    case .resuming:
      "resume: no picture that can be shown came within \(length) of the end of the pause"
    case .stopping:
      "stop: the glasses did not answer within \(length)"
    case .streaming, .paused, .stopped, .invalidated:
      ""
    }
  }
}
