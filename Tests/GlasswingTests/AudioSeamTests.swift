import Foundation
import LinkProtocol
import MediaEngine
import TestSupport
import Testing
import Units

@testable import GlassesAgent
@testable import MWDATCamera

/// Sound from the capture's blocks to what listeners hear, over changes of the codec between them.
@Suite("Sound whose codec changes")
struct AudioSeamTests {
  private static let formats = [
    PCMFormat(sampleRate: 16_000, channels: 1), PCMFormat(sampleRate: 48_000, channels: 2),
    PCMFormat(sampleRate: 44_100, channels: 1),
  ]

  private static let start = Instant(nanoseconds: 1_000_000_000)

  /// A chord that never repeats within a block.
  private static func chord(_ format: PCMFormat, from first: Int, count: Int) -> [Float] {
    (first..<first + count).flatMap { index -> [Float] in
      let time = Double(index) / Double(format.sampleRate)
      let left = 0.3 * sin(2 * .pi * 441 * time) + 0.15 * sin(2 * .pi * 1237 * time)
      let right = 0.3 * sin(2 * .pi * 613 * time) + 0.15 * sin(2 * .pi * 1811 * time)
      return format.channels == 1 ? [Float(left)] : [Float(left), Float(right)]
    }
  }

  private static func codecs(_ runs: [(AudioCodecID, Int)]) -> [AudioCodecID] {
    runs.flatMap { Array(repeating: $0.0, count: $0.1) }
  }

  @Test(
    "a change to Opus and back, twice, is heard at its place and without a click: no seam errs more than the codec does",
    arguments: formats)
  func seams(format: PCMFormat) throws {
    let length = format.sampleRate / 50
    var coder = AudioCoder(format: format)
    var path = AudioPath(format)
    var pieces: [AudioPath.Piece] = []
    var seams: [(frame: Int, codec: AudioCodecID)] = []
    let codecs = Self.codecs([(.pcmFloat32, 10), (.opus, 40), (.pcmFloat32, 10), (.opus, 40), (.pcmFloat32, 10)])
    for (number, codec) in codecs.enumerated() {
      let block = Self.chord(format, from: number * length, count: length)
      for unit in try coder.code(block, at: number * length, as: codec) {
        let start = Double(unit.index) / Double(format.sampleRate) - unit.early.seconds
        if unit.codec != seams.last?.codec ?? .pcmFloat32 {
          seams.append((Int((start * Double(format.sampleRate)).rounded()), unit.codec))
        }
        try path.take(Self.received(unit, at: start), into: &pieces)
      }
    }
    if let piece = path.finish() { pieces.append(piece) }
    #expect(pieces.first?.start == Self.start)
    #expect(pieces.allSatisfy { $0.missing == 0 && !$0.isDiscontinuity })
    let heard = pieces.flatMap(\.samples)
    #expect(abs(heard.count / format.channels - codecs.count * length) <= 1)
    let wanted = Self.chord(format, from: 0, count: codecs.count * length)
    let errors = zip(heard, wanted).map { abs($0 - $1) }
    func worst(_ from: Int, _ count: Int) -> Float {
      errors.dropFirst(from * format.channels).prefix(count * format.channels).max() ?? 9
    }
    try #require(seams.map(\.codec) == [.opus, .pcmFloat32, .opus, .pcmFloat32])
    // In the middle of a run of packets.
    let usual = worst(seams[0].frame + format.sampleRate / 5, format.sampleRate / 2)
    #expect(usual < 0.03, "\(usual)")
    for seam in seams {
      let around = worst(seam.frame - format.sampleRate / 50, format.sampleRate / 5)
      #expect(around <= 3 * usual, "\(around) at \(seam), where \(usual) is usual")
      guard seam.codec == .pcmFloat32 else { continue }
      // The first samples at 44.1 kHz may lie beside a place of 48 kHz.
      #expect(worst(seam.frame + 2, length) == 0, "\(seam)")
    }
  }

  @Test(
    "behind packets that were lost or damaged, sound is itself again within 50 ms, and what is missing is exactly they",
    arguments: [1, 3, 10], [false, true])
  func gap(lost: Int, isDamaged: Bool) throws {
    let format = PCMFormat(sampleRate: 16_000, channels: 1)
    var coder = AudioCoder(format: format)
    var path = AudioPath(format)
    var pieces: [AudioPath.Piece] = []
    var count = 0
    for number in 0..<80 {
      let block = Self.chord(format, from: number * 320, count: 320)
      for var unit in try coder.code(block, at: number * 320, as: .opus) {
        count += 1
        let isGone = 50..<50 + lost ~= count
        if isGone, !isDamaged { continue }
        if isGone { unit.payload = [0x0b, 0xff, 0xff] }
        let start = Double(unit.index) / 16_000 - unit.early.seconds
        var received = Self.received(unit, at: start)
        if !isDamaged, count == 50 + lost { received.lostBefore = lost }
        do throws(MediaError) {
          try path.take(received, into: &pieces)
        } catch {
          #expect(isGone)
        }
      }
    }
    let gap = try #require(pieces.firstIndex { $0.missing > 0 })
    #expect(pieces[gap].missing == lost * 320 && pieces.count { $0.missing > 0 } == 1)
    let behind = pieces[gap...].flatMap(\.samples)
    let wanted = Self.chord(format, from: Int(pieces[gap].position), count: behind.count)
    let errors = zip(behind, wanted).map { abs($0 - $1) }
    #expect((errors.dropFirst(800).max() ?? 9) < 0.15)
  }

  private static func received(_ unit: CodedAudio, at start: Double) -> ReceivedAudio {
    let time = Self.start + .nanoseconds(Int64((start * 1e9).rounded()))
    return ReceivedAudio(
      unit: AudioUnit(
        stream: StreamID(1), flags: unit.hasHistory ? .history : [], codec: unit.codec,
        sampleRate: UInt32(unit.format.sampleRate),
        channels: UInt8(unit.format.channels), frames: UInt16(unit.frames),
        captured: DeviceTime(nanoseconds: time.nanoseconds),
        payload: unit.payload),
      sequence: 0, presentation: time, arrived: time, lostBefore: 0)
  }
}
