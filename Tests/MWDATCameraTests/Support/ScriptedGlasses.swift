import LinkProtocol
import LinkTransport
import MediaEngine
import Synchronization
import Units

/// Glasses that a test drives: they open and close what they are asked to as the script says, keep all they were sent,
/// and send what they are told.
final class ScriptedGlasses: Sendable {
  struct Script: Sendable {
    enum Start: Sendable { case agreed, none, refused(LinkErrorCode, text: String) }
    var start = Start.agreed
    var answersStop = true
    /// Whether they agree to sound that is asked for.
    var hasAudio = true
  }

  private struct State {
    var script = Script()
    var messages: [Message] = []
    var streams: [StreamID] = []
    var nextPicture = 0
    var sound: AudioParameters?
    /// Samples of sound that were captured, of one channel, sent or not.
    var capturedSamples = 0
    /// The next unit of sound says that something is missing before it.
    var isAudioMarkDue = false
  }

  let connection: LinkConnection
  private let transport: MutableTransport
  private let timekeeper: any Timekeeper
  private let state = Mutex(State())

  init(identifier: String, transport: any ByteTransport, timekeeper: any Timekeeper) {
    let transport = MutableTransport(transport)
    self.transport = transport
    self.timekeeper = timekeeper
    connection = LinkConnection(
      endpoint: LinkEndpoint(
        hello: Hello(
          role: .glasses, capabilities: [.videoHEVC, .photoJPEG, .photoHEIC], identifier: identifier,
          name: "Scripted", model: "Ray-Ban Meta", softwareVersion: "1", nonce: .ofTests)),
      transport: transport, timekeeper: timekeeper, name: "glasses")
    connection.start { [weak self] in self?.receive($0) }
  }

  /// Everything that the app said, in order.
  var messages: [Message] { state.withLock { $0.messages } }
  var streamStarts: [StreamStart] {
    messages.compactMap { if case .streamStart(let start) = $0 { start } else { nil } }
  }
  var streamStops: [StreamID] {
    messages.compactMap { if case .streamStop(let stop) = $0 { stop.stream } else { nil } }
  }
  var keyframeRequests: [KeyframeRequest] {
    messages.compactMap { if case .keyframeRequest(let request) = $0 { request } else { nil } }
  }
  var sessionNumbers: [SessionID] {
    messages.compactMap { if case .sessionOpen(let open) = $0 { open.session } else { nil } }
  }
  var photoRequests: [PhotoRequest] {
    messages.compactMap { if case .photoRequest(let request) = $0 { request } else { nil } }
  }

  func setScript(_ change: (inout Script) -> Void) { state.withLock { change(&$0.script) } }
  func send(_ message: Message) { connection.send(message) }
  func leave(_ reason: Goodbye.Reason) { connection.close(Goodbye(reason: reason)) }

  /// The transport ends without a word.
  func breakLink() { transport.close() }

  /// From here on nothing of theirs arrives, and the transport says nothing of it: a half-open link.
  func fallSilent() { transport.isMute.store(true, ordering: .releasing) }

  /// Sends the next pictures of the newest stream, captured now.
  func sendPictures(_ count: Int = 1) {
    for _ in 0..<count { if let unit = nextUnit() { connection.send(unit) } }
  }

  /// The pictures up to the next sync unit never happened, as when an encoder was asked for one.
  func skipToSyncPicture() {
    state.withLock { state in
      let rest = state.nextPicture % CodedPictures.groupLength
      if rest > 0 { state.nextPicture += CodedPictures.groupLength - rest }
    }
  }

  /// The next picture is lost on the way, as both ends see it: left out, and said so.
  func losePicture() {
    _ = nextUnit()
    guard var unit = nextUnit() else { return }
    unit.flags.insert(.discontinuity)
    connection.send(unit)
  }

  /// The next 20 ms of sound, captured until now, whose samples count up: the value of sample n is n, of the right side
  /// n + 0.5. Nil without a stream that has some.
  func nextAudio() -> AudioUnit? {
    state.withLock { state in
      guard let stream = state.streams.last, let sound = state.sound else { return nil }
      let frames = Int(sound.sampleRate) / 50
      let first = state.capturedSamples
      state.capturedSamples += frames
      let samples = (first..<first + frames).flatMap { frame in
        (0..<Int(sound.channels)).map { Float(frame) + Float($0) / 2 }
      }
      defer { state.isAudioMarkDue = false }
      return AudioUnit(
        stream: stream, flags: state.isAudioMarkDue ? .discontinuity : [], codec: .pcmFloat32,
        sampleRate: sound.sampleRate, channels: sound.channels,
        frames: UInt16(frames),
        captured: DeviceTime(nanoseconds: (timekeeper.now - .milliseconds(20)).nanoseconds),
        payload: samples.flatMap { sample in withUnsafeBytes(of: sample.bitPattern.littleEndian, Array.init) })
    }
  }

