import Foundation
import LinkProtocol
import TestSupport
import Testing
import Units

@Suite("Messages on the wire")
struct MessageFixtureTests {
  @Test("encode to their literal bytes", arguments: messageFixtures)
  func encodes(_ fixture: MessageFixture) {
    #expect(fixture.message.encoded() == fixture.bytes)
  }

  @Test("decode from their literal bytes, every field, and withstand all damage", arguments: messageFixtures)
  func decodes(_ fixture: MessageFixture) {
    DecoderVerifier.verifyValue(fixture.bytes, fixture.message, reencode: { $0.encoded() }) { bytes in
      try #require(try Message.decode(bytes))
    }
  }

  @Test("each have a fixture, and each fixture its own type code")
  func isComplete() {
    let covered = Set(messageFixtures.map(\.message.type))
    #expect(covered == Set(MessageType.allCases))
    for fixture in messageFixtures {
      let code = UInt16(fixture.bytes[0]) << 8 | UInt16(fixture.bytes[1])
      #expect(code == fixture.message.type.rawValue, "\(fixture.name)")
    }
  }

  @Test("stand in docs/protocol.md with the same bytes, codes and directions")
  func documentAgrees() throws {
    let document = try String(contentsOf: Self.document, encoding: .utf8)
    let bytes = document.filter { !$0.isWhitespace }
    for fixture in messageFixtures where fixture.isDocumented {
      #expect(bytes.contains(fixture.hex.filter { !$0.isWhitespace }), "\(fixture.name)")
    }
    for type in MessageType.allCases {
      let code = String(format: "0x%04x", type.rawValue)
      let direction =
        switch type.direction {
        case .both: "both"
        case .toGlasses: "to glasses"
        case .fromGlasses: "from glasses"
        case .toCompanion: "to a companion"
        case .fromCompanion: "from a companion"
        }
      #expect(document.contains("#### `\(type)`, \(code), \(direction)\n"), "\(type)")
      #expect(document.contains("| 0 | type | u16 | \(code) |"), "\(type)")
    }
    for code in LinkErrorCode.allCases {
      #expect(document.contains("| \(code.rawValue) | "), "\(code)")
    }
  }

  @Test("name limits in docs/protocol.md as the code has them")
  func limitsAgree() throws {
    let document = try String(contentsOf: Self.document, encoding: .utf8)
    let limits = LinkLimits()
    for row in [
      "| control | 0 | messages, see 6 | \(limits.controlUnit) bytes |",
      "| \(limits.audioUnit / 1_048_576) MiB |", "| \(limits.videoUnit / 1_048_576) MiB |",
      "| \(limits.photoUnit / 1_048_576) MiB |",
      "| chunk payload sent (`chunkPayload`) | \(limits.chunkPayload) bytes |",
      "| units of a channel in assembly (`unitsInAssembly`) | \(limits.unitsInAssembly) |",
      "| pieces of a unit beyond a gap (`piecesAhead`) | \(limits.piecesAhead) |",
      "| hello (`helloDeadline`) | \(limits.helloDeadline.components.seconds) s |",
      "| ping after (`pingAfter`) | \(limits.pingAfter.components.seconds) s of quiet, and between pings |",
      "| lease (`lease`) | \(limits.lease.components.seconds) s of quiet |",
      "| silence (`silenceDeadline`) | \(limits.silenceDeadline.components.seconds) s |",
      "| farewell (`farewellDeadline`) | \(Int(limits.farewellDeadline.milliseconds)) ms |",
      "| feedback interval (`feedbackInterval`) | \(Int(limits.feedbackInterval.milliseconds)) ms |",
      "| control | \(limits.controlQueueUnits) messages |",
      "| audio | its oldest unit \(Int(limits.audioQueueAge.milliseconds)) ms old, or \(limits.audioQueueBytes / 1024) KiB |",
      "8000 to 192000; for Opus", "at least 1, at most \(Int(AudioUnit.longest.milliseconds)) ms |",
      "| photo | \(limits.photoQueueUnits) photos |",
      "at most \(Text.limit), followed by",
    ] { #expect(document.contains(row), "\(row)") }
  }

  /// Beside this file: the package's docs.
  private static let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/protocol.md")
}

@Suite("Message decoding")
struct MessageDecodingTests {
  @Test("skips a type of a newer minor version, and refuses it from an equal one")
  func unknownType() throws {
    let unit: [UInt8] = [0x7f, 0x01, 1, 2, 3]
    #expect(try Message.decode(unit, peerIsNewer: true) == nil)
    #expect(throws: LinkProtocolError(.unknownType(0x7f01), stage: .decoding)) { try Message.decode(unit) }
  }

