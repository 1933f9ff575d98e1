import Units

extension ChannelReassembler {
  init(channel: Channel, limits: LinkLimits) {
    let headLength = UnitHead.length(channel)
    let unitLimit =
      switch channel {
      case .control: limits.controlUnit
      case .audio: limits.audioUnit
      case .video: limits.videoUnit
      case .photo: limits.photoUnit
      }
    self.init(
      rules: Rules(
        channel: channel, headLength: headLength, unitLimit: unitLimit,
        unitMinimum: Self.unitMinimum(channel, headLength), unitsInAssembly: limits.unitsInAssembly,
        piecesAhead: limits.piecesAhead,
        patience: channel == .control ? limits.controlPatience : limits.reorderPatience,
        losesNothing: channel == .control),
      firstSequence: limits.firstSequence)
  }

  /// A control unit has at least its type; pictures and photos at least a byte after their head. Sound of which nothing is
  /// there is looked at as any other that can't be used.
  private static func unitMinimum(_ channel: Channel, _ headLength: Int) -> Int {
    switch channel {
    case .control: 2
    case .audio: headLength
    case .video, .photo: headLength + 1
    }
  }
}

// What becomes of the peer's bytes.
extension LinkEndpoint {
  mutating func take(_ bytes: [UInt8], at now: Instant) throws(LinkProtocolError) {
    var position = 0
    while isListening, let piece = try deframer.next(in: bytes, from: &position) {
      guard let channel = Channel(rawValue: piece.channel) else {
        guard peerIsNewer else {
          throw LinkProtocolError(.unknownChannel(piece.channel), stage: .framing)
        }
        counters.skippedUnits += 1
        continue
      }
      if channel != .control {
        guard let peerRole else { throw LinkProtocolError(.helloMissing(nil), stage: .hello) }
        guard peerRole == .glasses else { throw LinkProtocolError(.mediaFrom(peerRole, channel), stage: .state) }
      }
      counters.received[Int(channel.rawValue)].bytes += UInt64(piece.range.count)
      try reassemblers[Int(channel.rawValue)].add(piece, of: bytes, at: now)
      try deliver(channel, at: now)
    }
    reportPhotoProgress()
  }

  /// Hands out what has become whole.
  mutating func deliver(_ channel: Channel, at now: Instant) throws(LinkProtocolError) {
    let index = Int(channel.rawValue)
    while isListening, let unit = reassemblers[index].nextUnit() {
      counters.received[index].units += 1
      if channel != .control {
        feedback.arrived(
          channel, sequence: unit.sequence, bytes: unit.head.count + unit.body.count, lostSoFar: unit.lostSoFar,
          at: now)
      }
      switch channel {
      case .control: try take(control: unit.body, at: now)
      case .audio: take(audio: unit, at: now)
      case .video: try take(video: unit, at: now)
      case .photo:
        let photo = try UnitHead.decode(photo: unit.head)
        if photoReported.removeValue(forKey: photo) != unit.body.count {
          emit(.photoProgress(photo, received: unit.body.count, total: unit.body.count))
        }
        emit(.photo(photo, bytes: unit.body))
      }
    }
  }

  private var peerIsNewer: Bool { peerVersion.map { $0.minor > hello.version.minor } ?? false }

  private mutating func take(
    video unit: ChannelReassembler.WholeUnit, at now: Instant
  ) throws(LinkProtocolError) {
    let accessUnit = try UnitHead.decode(video: unit.head, payload: unit.body)
    guard
      let stamp = stamps.receive(
        accessUnit.stream, captured: accessUnit.captured, lostSoFar: unit.lostSoFar, at: now, alignment: &alignment)
    else { return }
    emit(
      .accessUnit(
        ReceivedUnit(
          unit: accessUnit, sequence: unit.sequence, presentation: stamp.presentation, arrived: stamp.arrived,
          lostBefore: stamp.lostBefore)))
  }

