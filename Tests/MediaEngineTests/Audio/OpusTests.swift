import Foundation
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite("Opus on the link")
struct OpusTests {
  private func coded(_ samples: [Float], channels: Int, bitrate: Bitrate) throws -> (packets: [[UInt8]], ahead: Int) {
    let encoder = try OpusEncoder(PCMFormat(sampleRate: 48_000, channels: channels), bitrate: bitrate)
    let step = OpusEncoder.packetFrames * channels
    let packets = try stride(from: 0, to: samples.count, by: step).map {
      try encoder.encode(Array(samples[$0..<min($0 + step, samples.count)]))
    }
    return (packets, encoder.lookahead)
  }

  @Test("Each 20 ms is a packet of its own, and comes back as 960 frames", arguments: [1, 2])
  func packets(_ channels: Int) throws {
    let tone = SineTone.samples(frequency: 1000, sampleRate: 48_000, count: 48_000)
    let (packets, _) = try coded(
      SineTone.interleaved(Array(repeating: tone, count: channels)), channels: channels,
      bitrate: .kilobitsPerSecond(32))
    #expect(packets.count == 50)
    let bytes = packets.reduce(0) { $0 + $1.count }
    #expect(bytes < 32_000 / 8 * 3 / 2, "\(bytes) bytes in a second")
    let decoder = try OpusDecoder(PCMFormat(sampleRate: 48_000, channels: channels))
    for packet in packets { #expect(try decoder.decode(packet).count == 960 * channels) }
  }

  @Test("Sound comes back in its place: the look-ahead is what the encoder says", arguments: [1, 2])
  func place(_ channels: Int) throws {
    // A beep that begins at once, 0.5 s in.
    let silence = [Float](repeating: 0, count: 24_000)
    let beep = SineTone.samples(frequency: 1000, level: 0.25, sampleRate: 48_000, count: 24_000)
    let (packets, ahead) = try coded(
      SineTone.interleaved(Array(repeating: silence + beep, count: channels)), channels: channels,
      bitrate: .kilobitsPerSecond(64))
    #expect(0..<480 ~= ahead, "at most 10 ms, that is for low delay")
    let decoder = try OpusDecoder(PCMFormat(sampleRate: 48_000, channels: 1))
    var detector = BeepDetector(level: 0.25, sampleRate: 48_000)
    for (number, packet) in packets.enumerated() {
      detector.take(try decoder.decode(packet), at: Double(number * 960 - ahead) / 48_000)
    }
    #expect(detector.onsets.count == 1)
    #expect(abs(try #require(detector.onsets.first) - 0.5) < 0.001)
  }

  @Test("Level, pitch and sides survive")
  func fidelity() throws {
    let left = SineTone.samples(frequency: 440, level: 0.5, sampleRate: 48_000, count: 96_000)
    let right = SineTone.samples(frequency: 1000, level: 0.25, sampleRate: 48_000, count: 96_000)
    let (packets, _) = try coded(
      SineTone.interleaved([left, right]), channels: 2, bitrate: .kilobitsPerSecond(96))
    let decoder = try OpusDecoder(PCMFormat(sampleRate: 48_000, channels: 2))
    let output = try packets.flatMap { try decoder.decode($0) }
    let sides = (0..<2).map { side in stride(from: side, to: output.count, by: 2).map { output[$0] }.suffix(48_000) }
    #expect(abs(ToneMeter.level(of: 440, in: Array(sides[0]), sampleRate: 48_000) - 0.5) < 0.02)
    #expect(ToneMeter.level(of: 1000, in: Array(sides[0]), sampleRate: 48_000) < 0.02)
    #expect(abs(ToneMeter.level(of: 1000, in: Array(sides[1]), sampleRate: 48_000) - 0.25) < 0.02)
  }

  @Test("The last packet may be short, and more than a packet is refused")
  func sizes() throws {
    let encoder = try OpusEncoder(PCMFormat(sampleRate: 48_000, channels: 2), bitrate: .kilobitsPerSecond(64))
    #expect(try !encoder.encode([0.1, 0.1]).isEmpty)
    #expect(try !encoder.encode([]).isEmpty)
    expectCause(.malformedData) { try encoder.encode([Float](repeating: 0, count: 1922)) }
    #expect(try !encoder.encode([Float](repeating: 0, count: 1920)).isEmpty)
  }

  @Test("Lost and damaged packets are an error of their own; the next ones decode")
  func damage() throws {
    let tone = SineTone.samples(frequency: 1000, sampleRate: 48_000, count: 96_000)
    let (packets, _) = try coded(tone, channels: 1, bitrate: .kilobitsPerSecond(64))
    let decoder = try OpusDecoder(PCMFormat(sampleRate: 48_000, channels: 1))
    var output: [Float] = []
    for (number, packet) in packets.enumerated() {
      switch number {
      case 10..<20: continue
      case 30: expectCause(.damagedAudio) { try decoder.decode([]) }
      // Code 3 (RFC 6716, 3.2.5) with a count of 0 frames.
      case 40: expectCause(.damagedAudio) { try decoder.decode([0x03, 0x00]) }
      case _: output = try decoder.decode(packet)
      }
    }
    #expect(abs(ToneMeter.level(of: 1000, in: output, sampleRate: 48_000) - 0.5) < 0.02)
    decoder.reset()
    #expect(try decoder.decode(packets[0]).count == 960)
  }

  @Test(
    "Two packets joined into one decode to what they do one after the other, bit for bit",
    arguments: [32, 192] as [Int64])
  func joined(kilobits: Int64) throws {
    let tone = SineTone.samples(frequency: 1000, sampleRate: 48_000, count: 4800)
    let (packets, _) = try coded(tone, channels: 1, bitrate: .kilobitsPerSecond(kilobits))
    let decoder = try OpusDecoder(PCMFormat(sampleRate: 48_000, channels: 1))
    let wanted = try decoder.decode(packets[0]) + decoder.decode(packets[1])
    decoder.reset()
    #expect(try decoder.decode(#require(OpusPacket.joined(packets[0], packets[1]))) == wanted)
    // Of another configuration, of two frames already, too long, or none.
    var other = packets[1]
    other[0] ^= 0x08
    #expect(OpusPacket.joined(packets[0], other) == nil)
    other[0] = packets[1][0] | 1
    #expect(OpusPacket.joined(other, other) == nil)
    #expect(OpusPacket.joined(packets[0], packets[0].prefix(1) + [UInt8](repeating: 0, count: 1276)) == nil)
    #expect(OpusPacket.joined([], []) == nil)
  }

  @Test("Opus runs at 48 kHz, and says so")
  func formats() throws {
    #expect(
      OpusEncoder.format(for: PCMFormat(sampleRate: 44_100, channels: 2))
        == PCMFormat(sampleRate: 48_000, channels: 2))
    expectCause(.audioFormatNotSupported) {
      try OpusEncoder(PCMFormat(sampleRate: 44_100, channels: 1), bitrate: .kilobitsPerSecond(32))
    }
    expectCause(.audioFormatNotSupported) { try OpusDecoder(PCMFormat(sampleRate: 16_000, channels: 1)) }
    expectCause(.audioFormatNotSupported) { try OpusDecoder(PCMFormat(sampleRate: 48_000, channels: 3)) }
  }
}
