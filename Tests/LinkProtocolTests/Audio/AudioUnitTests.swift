import Foundation
import TestSupport
import Testing
import Units

@testable import LinkProtocol

@Suite("Units of sound on the wire")
struct AudioUnitTests {
  /// As docs/protocol.md shows them: two frames of stereo, -0.5, 0.25, 1 and 0; and an Opus packet of three bytes.
  private static let pcm = """
    00 00 00 02 00 00 00 00 07 5b cd 15 00 00 bb 80 00 02 04 01 02 00 00 00
    00 00 00 bf 00 00 80 3e 00 00 80 3f 00 00 00 00
    """
  private static let opus = """
    00 00 00 02 00 00 00 00 07 5b cd 15 00 00 bb 80 03 c0 00 02 01 00 00 00 08 ff fe
    """

  private static let pcmUnit = AudioUnit(
    stream: StreamID(2), flags: .discontinuity, codec: .pcmFloat32, sampleRate: 48_000, channels: 2, frames: 2,
    captured: DeviceTime(nanoseconds: 123_456_789),
    payload: [0, 0, 0, 0xbf, 0, 0, 0x80, 0x3e, 0, 0, 0x80, 0x3f, 0, 0, 0, 0])
  private static let opusUnit = AudioUnit(
    stream: StreamID(2), codec: .opus, sampleRate: 48_000, channels: 1, frames: 960,
    captured: DeviceTime(nanoseconds: 123_456_789), payload: [0x08, 0xff, 0xfe])

  private static func bytes(_ hex: String) -> [UInt8] {
    hex.split(whereSeparator: \.isWhitespace).compactMap { UInt8($0, radix: 16) }
  }

  @Test("encode to their literal bytes, decode from them with every field, and stand in docs/protocol.md")
  func fixtures() throws {
    let document = try String(contentsOf: Self.document, encoding: .utf8).filter { !$0.isWhitespace }
    for (hex, unit) in [(Self.pcm, Self.pcmUnit), (Self.opus, Self.opusUnit)] {
      let bytes = Self.bytes(hex)
      #expect(UnitHead.encode(unit) + unit.payload == bytes)
      let (head, body) = (Array(bytes.prefix(UnitHead.audioLength)), Array(bytes.dropFirst(UnitHead.audioLength)))
      #expect(UnitHead.decode(audio: head, payload: body) == unit)
      #expect(document.contains(hex.filter { !$0.isWhitespace }))
    }
  }

  @Test("a damaged head or payload gives another sound unit or none, never a trap")
  func damage() {
    for unit in [Self.pcmUnit, Self.opusUnit] {
      let head = UnitHead.encode(unit)
      for damaged in DecoderVerifier.damaged(head) {
        guard let read = UnitHead.decode(audio: damaged, payload: unit.payload) else { continue }
        #expect(read.isPlausible && damaged.count >= head.count - 3)
        #expect(UnitHead.decode(audio: UnitHead.encode(read), payload: read.payload) == read)
      }
      for damaged in DecoderVerifier.damaged(unit.payload) {
        guard let read = UnitHead.decode(audio: head, payload: damaged) else { continue }
        #expect(read.isPlausible)
      }
    }
  }

