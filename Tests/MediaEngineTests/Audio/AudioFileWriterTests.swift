import Foundation
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite("Files of sound alone")
struct AudioFileWriterTests {
  private static let format = PCMFormat(sampleRate: 48_000, channels: 2)

  private func append(_ seconds: Double, to file: AudioFileWriter) throws {
    let tone = SineTone.samples(frequency: 1000, sampleRate: 48_000, count: Int(seconds * 48_000))
    try file.append(SineTone.interleaved([tone, tone]), of: Self.format, at: nil)
  }

  @Test("REC-2: WAV beyond 4 GiB says its length and plays, while it grows and when it is complete")
  func longWAV() throws {
    let path = try MediaFactory.newPath("wav")
    let file = try AudioFileWriter(path: path, container: .wav, format: Self.format)
    try append(0.5, to: file)
    let skipped = 540_000_000
    #expect(skipped * 8 > 1 << 32)
    // A hole, so that the disk is spared.
    try file.skip(frames: skipped)
    try append(0.5, to: file)
    let expected = Double(skipped + 48_000) / 48_000
    func check(_ tolerance: Double) throws {
      #expect(abs(try #require(try MediaInspector.duration(path)) - expected) <= tolerance)
      let handle = try #require(FileHandle(forReadingAtPath: path))
      #expect(try handle.read(upToCount: 4) == Data("RF64".utf8))
      let tail = try MediaFactory.newPath("f32")
      let input = ["-v", "error", "-xerror", "-nostdin", "-ss", "\(expected - 0.4)", "-i", path]
      #expect(try CommandLineTool.run("ffmpeg", input + ["-af", "pan=mono|c0=c0", "-f", "f32le", tail]).errors == "")
      let samples = try Data(contentsOf: URL(fileURLWithPath: tail)).withUnsafeBytes {
        Array($0.bindMemory(to: Float.self))
      }
      #expect(abs(samples.count - 19_200) <= Int(tolerance * 48_000) + 1)
      #expect(abs(ToneMeter.level(of: 1000, in: Array(samples.prefix(4800)), sampleRate: 48_000) - 0.5) < 0.01)
    }
    try check(0.26)
    try file.finish()
    try check(1e-6)
  }

  @Test("WAV below 4 GiB stays an ordinary one")
  func shortWAV() throws {
    let path = try MediaFactory.newPath("wav")
    let file = try AudioFileWriter(path: path, container: .wav, format: Self.format)
    try append(0.5, to: file)
    try file.finish()
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    #expect(bytes.starts(with: Array("RIFF".utf8)))
    #expect(bytes[4..<8].enumerated().reduce(0) { $0 + Int($1.element) << (8 * $1.offset) } == bytes.count - 8)
  }

  @Test("REC-2: FLAC's header says how much sound there is, and its checksum")
  func lengthOfFLAC() throws {
    let path = try MediaFactory.newPath("flac")
    let file = try AudioFileWriter(path: path, container: .flac, format: Self.format)
    try append(1.01, to: file)
    try file.finish()
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // RFC 9639, 8.2: 36 bits from the middle of byte 13 of STREAMINFO on, which begins at 8; then 16 bytes of MD5.
    let frames = bytes[21..<26].reduce(0) { $0 << 8 | Int($1) } & 0xf_ffff_ffff
    #expect(frames == 48_480)
    #expect(bytes[26..<42].contains { $0 != 0 })
    #expect(try MediaInspector.duration(path) == 1.01)
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("Sound of another form is converted to its last frame, and begins where it should")
  func lastFrames() throws {
    let path = try MediaFactory.newPath("wav")
    let file = try AudioFileWriter(path: path, container: .wav, format: Self.format)
    let other = PCMFormat(sampleRate: 16_000, channels: 1)
    for block in 0..<10 {
      let time = Instant(nanoseconds: Int64(block) * 20_000_000)
      try file.append([Float](repeating: 0.25, count: 320), of: other, at: time)
    }
    try file.finish()
    let samples = try AudioInspector.samples(path, rate: 48_000, channels: 2)
    #expect(samples.count == 2 * 9600)
    #expect(samples.allSatisfy { abs($0 - 0.25) < 0.02 })
    #expect(file.counts == .init(taken: 9600))
  }
}
