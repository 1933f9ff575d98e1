import Units

/// What waits to be sent, cut into chunks: control before audio before video before photos, so that a lower channel's
/// chunk leaves only when no higher one waits. A unit gets its number when its first chunk leaves, so what is dropped
/// before leaves no gap.
///
/// What ends the sound of a stream - `streamStopped`, `sessionPaused`, `sessionClosed` - waits for what was queued of sound
/// before it, and with it what is behind it (AUD-5). That is 500 ms at most, as no sound waits longer, and sound is what
/// leaves in the meantime.
struct SendScheduler: Sendable {
  /// A unit on its way out.
  private struct Outgoing: Sendable {
    let sequence: UInt32
    let head: [UInt8]
    let body: [UInt8]
    var offset = 0

    var total: Int { head.count + body.count }
    var remaining: Int { total - offset }

    /// Appends the next chunk and moves on.
    mutating func appendChunk(_ channel: Channel, payload: Int, to bytes: inout [UInt8]) {
      ChunkHeader(
        channel: channel.rawValue, payloadLength: UInt16(clamping: payload), sequence: sequence,
        offset: UInt32(clamping: offset), total: UInt32(clamping: total)
      ).append(to: &bytes)
      let end = offset + payload
      if offset < head.count { bytes.append(contentsOf: head[offset..<min(end, head.count)]) }
      if end > head.count { bytes.append(contentsOf: body[max(0, offset - head.count)..<end - head.count]) }
      offset = end
    }
  }

  private struct WaitingMessage: Sendable {
    var message: Message
    /// It leaves after so many units of sound, counted from the link's begin.
    var afterAudio: UInt64 = 0
  }

  /// Room for payload below which an array that has something in it is full.
  private static let leastPayload = 512

  private let limits: LinkLimits
  private let deviceClock: DeviceClock
  private var control = FIFO<WaitingMessage>()
  private var audio: AudioQueue
  private var video: VideoQueue
  private var photos = FIFO<(photo: PhotoID, bytes: [UInt8])>()
  /// By channel: the unit of which some chunks have left.
  private var begun: [Outgoing?]
  private var sequences: [UInt32]
  /// Which one the audio unit is that began last, counted as `WaitingMessage.afterAudio`.
  private var audioBegun: UInt64 = 0

  /// Only the control message at the front may leave until this is lifted.
  var holdsBack = true

  private(set) var sent: [LinkStatistics.Traffic]
  private(set) var drops: [VideoQueue.Dropped] = []
  private(set) var audioDrops: [AudioQueue.Dropped] = []
  private var departures = DepartureLog()
  private var audioLoad = AudioLoad()
  private var audioAcknowledged: (bytes: UInt64, at: Instant?) = (0, nil)

  init(limits: LinkLimits, deviceClock: DeviceClock) {
    self.limits = limits
    self.deviceClock = deviceClock
    audio = AudioQueue(ageLimit: limits.audioQueueAge, byteLimit: limits.audioQueueBytes)
    video = VideoQueue(ageLimit: limits.videoQueueAge, byteLimit: limits.videoQueueBytes)
    let channels = Channel.allCases.count
    begun = Array(repeating: nil, count: channels)
    sequences = Array(repeating: limits.firstSequence, count: channels)
    sent = Array(repeating: LinkStatistics.Traffic(), count: channels)
  }

  // MARK: Filling

  /// The hello, before anything that was queued earlier.
  mutating func begin(with hello: Hello) {
    let queued = control.waiting
    control.replaceAll(with: [WaitingMessage(message: .hello(hello))] + queued)
  }

  mutating func enqueue(_ message: Message) throws(LinkProtocolError) {
    guard control.count < limits.controlQueueUnits else {
      throw LinkProtocolError(.backlog(.control), stage: .sending)
    }
    // Control overtakes video, so the units that wait would follow the word that none does.
    if case .streamStopped(let stopped) = message { video.forget(stopped.stream) }
    control.append(WaitingMessage(message: message, afterAudio: message.endsAudio ? audio.appended : 0))
  }

  mutating func enqueue(_ unit: AccessUnit, at now: Instant) throws(LinkProtocolError) {
    try check(.video, UnitHead.videoLength, unit.payload.count, limit: limits.videoUnit)
    drops.append(contentsOf: video.append(unit, at: now))
  }

  /// A unit that the peer could not take is left out: what sound holds ends no link.
  mutating func enqueue(_ unit: AudioUnit, at now: Instant) {
    guard (try? check(.audio, UnitHead.audioLength, unit.payload.count, limit: limits.audioUnit)) != nil else {
      return audioDrops.append(audio.leaveOut(unit))
    }
    audioLoad.add(unit, chunk: limits.chunkPayload, at: now)
    note(audio.append(unit, at: now), at: now)
  }