  /// What can't be used is lost, and told with the unit after it.
  private mutating func take(audio unit: ChannelReassembler.WholeUnit, at now: Instant) {
    guard let audioUnit = UnitHead.decode(audio: unit.head, payload: unit.body) else {
      counters.unusableAudioUnits += 1
      return
    }
    guard
      let stamp = audioStamps.receive(
        audioUnit.stream, captured: audioUnit.captured, lostSoFar: unit.lostSoFar &+ counters.unusableAudioUnits,
        at: now, alignment: &alignment)
    else { return }
    emit(
      .audio(
        ReceivedAudio(
          unit: audioUnit, sequence: unit.sequence, presentation: stamp.presentation, arrived: stamp.arrived,
          lostBefore: stamp.lostBefore)))
  }

  /// Sound left before the word that ends it: what is here waits for nothing any more.
  private mutating func endAudio(at now: Instant) throws(LinkProtocolError) {
    try reassemblers[Int(Channel.audio.rawValue)].giveOutWhole()
    try deliver(.audio, at: now)
  }

  private mutating func take(control unit: [UInt8], at now: Instant) throws(LinkProtocolError) {
    guard peerVersion != nil else {
      try greet(unit, at: now)
      return
    }
    guard let message = try Message.decode(unit, peerIsNewer: peerIsNewer) else {
      counters.skippedUnits += 1
      return
    }
    try check(message.type)
    switch message {
    case .hello:
      throw LinkProtocolError(.helloRepeated, stage: .state)
    case .goodbye(let goodbye):
      close(.goodbye(goodbye), at: now)
    case .ping(let ping):
      send(.pong(ping), at: now)
    case .pong:
      // That it came is all it says, and every byte says that.
      break
    case .clockRequest(let request):
      let time = deviceClock.time(at: now)
      send(
        .clockReply(
          ClockReply(number: request.number, originated: request.originated, received: time, transmitted: time)),
        at: now)
    case .clockReply(let reply):
      accept(reply, at: now)
    case .streamStopped(let stopped):
      try endAudio(at: now)
      stamps.stop(stopped.stream)
      audioStamps.stop(stopped.stream)
      emit(.message(message))
    case .feedback(let report):
      scheduler.take(report, at: now)
      emit(.message(message))
    case .sessionPaused, .sessionClosed:
      try endAudio(at: now)
      emit(.message(message))
    case .failure, .deviceState, .sessionOpen, .sessionOpened, .sessionResumed, .sessionClose, .streamStart,
      .streamStarted, .streamChanged, .streamStop, .keyframeRequest,
      .audioChanged, .photoRequest, .photoResult, .pairingRequest, .pairingAccepted, .unpair, .glassesListing,
      .glassesRemoved, .glassesListed, .certificateRequest, .certificateIssued, .pairGlasses, .unpairGlasses,
      .companionAnswer:
      emit(.message(message))
    }
  }

  /// The first unit of the peer. A hello of a newer minor version may have fields that this version doesn't know.
  private mutating func greet(_ unit: [UInt8], at now: Instant) throws(LinkProtocolError) {
    var reader = ByteReader(unit)
    let code: UInt16 = try reader.integer("type")
    guard code == MessageType.hello.rawValue else {
      throw LinkProtocolError(.helloMissing(MessageType(rawValue: code)), stage: .hello)
    }
    let isNewer = try Hello.version(of: unit).minor > hello.version.minor
    guard case .hello(let peer) = try Message.decode(unit, peerIsNewer: isNewer) else { return }
    // Glasses are met by apps and companions, a companion by apps.
    guard peer.role != hello.role else {
      throw LinkProtocolError(.roleMismatch(peer.role), stage: .hello)
    }
    open(peer, at: now)
  }

  private func check(_ type: MessageType) throws(LinkProtocolError) {
    guard let peerRole, type.direction.allows(to: hello.role, from: peerRole) else {
      throw LinkProtocolError(.wrongDirection(type), stage: .state)
    }
  }

  /// Of every photo under way: one that has lost a chunk does not hide the progress of the next.
  private mutating func reportPhotoProgress() {
    let underWay = reassemblers[Int(Channel.photo.rawValue)].progress
    guard !underWay.isEmpty || !photoReported.isEmpty else { return }
    var reported: [PhotoID: Int] = [:]
    for (head, received, total) in underWay where received > 0 {
      guard let photo = try? UnitHead.decode(photo: head) else { continue }
      if photoReported[photo] != received { emit(.photoProgress(photo, received: received, total: total)) }
      reported[photo] = received
    }
    photoReported = reported
  }
}
