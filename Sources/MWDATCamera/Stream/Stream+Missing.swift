import LinkProtocol
import LinkTransport
import Units

// What the stream does so that nobody waits in vain for pictures or sound that stop coming.

extension Stream {
  /// A look is planned for the moment at which a picture or sound would be missing, as long as there is a stream that
  /// should have some; a stall looks at times of its own, of which the next may come later than that.
  func watch(_ state: inout State) {
    state.audioExpected = context.timekeeper.now
    let due = nextDue(state)
    if state.stall.nextLook.map({ due < $0 }) ?? true { look(at: due, &state) }
  }

  /// What was missing belongs to a time that is over.
  func nothingMissing(_ state: inout State) {
    state.missing = []
    audioArrivals.isMissing = false
  }

  /// When the last of what an event misses came.
  func missingSince(_ event: StreamMachine.Event, _ state: borrowing State) -> Instant {
    if case .unitsMissing(_, .sound, _, _) = event { lastAudio(state) } else { state.stall.lastUnit }
  }

  private var carriesAudio: Bool { streamConfiguration.audioCodec != nil }

  private func lastAudio(_ state: borrowing State) -> Instant { max(audioArrivals.last, state.audioExpected) }

  private func dueTimes(_ state: borrowing State) -> (picture: Instant, sound: Instant) {
    let patience = StallWatch.patience(
      limit: limits.stall, frameRate: recorder.frameRate ?? streamConfiguration.videoParameters.frameRate,
      source: frames.sourceInterval)
    return (state.stall.lastUnit + patience, carriesAudio ? lastAudio(state) + limits.stall : .distantFuture)
  }

  private func nextDue(_ state: borrowing State) -> Instant {
    let due = dueTimes(state)
    return min(due.picture, due.sound)
  }

  private func overdue(_ state: borrowing State, at now: Instant) -> MissingMedia {
    let due = dueTimes(state)
    var missing: MissingMedia = []
    if due.picture <= now { missing.insert(.pictures) }
    if due.sound <= now { missing.insert(.sound) }
    return missing
  }

  private func look(at time: Instant, _ state: inout State) {
    state.stall.nextLook = time
    context.link.lane.run(at: time) { [weak self] in self?.lookForUnits(plannedFor: time) }
  }

  /// On the link lane.
  private func lookForUnits(plannedFor time: Instant) {
    let now = context.timekeeper.now
    let statistics = context.link.statistics
    current.withLock { state in
      guard state.stall.nextLook == time else { return }
      switch state.machine.phase {
      case .streaming(let attempt):
        let overdue = overdue(state, at: now)
        guard !overdue.isEmpty else { return look(at: nextDue(state), &state) }
        miss(overdue, &state)
        // Whether the link answers shows at the next look: a quiet one is just being asked for a sign of life.
        state.stall.noteReceived(statistics)
        let event: (Duration) -> StreamMachine.Event = { allowance in
          .unitsMissing(attempt, of: overdue.medium, linkAnswers: true, allowance: allowance)
        }
        let allowance = state.budget.begin(since: missingSince(event(.zero), state), at: now)
        apply(event(allowance), &state, cause: .silence, text: Self.spent)
        look(at: now + StallWatch.linkLook, &state)
      case .stalled(let attempt, _, _, _):
        let linkAnswers = state.stall.noteReceived(statistics)
        miss(overdue(state, at: now), &state)
        apply(.unitsMissing(attempt, of: state.missing.medium, linkAnswers: linkAnswers), &state)
        look(at: now + StallWatch.linkLook, &state)
      case .stopped, .waitingForDevice, .starting, .paused, .resuming, .stopping, .invalidated:
        state.stall.nextLook = nil
      }
    }
  }

  private func miss(_ media: MissingMedia, _ state: inout State) {
    state.missing.formUnion(media)
    audioArrivals.isMissing = state.missing.contains(.sound)
  }

  /// The text of an end by a spent budget, which is the only one that missing units bring by themselves.
  private static let spent = "recovery: pictures or sound stopped coming too often, or for too long in all"
}

extension Stream: FrameOwner {
  func unitPassed(_ stream: StreamID, isFrame: Bool) {
    let now = context.timekeeper.now
    current.withLock { state in
      // While streaming, what goes to the decoder counts when it has come out of it: else a stream whose pictures can't
      // be decoded would be streaming, and its listeners would hear nothing.
      if isFrame || !state.machine.phase.wantsFrames { pass(stream, at: now, &state) }
    }
  }

  func frameDecoded(_ stream: StreamID) {
    let now = context.timekeeper.now
    current.withLock { state in
      if state.machine.phase.wantsFrames { pass(stream, at: now, &state) }
    }
  }

  private func pass(_ stream: StreamID, at now: Instant, _ state: inout State) {
    guard state.machine.currentAttempt == stream else { return }
    state.stall.passed(at: now)
    state.missing.remove(.pictures)
    guard state.missing.isEmpty else { return }
    apply(.unitPassed(stream), &state)
  }

  func framesFailed(_ stream: StreamID, _ text: String) { handle(.failed(stream, .videoStreamingError), text: text) }
}

extension Stream: AudioOwner {
  func missingAudioCame() {
    current.withLock { state in
      guard state.missing.contains(.sound), let attempt = state.machine.currentAttempt else { return }
      state.missing.remove(.sound)
      guard state.missing.isEmpty else { return }
      apply(.unitPassed(attempt), &state)
    }
  }

  /// On the link lane.
  func agreed(on audio: AudioParameters?, _ stream: StreamID) {
    guard carriesAudio else { return }
    guard let audio else {
      return handle(.failed(stream, .audioStreamingError), text: "the glasses agreed to pictures without sound")
    }
    sound.agreed(audio)
  }
}
