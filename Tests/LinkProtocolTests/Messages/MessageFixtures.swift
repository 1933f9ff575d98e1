import LinkProtocol
import Testing
import Units

/// One message and its literal bytes, as docs/protocol.md shows them.
struct MessageFixture: Sendable, CustomTestStringConvertible {
  let name: String
  let message: Message
  let hex: String
  /// Stands in docs/protocol.md.
  let isDocumented: Bool

  var bytes: [UInt8] { hex.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) } }
  var testDescription: String { name }
}

private let fixtureNonce: Nonce = {
  var bytes = CountingBytes(value: 0x10)
  return Nonce(from: &bytes)
}()

private let fixtureDigest = (0..<32).map { UInt8(0xa0 + $0) }

/// Gives 16, 17, 18, … as its random bytes.
private struct CountingBytes: RandomNumberGenerator {
  var value: UInt8
  mutating func next() -> UInt64 {
    defer { value += 1 }
    return UInt64(value) << 56 | UInt64(value)
  }
}

let messageFixtures: [MessageFixture] = [
  MessageFixture(
    name: "hello",
    message: .hello(
      Hello(
        version: ProtocolVersion(major: 1, minor: 0), role: .glasses, purpose: .media,
        capabilities: [.videoHEVC, .photoJPEG, .photoHEIC], identifier: "GW-2F4A", name: "Brille é", model: "Sim 1",
        softwareVersion: "0.1.0", nonce: fixtureNonce)),
    hex: """
      00 01 47 4c 53 57 01 00 03 01 00 00 00 31 10 11 12 13 14 15 16 17 18 19
      1a 1b 1c 1d 1e 1f 00 07 47 57 2d 32 46 34 41 00 09 42 72 69 6c 6c 65 20
      c3 a9 00 05 53 69 6d 20 31 00 05 30 2e 31 2e 30
      """,
    isDocumented: true),
  MessageFixture(
    name: "goodbye",
    message: .goodbye(Goodbye(reason: .hingeClosed, text: "folded")),
    hex: """
      00 02 05 00 06 66 6f 6c 64 65 64
      """,
    isDocumented: true),
  MessageFixture(
    name: "ping",
    message: .ping(Ping(number: 0x01020304)),
    hex: """
      00 03 01 02 03 04
      """,
    isDocumented: true),
  MessageFixture(
    name: "pong",
    message: .pong(Ping(number: 0x01020304)),
    hex: """
      00 04 01 02 03 04
      """,
    isDocumented: true),
  MessageFixture(
    name: "clockRequest",
    message: .clockRequest(ClockRequest(number: 7, originated: Instant(nanoseconds: 1_000_000_007))),
    hex: """
      00 05 00 00 00 07 00 00 00 00 3b 9a ca 07
      """,
    isDocumented: true),
  MessageFixture(
    name: "clockReply",
    message: .clockReply(
      ClockReply(
        number: 7, originated: Instant(nanoseconds: 1_000_000_007), received: DeviceTime(nanoseconds: -5),
        transmitted: DeviceTime(nanoseconds: 250))),
    hex: """
      00 06 00 00 00 07 00 00 00 00 3b 9a ca 07 ff ff ff ff ff ff ff fb 00 00
      00 00 00 00 00 fa
      """,
    isDocumented: true),
  MessageFixture(
    name: "feedback",
    message: .feedback(
      Feedback(
        channel: .video, highestSequence: 4_294_967_295, arrived: Instant(nanoseconds: 2_000_000_000),
        unitsReceived: 240, unitsLost: 3, bytesReceived: 5_000_000_000)),
    hex: """
      00 07 02 ff ff ff ff 00 00 00 00 77 35 94 00 00 00 00 f0 00 00 00 03 00
      00 00 01 2a 05 f2 00
      """,
    isDocumented: true),
  MessageFixture(
    name: "failure",
    message: .failure(Failure(scope: .stream(StreamID(9)), code: .encoderFailed, text: "x265")),
    hex: """
      00 08 02 00 00 00 09 00 21 00 04 78 32 36 35
      """,
    isDocumented: true),
  MessageFixture(
    name: "deviceState",
    message: .deviceState(
      DeviceStateReport(batteryLevel: 87, charging: .notCharging, wear: .donned, hinge: .open, thermal: .light)),
    hex: """
      01 01 57 02 02 02 02
      """,
    isDocumented: true),
  MessageFixture(
    name: "sessionOpen",
    message: .sessionOpen(SessionOpen(session: SessionID(1))),
    hex: """
      02 01 00 00 00 01
      """,
    isDocumented: true),
  MessageFixture(
    name: "sessionOpened",
    message: .sessionOpened(SessionOpened(session: SessionID(1))),
    hex: """
      02 02 00 00 00 01
      """,
    isDocumented: true),
  MessageFixture(
    name: "sessionPaused",
    message: .sessionPaused(SessionPaused(session: SessionID(1), reason: .thermal)),
    hex: """
      02 03 00 00 00 01 02
      """,
    isDocumented: true),
  MessageFixture(
    name: "sessionResumed",
    message: .sessionResumed(SessionResumed(session: SessionID(1))),
    hex: """
      02 04 00 00 00 01
      """,
    isDocumented: true),
  MessageFixture(
    name: "sessionClose",
    message: .sessionClose(SessionClose(session: SessionID(1))),
    hex: """
      02 05 00 00 00 01
      """,
    isDocumented: true),
  MessageFixture(
    name: "sessionClosed",
    message: .sessionClosed(
      SessionClosed(
        session: SessionID(1), reason: .failed(.heldByOther), retryAfter: .milliseconds(4500), text: "busy")),
    hex: """
      02 06 00 00 00 01 03 00 03 00 00 11 94 00 04 62 75 73 79
      """,
    isDocumented: true),
  MessageFixture(
    name: "streamStart",
    message: .streamStart(
      StreamStart(
        stream: StreamID(2), session: SessionID(1),
        video: VideoParameters(codec: .hevc, size: PixelSize(width: 504, height: 896), frameRate: 24),
        audio: AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2))),
    hex: """
      03 01 00 00 00 02 00 00 00 01 01 18 01 f8 03 80 02 02 00 00 bb 80
      """,
    isDocumented: true),
  MessageFixture(
    name: "streamStarted",
    message: .streamStarted(
      StreamStarted(
        stream: StreamID(2),
        video: VideoParameters(codec: .h264, size: PixelSize(width: 720, height: 1280), frameRate: 30))),
    hex: """
      03 02 00 00 00 02 02 1e 02 d0 05 00 00 00 00 00 00 00
      """,
    isDocumented: true),
  MessageFixture(
    name: "streamChanged",
    message: .streamChanged(
      StreamChanged(
        stream: StreamID(2),
        video: VideoParameters(codec: .hevc, size: PixelSize(width: 360, height: 640), frameRate: 15),
        reason: .linkNarrowed)),
    hex: """
      03 03 00 00 00 02 01 0f 01 68 02 80 01
      """,
    isDocumented: true),
  MessageFixture(
    name: "streamStop",
    message: .streamStop(StreamStop(stream: StreamID(2))),
    hex: """
      03 04 00 00 00 02
      """,
    isDocumented: true),
  MessageFixture(
    name: "streamStopped",
    message: .streamStopped(StreamStopped(stream: StreamID(2), reason: .failed(.sourceFailed), text: "no video")),
    hex: """
      03 05 00 00 00 02 02 00 20 00 00 00 00 00 08 6e 6f 20 76 69 64 65 6f
      """,
    isDocumented: true),
  MessageFixture(
    name: "keyframeRequest",
    message: .keyframeRequest(KeyframeRequest(stream: StreamID(2), reason: .loss)),
    hex: """
      03 06 00 00 00 02 01
      """,
    isDocumented: true),
  MessageFixture(
    name: "audioChanged",
    message: .audioChanged(
      AudioChanged(
        stream: StreamID(2), audio: AudioParameters(codec: .opus, sampleRate: 48_000, channels: 1), source: .tone,
        isMuted: true)),
    hex: """
      03 07 00 00 00 02 02 01 00 00 bb 80 04 01
      """,
    isDocumented: true),
  MessageFixture(
    name: "photoRequest",
    message: .photoRequest(
      PhotoRequest(photo: PhotoID(3), session: SessionID(1), format: .heic, size: .large1080, quality: .medium)),
    hex: """
      04 01 00 00 00 03 00 00 00 01 02 04 02
      """,
    isDocumented: true),
  MessageFixture(
    name: "photoResult",
    message: .photoResult(
      PhotoResult(
        photo: PhotoID(3),
        outcome: .taken(
          PhotoFacts(
            format: .jpeg, size: PixelSize(width: 3024, height: 4032), orientation: 6,
            captured: DeviceTime(nanoseconds: 123_456_789), byteCount: 70_000, digest: fixtureDigest)), text: "ok")),
    hex: """
      04 02 00 00 00 03 01 01 06 0b d0 0f c0 00 00 00 00 07 5b cd 15 00 01 11
      70 a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa ab ac ad ae af b0 b1 b2 b3 b4 b5 b6
      b7 b8 b9 ba bb bc bd be bf 00 02 6f 6b
      """,
    isDocumented: true),
  MessageFixture(
    name: "goodbye, no text",
    message: .goodbye(Goodbye(reason: .finished)),
    hex: """
      00 02 01 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "failure of the link",
    message: .failure(Failure(scope: .link, code: .internalError, text: "")),
    hex: """
      00 08 00 00 00 00 00 00 01 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "failure of a session",
    message: .failure(Failure(scope: .session(SessionID(258)), code: .batteryLow, text: "")),
    hex: """
      00 08 01 00 00 01 02 00 44 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "deviceState, nothing known",
    message: .deviceState(DeviceStateReport()),
    hex: """
      01 01 ff 00 00 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "sessionClosed, requested",
    message: .sessionClosed(SessionClosed(session: SessionID(1), reason: .requested)),
    hex: """
      02 06 00 00 00 01 01 00 00 00 00 00 00 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "pairingRequest",
    message: .pairingRequest(
      PairingRequest(hostName: "Desk", hostKey: [0x30, 0x59, 1, 2], signature: [0x30, 0x44, 9])),
    hex: """
      05 01 00 04 44 65 73 6b 00 04 30 59 01 02 00 03 30 44 09
      """,
    isDocumented: true),
  MessageFixture(
    name: "pairingAccepted",
    message: .pairingAccepted(PairingAccepted(agentKey: [0x30, 0x59, 1, 2], signature: [0x30, 0x44, 9])),
    hex: """
      05 02 00 04 30 59 01 02 00 03 30 44 09
      """,
    isDocumented: true),
  MessageFixture(
    name: "unpair",
    message: .unpair(Unpair()),
    hex: """
      05 03
      """,
    isDocumented: true),
  MessageFixture(
    name: "glassesListing",
    message: .glassesListing(
      GlassesListing(
        identifier: "lab-3", uuid: Array(0x20..<0x30), name: "Lab", model: "Sim 1", pin: fixtureDigest,
        presence: .connected, addresses: ["10.0.0.2", "::1"], port: 7447,
        state: DeviceStateReport(batteryLevel: 87, charging: .notCharging, wear: .donned, hinge: .open, thermal: .light)
      )),
    hex: """
      06 01 00 05 6c 61 62 2d 33 20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e
      2f 00 03 4c 61 62 00 05 53 69 6d 20 31 a0 a1 a2 a3 a4 a5 a6 a7 a8 a9 aa
      ab ac ad ae af b0 b1 b2 b3 b4 b5 b6 b7 b8 b9 ba bb bc bd be bf 03 02 00
      08 31 30 2e 30 2e 30 2e 32 00 03 3a 3a 31 1d 17 57 02 02 02 02
      """,
    isDocumented: true),
  MessageFixture(
    name: "glassesRemoved",
    message: .glassesRemoved(GlassesRemoved(identifier: "lab-3")),
    hex: """
      06 02 00 05 6c 61 62 2d 33
      """,
    isDocumented: true),
  MessageFixture(
    name: "glassesListed",
    message: .glassesListed(GlassesListed()),
    hex: """
      06 03
      """,
    isDocumented: true),
  MessageFixture(
    name: "certificateRequest",
    message: .certificateRequest(CertificateRequest(appKey: [0x30, 0x59, 1, 2])),
    hex: """
      06 04 00 04 30 59 01 02
      """,
    isDocumented: true),
  MessageFixture(
    name: "certificateIssued",
    message: .certificateIssued(CertificateIssued(certificate: [0x30, 0x82, 3])),
    hex: """
      06 05 00 03 30 82 03
      """,
    isDocumented: true),
  MessageFixture(
    name: "pairGlasses",
    message: .pairGlasses(PairGlasses(number: 7, uri: "glasswing://pair?v=1")),
    hex: """
      06 06 00 00 00 07 00 14 67 6c 61 73 73 77 69 6e 67 3a 2f 2f 70 61 69 72
      3f 76 3d 31
      """,
    isDocumented: true),
  MessageFixture(
    name: "unpairGlasses",
    message: .unpairGlasses(UnpairGlasses(number: 8, identifier: "lab-3")),
    hex: """
      06 07 00 00 00 08 00 05 6c 61 62 2d 33
      """,
    isDocumented: true),
  MessageFixture(
    name: "companionAnswer",
    message: .companionAnswer(CompanionAnswer(number: 8, outcome: .doneHere, identifier: "lab-3", text: "away")),
    hex: """
      06 08 00 00 00 08 00 08 00 05 6c 61 62 2d 33 00 04 61 77 61 79
      """,
    isDocumented: true),
  MessageFixture(
    name: "sessionClosed, ended by the glasses",
    message: .sessionClosed(SessionClosed(session: SessionID(1), reason: .endedByDevice)),
    hex: """
      02 06 00 00 00 01 02 00 00 00 00 00 00 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "streamStart without sound",
    message: .streamStart(
      StreamStart(
        stream: StreamID(2), session: SessionID(1),
        video: VideoParameters(codec: .hevc, size: PixelSize(width: 360, height: 640), frameRate: 2))),
    hex: """
      03 01 00 00 00 02 00 00 00 01 01 02 01 68 02 80 00 00 00 00 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "streamStopped, requested",
    message: .streamStopped(StreamStopped(stream: StreamID(2), reason: .requested)),
    hex: """
      03 05 00 00 00 02 01 00 00 00 00 00 00 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "streamStopped, held by another app",
    message: .streamStopped(
      StreamStopped(stream: StreamID(2), reason: .failed(.heldByOther), retryAfter: .milliseconds(4500))),
    hex: """
      03 05 00 00 00 02 02 00 03 00 00 11 94 00 00
      """,
    isDocumented: false),
  MessageFixture(
    name: "photoResult, failed",
    message: .photoResult(PhotoResult(photo: PhotoID(3), outcome: .failed(.photoBusy), text: "busy")),
    hex: """
      04 02 00 00 00 03 02 00 31 00 04 62 75 73 79
      """,
    isDocumented: true),
]