  @Test("ignores fields that a newer minor version appended, and refuses them from an equal one")
  func trailingFields() throws {
    let message = Message.sessionOpen(SessionOpen(session: SessionID(5)))
    let unit = message.encoded() + [9, 9]
    #expect(try Message.decode(unit, peerIsNewer: true) == message)
    #expect(throws: LinkProtocolError(.trailingBytes(2), stage: .decoding)) { try Message.decode(unit) }
  }

  @Test("reads an error code of a newer peer as unknown")
  func openEnumeration() throws {
    var unit = Message.failure(Failure(scope: .link, code: .timeout)).encoded()
    unit[7] = 0xee
    unit[8] = 0xee
    #expect(try Message.decode(unit) == .failure(Failure(scope: .link, code: .unknown)))
  }

  @Test("names the field of a value that is not allowed")
  func badValues() {
    #expect(throws: LinkProtocolError(.badValue(field: "session", value: 0), stage: .decoding)) {
      try Message.decode([0x02, 0x01, 0, 0, 0, 0])
    }
    #expect(throws: LinkProtocolError(.badValue(field: "batteryLevel", value: 101), stage: .decoding)) {
      try Message.decode([0x01, 0x01, 101, 0, 0, 0, 0])
    }
    #expect(throws: LinkProtocolError(.badText(field: "text"), stage: .decoding)) {
      try Message.decode([0x00, 0x02, 1, 0, 1, 0xff])
    }
    #expect(throws: LinkProtocolError(.truncated(field: "text"), stage: .decoding)) {
      try Message.decode([0x00, 0x02, 1, 0, 9, 0x61])
    }
  }

  @Test("cuts a text that is too long between two characters")
  func longText() throws {
    let text = String(repeating: "é", count: Text.limit)
    let unit = Message.goodbye(Goodbye(reason: .finished, text: text)).encoded()
    let decoded = try Message.decode(unit)
    #expect(decoded == .goodbye(Goodbye(reason: .finished, text: String(repeating: "é", count: Text.limit / 2))))
    let odd = Message.goodbye(Goodbye(reason: .finished, text: "a" + text)).encoded()
    #expect(odd.count == 2 + 1 + 2 + Text.limit - 1)
  }

  @Test("refuses random bytes without trapping")
  func garbage() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<20_000 {
      let type = MessageType.allCases.randomElement(using: &generator)?.rawValue ?? 0
      let count = Int.random(in: 0..<80, using: &generator)
      let body = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
      _ = try? Message.decode(
        [UInt8(type >> 8), UInt8(type & 0xff)] + body, peerIsNewer: Bool.random(using: &generator))
    }
  }

  @Test("says what is wrong and what to do, for every cause")
  func errorTexts() {
    let causes: [LinkProtocolError.Cause] = [
      .unknownChannel(9), .reservedFlags(6), .emptyChunk, .chunkOutsideUnit(offset: 1, length: 2, total: 2),
      .lastFlagWrong, .unitTooLong(.video, length: 9, limit: 8), .unitTooShort(.photo, length: 1),
      .totalChanged(.video, sequence: 4), .controlUnitLost(before: 3), .assemblyOverflow(.photo), .unknownType(7),
      .truncated(field: "x"), .trailingBytes(1), .badValue(field: "x", value: 1), .badText(field: "x"),
      .notThisProtocol, .versionMismatch(peer: ProtocolVersion(major: 2, minor: 1)), .roleMismatch(.app),
      .helloMissing(.ping), .helloMissing(nil), .helloRepeated, .wrongDirection(.streamStart), .mediaFrom(.app, .video),
      .backlog(.control),
    ]
    for cause in causes {
      let error = LinkProtocolError(cause, stage: .state)
      #expect(!error.what.isEmpty && !error.nextStep.isEmpty)
      #expect(error.description == "\(error.what); \(error.nextStep)")
    }
    #expect(
      LinkProtocolError(.versionMismatch(peer: ProtocolVersion(major: 2, minor: 1)), stage: .hello).description
        == "the peer speaks version 2.1, this side 1.0; update the older side")
  }
}