  mutating func enqueue(_ photo: PhotoID, bytes: [UInt8]) throws(LinkProtocolError) {
    try check(.photo, UnitHead.photoLength, bytes.count, limit: limits.photoUnit)
    guard photos.count < limits.photoQueueUnits else {
      throw LinkProtocolError(.backlog(.photo), stage: .sending)
    }
    photos.append((photo, bytes))
  }

  /// What the link did not carry of sound has kept pictures back as well: they were made for a link that there is not.
  private mutating func note(_ dropped: [AudioQueue.Dropped], at now: Instant) {
    audioDrops.append(contentsOf: dropped)
    if dropped.contains(where: \.isLeftOver) { drops.append(contentsOf: video.runOver(at: now)) }
  }

  private func check(
    _ channel: Channel, _ head: Int, _ body: Int, limit: Int
  ) throws(LinkProtocolError) {
    let total = head.addingSaturating(body)
    guard body > 0 else {
      throw LinkProtocolError(.unitTooShort(channel, length: UInt32(clamping: total)), stage: .sending)
    }
    guard total <= limit else {
      throw LinkProtocolError(.unitTooLong(channel, length: UInt32(clamping: total), limit: limit), stage: .sending)
    }
  }

  mutating func takeDrops() -> [VideoQueue.Dropped] {
    defer { drops.removeAll() }
    return drops
  }

  mutating func takeAudioDrops() -> [AudioQueue.Dropped] {
    defer { audioDrops.removeAll() }
    return audioDrops
  }

  /// Ends the sending of media; what has begun stays incomplete.
  mutating func dropMedia() {
    audio.removeAll()
    video.removeAll()
    photos.removeAll()
    for channel in Channel.allCases where channel != .control { begun[Int(channel.rawValue)] = nil }
  }

  /// The peer said no hello that we accept: of what waits only our own hello leaves.
  mutating func keepHelloOnly(_ hello: Hello) {
    let index = Int(Channel.control.rawValue)
    let helloWaits = sent[index].units == 0 && begun[index] == nil
    dropAll()
    if helloWaits { control.append(WaitingMessage(message: .hello(hello))) }
    holdsBack = false
  }

  /// The goodbye, whatever else waits.
  mutating func enqueueLast(_ message: Message) { control.append(WaitingMessage(message: message)) }

  /// Ends the sending of everything that has not begun.
  mutating func dropAll() {
    dropMedia()
    control.removeAll()
  }

  // MARK: Looking

  var isEmpty: Bool {
    control.isEmpty && audio.count == 0 && video.count == 0 && photos.isEmpty && begun.allSatisfy { $0 == nil }
  }

  var queuedAudio: (units: Int, bytes: Int) { (audio.count, audio.bytes) }
  var queuedVideo: (units: Int, bytes: Int) { (video.count, video.bytes) }
  func queuedVideoAge(at now: Instant) -> Duration { video.age(at: now) }

  /// All but `overflows`, which the scheduler does not count.
  func videoFlow(at now: Instant) -> VideoFlow {
    var flow = VideoFlow(time: now)
    flow.sentBytes = sent[Int(Channel.video.rawValue)].bytes
    flow.acknowledgedBytes = departures.acknowledgedBytes
    flow.acknowledged = departures.acknowledged
    flow.travelDelay = departures.travelDelay
    flow.waitingAge = video.age(at: now)
    flow.audioRate = audioLoad.rate(at: now)
    flow.audioWaitingAge = audio.age(at: now)
    flow.audioSentBytes = sent[Int(Channel.audio.rawValue)].bytes
    (flow.audioAcknowledgedBytes, flow.audioAcknowledged) = audioAcknowledged
    return flow
  }

  /// The receiver has told what arrived.
  mutating func take(_ feedback: Feedback, at now: Instant) {
    switch feedback.channel {
    case .video: departures.take(feedback, at: now)
    case .audio: audioAcknowledged = (feedback.bytesReceived, feedback.arrived)
    case .control, .photo: break
    }
  }

  // MARK: Draining

