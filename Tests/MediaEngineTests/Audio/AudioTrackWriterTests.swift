import Foundation
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite("Sound by its times")
struct AudioTrackWriterTests {
  private static let format = PCMFormat(sampleRate: 16_000, channels: 1)

  private func track(
    _ codec: AudioEncoder.Codec = .pcm16, _ format: PCMFormat = format, fillsAllGaps: Bool = true
  ) throws -> AudioTrackWriter {
    AudioTrackWriter(encoder: try AudioEncoder(codec, format), fillsAllGaps: fillsAllGaps)
  }

  /// All that is left to do.
  private func packets(_ track: inout AudioTrackWriter) throws -> [AudioTrackWriter.Packet] {
    var packets: [AudioTrackWriter.Packet] = []
    while let coded = try track.code() { packets += coded }
    return packets
  }

  private func instant(_ seconds: Double) -> Instant { Instant(nanoseconds: Int64(seconds * 1e9)) }

  @Test("A gap of any length is coded in pieces; a gap of an hour takes an hour of the file and no memory")
  func pieces() throws {
    var track = try track()
    try track.append([Float](repeating: 0.5, count: 320), of: Self.format, at: instant(1))
    try track.append([Float](repeating: 0.5, count: 320), of: Self.format, at: instant(31.02))
    var frames = 0
    while let coded = try track.code() {
      let piece = coded.reduce(0) { $0 + $1.frames }
      #expect(piece <= 4096 + track.encoder.packetFrames)
      frames += piece
    }
    #expect(frames == 320 + 480_000 + 320)
    try track.append([Float](repeating: 0.5, count: 320), of: Self.format, at: instant(31.04 + 3600))
    #expect(track.counts.filled == 30 * 16_000 + 3600 * 16_000)
    #expect(track.counts.restarts == 0)
    #expect(abs(track.length.seconds - 3630.06) < 0.001)
  }

  @Test(
    "A time that is more than an hour ahead, or far behind, makes no silence: the sound goes on whole, and is counted",
    arguments: [3602.0, 1e8, -11, -1e8], [true, false])
  func absurdTimes(_ jump: Double, _ fillsAllGaps: Bool) throws {
    var track = try track(fillsAllGaps: fillsAllGaps)
    let samples = (0..<320).map { Float($0) / 320 }
    try track.append(samples, of: Self.format, at: instant(100))
    try track.append(samples, of: Self.format, at: instant(100.02))
    // A clock that began anew: what follows is by that one.
    for number in 0..<3 {
      try track.append(samples, of: Self.format, at: instant(100.04 + jump + Double(number) * 0.02))
    }
    #expect(track.counts == .init(taken: 5 * 320, restarts: 1))
    // By which 0.1 s are missing here.
    try track.append(samples, of: Self.format, at: instant(100.2 + jump))
    #expect(track.counts == .init(taken: 6 * 320, filled: 1600, restarts: 1))
    try track.finish()
    let coded = try packets(&track)
    let bytes = coded.flatMap(\.bytes)
    #expect(bytes.count == 2 * track.counts.written)
    let own = (0..<5).flatMap { _ in samples }.flatMap { sample in
      withUnsafeBytes(of: Int16((sample * 32_768).rounded()).littleEndian) { Array($0) }
    }
    #expect(Array(bytes.prefix(own.count)) == own, "nothing was lost or put in between")
  }

  @Test(
    "One wrong time among right ones costs nothing: what follows is where it belongs", arguments: [Int64.max, .min])
  func oneWrongTime(_ wrong: Int64) throws {
    var track = try track()
    for number in 0..<6 {
      let time = number == 3 ? Instant(nanoseconds: wrong) : instant(100 + Double(number) * 0.02)
      try track.append([Float](repeating: 0.5, count: 320), of: Self.format, at: time)
    }
    #expect(track.counts == .init(taken: 6 * 320, restarts: 2))
    #expect(abs((try #require(track.next) - instant(100.12)).seconds) < 0.001)
  }

  @Test("Sound without times follows what came before; the first time says when all of it was")
  func withoutTimes() throws {
    var track = try track()
    let samples = [Float](repeating: 0.5, count: 320)
    for _ in 0..<3 { try track.append(samples, of: Self.format, at: nil) }
    #expect(abs(track.length.seconds - 0.06) < 1e-6)
    try track.append(samples, of: Self.format, at: instant(5000))
    #expect(track.counts == .init(taken: 4 * 320))
    try track.append(samples, of: Self.format, at: nil)
    try track.append(samples, of: Self.format, at: instant(5000.06))
    #expect(track.counts == .init(taken: 6 * 320, filled: 320))
  }

  @Test("Where sound's form changes, no frame is lost and none is shifted", arguments: [44_100, 16_000, 8000])
  func changesOfForm(_ rate: Int) throws {
    let own = PCMFormat(sampleRate: 48_000, channels: 1)
    var track = try track(.pcmFloat, own)
    /// A second of it in blocks of 20 ms, each with its time.
    func append(_ format: PCMFormat, from start: Double) throws {
      let frames = format.sampleRate / 50
      for block in 0..<50 {
        let time = start + Double(block) / 50
        let samples = (0..<frames).map { Self.tone(at: time + Double($0) / Double(format.sampleRate)) }
        try track.append(samples, of: format, at: instant(time))
      }
    }
    let other = PCMFormat(sampleRate: rate, channels: 1)
    try append(own, from: 0)
    try append(other, from: 1)
    try append(own, from: 2)
    try append(other, from: 3)
    // A gap, too, comes after what the filter held back.
    try append(other, from: 4.5)
    try track.finish()
    #expect(track.counts == .init(taken: 5 * 48_000, filled: 24_000))
    let samples = try packets(&track).flatMap(\.bytes).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
    #expect(samples.count == 264_000)
    for (index, sample) in samples.enumerated() where !(192_000..<216_000).contains(index) {
      let time = Double(index) / 48_000
      // A filter has nothing to go by beyond the edges.
      guard [0, 1, 2, 3, 4, 4.5, 5.5].allSatisfy({ abs(time - $0) > 0.005 }) else { continue }
      guard abs(sample - Self.tone(at: time)) > 0.005 else { continue }
      Issue.record("\(sample) instead of \(Self.tone(at: time)) at \(time) s")
      return
    }
    #expect(samples[192_000..<216_000].allSatisfy { abs($0) == 0 })
    for edge in [48_000, 96_000, 144_000, 192_000, 264_000] { #expect(samples[edge - 40..<edge].contains { $0 != 0 }) }
  }

  @Test("Sound that stops before the pictures is silent up to their end; what lacks beside them counts as missing")
  func padding() throws {
    let samples = [Float](repeating: 0.5, count: 16_000)
    for (last, expected) in [
      (100.9..<100.95, AudioTrackWriter.Counts(taken: 16_000)), (100.98..<101.015, .init(taken: 16_000)),
      (100.98..<101.48, .init(taken: 16_000, padded: 7680)),
      (102.0..<102.5, .init(taken: 16_000, filled: 16_000, padded: 8000)), (120.0..<120.5, .init(taken: 16_000)),
    ] {
      var track = try track()
      try track.append(samples, of: Self.format, at: instant(100))
      try track.finish(beside: instant(last.lowerBound)..<instant(last.upperBound))
      #expect(track.counts == expected)
      #expect(try packets(&track).reduce(0) { $0 + $1.frames } == expected.written)
    }
  }

  private static func tone(at time: Double) -> Float { Float(0.5 * sin(2 * Double.pi * 440 * time)) }
}