  @Test("what does not go together is no unit")
  func implausible() {
    func changed(_ unit: AudioUnit = Self.pcmUnit, _ change: (inout AudioUnit) -> Void) -> Bool {
      var unit = unit
      change(&unit)
      return unit.isPlausible
    }
    #expect(Self.pcmUnit.isPlausible && Self.opusUnit.isPlausible && AudioUnit.sound().isPlausible)
    #expect(!changed { $0.payload.removeLast() })
    #expect(!changed { $0.payload.append(0) })
    #expect(!changed { $0.frames = 1 })
    #expect(!changed { $0.frames = 0 })
    #expect(!changed { $0.channels = 1 })
    #expect(!changed { ($0.channels, $0.frames, $0.payload) = (3, 1, [UInt8](repeating: 0, count: 12)) })
    for (rate, fits) in [(7999, false), (8000, true), (192_000, true), (192_001, false), (UInt32.max, false)] {
      #expect(changed { $0.sampleRate = rate } == fits)
    }
    // No number, and an infinity.
    #expect(!changed { $0.payload.replaceSubrange(0..<4, with: [1, 0, 0xc0, 0x7f]) })
    #expect(!changed { $0.payload.replaceSubrange(12..<16, with: [0, 0, 0x80, 0xff]) })
    #expect(changed { $0.payload.replaceSubrange(0..<4, with: [0xff, 0xff, 0x7f, 0x7f]) })
    // Opus: rates that it has, packets of 120 ms at most.
    #expect(!changed(Self.opusUnit) { $0.sampleRate = 44_100 })
    #expect(changed(Self.opusUnit) { $0.frames = 5760 })
    #expect(!changed(Self.opusUnit) { $0.frames = 5761 })
    #expect(!changed(Self.opusUnit) { $0.payload = [] })
    // A head of any bytes.
    for value in [UInt8(0), 0xff] {
      #expect(UnitHead.decode(audio: [UInt8](repeating: value, count: 24), payload: [1]) == nil)
    }
    #expect(UnitHead.decode(audio: [], payload: []) == nil)
  }

  private static let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "docs/protocol.md")
}

@Suite("Audio queue")
struct AudioQueueTests {
  private let start = Instant(nanoseconds: 1_000_000_000)

  private func drain(_ queue: inout AudioQueue, at now: Instant) -> [AudioUnit] {
    var units: [AudioUnit] = []
    while let unit = queue.popFirst(at: now).unit { units.append(unit) }
    return units
  }

  @Test("keeps what is at most 500 ms old; then the oldest go, and the next one says so (PERF-2)")
  func age() {
    var queue = AudioQueue(ageLimit: .milliseconds(500), byteLimit: 1_000_000)
    for index in 0...25 {
      #expect(queue.append(.sound(filler: UInt8(index)), at: start + .milliseconds(20 * index)).isEmpty)
    }
    #expect(queue.append(.sound(filler: 26), at: start + .milliseconds(520)) == [.init(stream: StreamID(1), units: 1)])
    #expect(queue.trim(at: start + .milliseconds(560)) == [.init(stream: StreamID(1), units: 2)])
    let left = drain(&queue, at: start + .milliseconds(560))
    #expect(left.map { $0.payload[1] } == Array(3...26))
    #expect(left.map { $0.flags.contains(.discontinuity) } == [true] + [Bool](repeating: false, count: 23))
    #expect(queue.bytes == 0 && queue.count == 0)
    #expect(queue.appended == 27 && queue.gone == 27)
  }

  @Test("is bounded by bytes as well, and a unit longer than that goes, too")
  func bytes() {
    var queue = AudioQueue(ageLimit: .milliseconds(500), byteLimit: 3000)
    #expect(queue.append(.sound(filler: 1), at: start).isEmpty)
    #expect(queue.append(.sound(filler: 2), at: start).isEmpty)
    #expect(queue.append(.sound(filler: 3), at: start).map(\.units) == [1])
    #expect(queue.bytes == 2560)
    #expect(queue.append(.sound(frames: 1000, filler: 4), at: start).map(\.units) == [3])
    #expect(queue.count == 0 && queue.bytes == 0)
    _ = queue.append(.sound(filler: 5), at: start)
    #expect(drain(&queue, at: start).map(\.flags) == [.discontinuity])
  }

  @Test("marks each stream by itself, once")
  func streams() {
    var queue = AudioQueue(ageLimit: .milliseconds(500), byteLimit: 1_000_000)
    _ = queue.append(.sound(stream: 1), at: start)
    _ = queue.append(.sound(stream: 2), at: start + .milliseconds(300))
    _ = queue.append(.sound(stream: 1), at: start + .milliseconds(300))
    _ = queue.append(.sound(stream: 1), at: start + .milliseconds(320))
    let left = drain(&queue, at: start + .milliseconds(600))
    #expect(left.map(\.stream.value) == [2, 1, 1])
    #expect(left.map(\.flags) == [[], .discontinuity, []])
  }
}