  func sendAudio() { if let unit = nextAudio() { connection.send(unit) } }

  /// The next 20 ms are left out by the glasses, and the 20 ms after them say so.
  func leaveOutAudio() {
    _ = nextAudio()
    state.withLock { $0.isAudioMarkDue = true }
  }

  /// Well-formed to the link, of no use to a decoder.
  func sendUndecodablePicture() {
    guard var unit = nextUnit() else { return }
    for index in unit.payload.indices.suffix(8) { unit.payload[index] = 0xFF }
    unit.payload[unit.payload.count - 12] ^= 0xFF
    connection.send(unit)
  }

  func sendMalformedPicture() {
    guard var unit = nextUnit() else { return }
    unit.payload[0] = 0xFF
    connection.send(unit)
  }

  func nextUnit() -> AccessUnit? {
    state.withLock { state in
      guard let stream = state.streams.last else { return nil }
      defer { state.nextPicture += 1 }
      return CodedPictures.unit(
        state.nextPicture, of: stream, captured: DeviceTime(nanoseconds: timekeeper.now.nanoseconds))
    }
  }

  /// The photo was taken, and its bytes follow.
  func answer(_ request: PhotoRequest, with bytes: [UInt8], digest: [UInt8]? = nil) throws {
    let facts = PhotoFacts(
      format: request.format, size: PixelSize(width: 1512, height: 2016), orientation: 1,
      captured: DeviceTime(nanoseconds: timekeeper.now.nanoseconds), byteCount: UInt32(bytes.count),
      digest: try digest ?? sha256(bytes))
    send(.photoResult(PhotoResult(photo: request.photo, outcome: .taken(facts))))
    connection.send(photo: request.photo, bytes: bytes)
  }

  func refuse(_ request: PhotoRequest, _ code: LinkErrorCode) {
    send(.photoResult(PhotoResult(photo: request.photo, outcome: .failed(code), text: "refused by script")))
  }

  private func receive(_ event: LinkEvent) {
    guard case .message(let message) = event else { return }
    let script = state.withLock { state in
      state.messages.append(message)
      return state.script
    }
    switch message {
    case .sessionOpen(let open):
      send(.sessionOpened(SessionOpened(session: open.session)))
    case .sessionClose(let close):
      send(.sessionClosed(SessionClosed(session: close.session, reason: .requested)))
    case .streamStart(let start):
      answer(start, script)
    case .streamStop(let stop) where script.answersStop:
      send(.streamStopped(StreamStopped(stream: stop.stream, reason: .requested)))
    default:
      break
    }
  }

  private func answer(_ start: StreamStart, _ script: Script) {
    switch script.start {
    case .agreed:
      state.withLock { state in
        state.streams.append(start.stream)
        state.nextPicture = 0
        state.sound = script.hasAudio ? start.audio : nil
        state.capturedSamples = 0
      }
      send(
        .streamStarted(
          StreamStarted(stream: start.stream, video: start.video, audio: script.hasAudio ? start.audio : nil)))
    case .none:
      break
    case .refused(let code, let text):
      send(.streamStopped(StreamStopped(stream: start.stream, reason: .failed(code), text: text)))
    }
  }
}

/// A transport that can be made to swallow what is written to it.
private final class MutableTransport: ByteTransport {
  let isMute = Atomic<Bool>(false)
  private let transport: any ByteTransport

  init(_ transport: any ByteTransport) { self.transport = transport }

  func open(_ handlers: TransportHandlers) { transport.open(handlers) }
  func write(_ bytes: [UInt8]) {
    guard !isMute.load(ordering: .acquiring) else { return }
    transport.write(bytes)
  }
  var writableBytes: Int { transport.writableBytes }
  func consumed(_ byteCount: Int) { transport.consumed(byteCount) }
  func close() { transport.close() }
}

extension Nonce {
  /// The same bytes in every run.
  static let ofTests: Nonce = {
    var generator = SeededGenerator(seed: 1)
    return Nonce(from: &generator)
  }()
}
