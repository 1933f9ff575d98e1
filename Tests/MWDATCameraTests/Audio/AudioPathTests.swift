import LinkProtocol
import MediaEngine
import TestSupport
import Testing
import Units

@testable import MWDATCamera

/// Units that can't be used, on their way through one stream's decoder, timeline and resampler.
@Suite("The path of sound")
struct AudioPathTests {
  private static let start = Instant(nanoseconds: 1_000_000_000)

  /// A second of units of 20 ms; unit n is what `damage` makes of it.
  private func run(
    _ sent: PCMFormat, as codec: AudioCodecID, to format: PCMFormat, _ damage: (Int, inout AudioUnit) -> Void
  ) throws -> (pieces: [AudioPath.Piece], refused: Int) {
    let encoder = codec == .opus ? try OpusEncoder(sent, bitrate: .kilobitsPerSecond(64)) : nil
    let frames = sent.sampleRate / 50
    var path = AudioPath(format)
    var pieces: [AudioPath.Piece] = []
    var refused = 0
    for number in 0..<50 {
      let tone = SineTone.samples(frequency: 500, sampleRate: sent.sampleRate, count: frames, from: number * frames)
      let samples = sent.channels == 1 ? tone : tone.flatMap { [$0, $0] }
      let payload = try encoder?.encode(samples) ?? samples[...].bytes
      var unit = AudioUnit(
        stream: StreamID(1), codec: codec, sampleRate: UInt32(sent.sampleRate), channels: UInt8(sent.channels),
        frames: UInt16(frames), captured: DeviceTime(nanoseconds: 0), payload: payload)
      damage(number, &unit)
      let time = Self.start + .milliseconds(20 * Int64(number))
      let received = ReceivedAudio(
        unit: unit, sequence: UInt32(number), presentation: time, arrived: time, lostBefore: 0)
      do throws(MediaError) {
        try path.take(received, into: &pieces)
      } catch {
        #expect(error.cause == .damagedAudio)
        refused += 1
      }
    }
    if let piece = path.finish() { pieces.append(piece) }
    return (pieces, refused)
  }

  private static let forms = [
    (PCMFormat(sampleRate: 16_000, channels: 1), AudioCodecID.pcmFloat32, PCMFormat(sampleRate: 16_000, channels: 1)),
    (PCMFormat(sampleRate: 48_000, channels: 2), .opus, PCMFormat(sampleRate: 48_000, channels: 2)),
    (PCMFormat(sampleRate: 48_000, channels: 1), .opus, PCMFormat(sampleRate: 44_100, channels: 1)),
    (PCMFormat(sampleRate: 44_100, channels: 1), .pcmFloat32, PCMFormat(sampleRate: 16_000, channels: 1)),
  ]

  @Test(
    "units that can't be used are missing, one by one or several in a row: the count stays exact and times follow (AUD-2)",
    arguments: forms.indices)
  func damaged(index: Int) throws {
    let (sent, codec, format) = Self.forms[index]
    let bad: Set = [5, 20, 21, 22, 40]
    let (pieces, refused) = try run(sent, as: codec, to: format) { number, unit in
      if bad.contains(number) { unit.payload = codec == .opus ? [0x0b, 0xff, 0xff] : [1, 2, 3, 4] }
    }
    #expect(refused == 5)
    let missing = pieces.map(\.missing).filter { $0 > 0 }
    #expect(missing.count == 3 && pieces.count { $0.isDiscontinuity } == 3)
    // What a filter holds when a gap comes is rounded to whole frames.
    for (found, units) in zip(missing, [1, 3, 1]) {
      #expect(abs(found - units * format.sampleRate / 50) <= 1, "\(missing)")
    }
    var position: Int64 = 0
    for piece in pieces {
      position += Int64(piece.missing)
      #expect(piece.position == position)
      let expected = Self.start + format.duration(frames: Int(position))
      #expect((piece.start - expected).nanoseconds.magnitude <= 1)
      position += Int64(piece.samples.count / format.channels)
    }
    #expect(abs(Int(position) - format.sampleRate) <= 1, "\(position)")
  }

  @Test(
    "a packet that decodes to less than its unit says is refused; of one that decodes to more the first frames count")
  func lengths() throws {
    let form = PCMFormat(sampleRate: 48_000, channels: 1)
    let (less, refused) = try run(form, as: .opus, to: form) { number, unit in
      if number == 30 { unit.frames = 961 }
      if number == 31 { unit.payload = [] }
    }
    #expect(refused == 2)
    #expect(less.reduce(0) { $0 + $1.samples.count + $1.missing } == 48_000)
    #expect(less.map(\.missing).filter { $0 > 0 } == [1920])
    let (more, none) = try run(form, as: .opus, to: form) { number, unit in
      if number == 49 { unit.frames = 100 }
    }
    #expect(none == 0 && more.reduce(0) { $0 + $1.samples.count } == 49 * 960 + 100)
  }
}

extension ArraySlice<Float> {
  fileprivate var bytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