  /// The most urgent chunks that fit, in one array; nil when nothing may leave or not even one fits.
  mutating func nextBytes(atMost limit: Int, at now: Instant) -> [UInt8]? {
    // Whether there is room or not: what waits is bounded also while nothing leaves.
    drops.append(contentsOf: video.trim(at: now))
    note(audio.trim(at: now), at: now)
    var bytes: [UInt8] = []
    while true {
      // Room is looked at first: a unit that was begun can no longer be dropped, and clock messages are stamped then.
      let room = limit - bytes.count - ChunkHeader.length
      guard room >= Self.leastPayload || (bytes.isEmpty && room > 0) else { break }
      guard let channel = mostUrgent(at: now) else { break }
      let index = Int(channel.rawValue)
      guard var unit = begun[index] else { break }
      if bytes.isEmpty { bytes.reserveCapacity(reservation(for: unit, limit: limit)) }
      begun[index] = nil
      let payload = min(unit.remaining, limits.chunkPayload, Int(UInt16.max), room)
      unit.appendChunk(channel, payload: payload, to: &bytes)
      sent[index].bytes += UInt64(payload + ChunkHeader.length)
      if unit.remaining > 0 {
        begun[index] = unit
      } else {
        sent[index].units += 1
        if channel == .video { departures.left(unit.sequence, at: now) }
      }
    }
    return bytes.isEmpty ? nil : bytes
  }

  /// Room for the unit at hand with its headers, and some for what comes along.
  private func reservation(for unit: Outgoing, limit: Int) -> Int {
    let chunks = unit.remaining / max(1, limits.chunkPayload) + 2
    return min(limit, unit.remaining + chunks * ChunkHeader.length + 256)
  }

  /// The channel whose turn it is, its unit begun.
  private mutating func mostUrgent(at now: Instant) -> Channel? {
    for channel in Channel.allCases {
      let index = Int(channel.rawValue)
      if begun[index] != nil { return channel }
      if holdsBack && (channel != .control || sent[index].units > 0) { continue }
      guard let (head, body) = takeUnit(channel, at: now) else { continue }
      begun[index] = Outgoing(sequence: sequences[index], head: head, body: body)
      sequences[index] &+= 1
      return channel
    }
    return nil
  }

  private mutating func takeUnit(_ channel: Channel, at now: Instant) -> (head: [UInt8], body: [UInt8])? {
    switch channel {
    case .control:
      guard !waitsForAudio, let message = control.popFirst()?.message else { return nil }
      if case .streamStopped(let stopped) = message { audio.forget(stopped.stream) }
      return ([], stamped(message, at: now).encoded())
    case .audio:
      let (unit, dropped) = audio.popFirst(at: now)
      note(dropped, at: now)
      guard let unit else { return nil }
      audioBegun = audio.gone
      return (UnitHead.encode(unit), unit.payload)
    case .video:
      let (unit, dropped) = video.popFirst(at: now)
      drops.append(contentsOf: dropped)
      return unit.map { (UnitHead.encode($0), $0.payload) }
    case .photo:
      return photos.popFirst().map { (UnitHead.encode($0.photo), $0.bytes) }
    }
  }

  /// Whether the message at the front has to let sound leave first.
  private var waitsForAudio: Bool {
    guard let after = control.first?.afterAudio, after > 0 else { return false }
    let isUnderWay = begun[Int(Channel.audio.rawValue)] != nil && audioBegun <= after
    return isUnderWay || audio.gone < after
  }

  /// Clock messages say when they leave, not when they were queued.
  private func stamped(_ message: Message, at now: Instant) -> Message {
    switch message {
    case .clockRequest(var request):
      request.originated = now
      return .clockRequest(request)
    case .clockReply(var reply):
      reply.transmitted = deviceClock.time(at: now)
      return .clockReply(reply)
    case .hello, .goodbye, .ping, .pong, .feedback, .failure, .deviceState, .sessionOpen, .sessionOpened,
      .sessionPaused, .sessionResumed, .sessionClose, .sessionClosed, .streamStart, .streamStarted, .streamChanged,
      .streamStop, .streamStopped, .keyframeRequest, .audioChanged, .photoRequest, .photoResult, .pairingRequest,
      .pairingAccepted, .unpair,
      .glassesListing, .glassesRemoved, .glassesListed, .certificateRequest, .certificateIssued, .pairGlasses,
      .unpairGlasses, .companionAnswer:
      return message
    }
  }
}

extension Message {
  /// After it no sound of a stream is to follow.
  fileprivate var endsAudio: Bool {
    switch self {
    case .streamStopped, .sessionPaused, .sessionClosed: true
    case .hello, .goodbye, .ping, .pong, .clockRequest, .clockReply, .feedback, .failure, .deviceState, .sessionOpen,
      .sessionOpened, .sessionResumed, .sessionClose, .streamStart, .streamStarted, .streamChanged, .streamStop,
      .keyframeRequest, .audioChanged, .photoRequest, .photoResult, .pairingRequest, .pairingAccepted, .unpair,
      .glassesListing, .glassesRemoved, .glassesListed, .certificateRequest, .certificateIssued, .pairGlasses,
      .unpairGlasses, .companionAnswer:
      false
    }
  }
}
