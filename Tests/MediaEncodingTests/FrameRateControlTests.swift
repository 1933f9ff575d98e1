import Glibc
import Testing
import Units

@testable import MediaEncoding

/// An encoder of which only the sizes are known: what pictures cost doubles with each 6 quantizer steps down.
private struct SimulatedEncoder {
  var control: FrameRateControl
  /// Bits of a predicted picture at quantizer 30, and of one coded alone.
  var predictedBits = 40_000.0
  var intraBits = 300_000.0
  /// In powers of 2 for each quantizer step.
  var slope = 1.0 / 6
  private(set) var quantizers: [Int] = []

  init(bitrate: Bitrate, frameRate: Double = 30) {
    control = FrameRateControl(bitrate: bitrate, frameRate: frameRate, pixels: 504 * 896)
  }

  mutating func encode(_ kind: FrameRateControl.Kind, noise: Double = 1) -> Int {
    let quantizer = control.quantizer(for: kind)
    quantizers.append(quantizer)
    let bits: Double
    switch kind {
    case .predicted: bits = predictedBits
    case .sync, .cut: bits = intraBits
    }
    let bytes = Int(bits * noise * exp2(Double(30 - quantizer) * slope) / 8)
    control.encoded(bytes: bytes)
    return bytes
  }

  /// Bits a second over the next pictures.
  mutating func rate(over pictures: Int, frameRate: Double = 30) -> Double {
    var bytes = 0
    for index in 0..<pictures { bytes += encode(.predicted, noise: index % 3 == 0 ? 1.4 : 0.8) }
    return Double(bytes) * 8 * frameRate / Double(pictures)
  }
}

@Suite("Frame rate control")
struct FrameRateControlTests {
  @Test("holds the bit rate within 10 % once it has settled")
  func holdsTheRate() {
    var encoder = SimulatedEncoder(bitrate: .kilobitsPerSecond(1500))
    _ = encoder.encode(.sync)
    _ = encoder.rate(over: 60)
    #expect(abs(encoder.rate(over: 300) - 1_500_000) < 150_000)
  }

  @Test(
    "reaches a new bit rate within ten pictures, up and down",
    arguments: [(1500, 500), (500, 1500), (3000, 800), (800, 2400)])
  func followsAStep(from old: Int64, to new: Int64) {
    var encoder = SimulatedEncoder(bitrate: .kilobitsPerSecond(old))
    _ = encoder.encode(.sync)
    _ = encoder.rate(over: 90)
    encoder.control.setBitrate(.kilobitsPerSecond(new))
    _ = encoder.rate(over: 10)
    let settled = encoder.rate(over: 12)
    #expect(abs(settled - Double(new) * 1000) < Double(new) * 200, "\(settled)")
  }

  @Test("never steps down by more than 2 or up by more than 8 between predicted pictures")
  func boundsSteps() {
    var encoder = SimulatedEncoder(bitrate: .kilobitsPerSecond(3000))
    _ = encoder.encode(.sync)
    for round in 0..<40 {
      encoder.control.setBitrate(.kilobitsPerSecond(round % 2 == 0 ? 100 : 9000))
      _ = encoder.rate(over: 10)
    }
    let steps = zip(encoder.quantizers.dropFirst(1), encoder.quantizers.dropFirst(2)).map { $1 - $0 }
    #expect((steps.min() ?? 0) >= -2)
    #expect((steps.max() ?? 0) <= 8)
    #expect(encoder.quantizers.allSatisfy { FrameRateControl.quantizers.contains($0) })
  }

  @Test("does not swing where a sensor's noise makes pictures cost six times more for two quantizer steps")
  func calmsNoise() {
    var encoder = SimulatedEncoder(bitrate: .kilobitsPerSecond(800))
    encoder.slope = 1.3
    encoder.predictedBits = 24_000
    encoder.intraBits = 100_000
    _ = encoder.encode(.sync)
    _ = encoder.rate(over: 30)
    let sizes = (0..<150).map { encoder.encode(.predicted, noise: $0 % 2 == 0 ? 1.1 : 0.9) }
    let share = 800_000 / 8 / 30
    #expect((sizes.max() ?? 0) < 3 * share, "\(sizes)")
    #expect(abs(sizes.reduce(0, +) - 150 * share) < 150 * share / 10)
  }

  @Test("makes a sync unit a step coarser than its neighbours, and leaves them as they were")
  func coarsensSyncUnits() {
    var encoder = SimulatedEncoder(bitrate: .kilobitsPerSecond(1500))
    // Cheap to code alone, so that the allowance is no limit.
    encoder.intraBits = 60_000
    _ = encoder.encode(.sync)
    _ = encoder.rate(over: 90)
    let before = encoder.quantizers.last ?? 0
    _ = encoder.encode(.sync)
    #expect(encoder.quantizers.last == before + 1)
  }

  @Test("raises the quantizer of a cut as far as it must, beyond any step, so that it costs below half a second")
  func paysForCuts() {
    var encoder = SimulatedEncoder(bitrate: .kilobitsPerSecond(600))
    encoder.predictedBits = 2_000
    _ = encoder.encode(.sync)
    _ = encoder.rate(over: 120)
    let before = encoder.quantizers.last ?? 0
    let bytes = encoder.encode(.cut)
    #expect(bytes * 8 < 300_000, "\(bytes)")
    #expect((encoder.quantizers.last ?? 0) > before + 8)
  }

  @Test("a sync unit costs below half a second even where predicted pictures cost next to nothing")
  func paysForSyncUnits() {
    var encoder = SimulatedEncoder(bitrate: .kilobitsPerSecond(600))
    encoder.predictedBits = 500
    _ = encoder.encode(.sync)
    _ = encoder.rate(over: 120)
    _ = encoder.encode(.sync)
    _ = encoder.rate(over: 60)
    #expect(encoder.encode(.sync) * 8 < 300_000)
  }

  @Test("survives bit rates, frame rates and sizes that make no sense")
  func survivesNonsense() {
    for bitrate in [Int64.min, -1, 0, 1, .max] {
      for frameRate in [Double.nan, -.infinity, 0, .infinity] {
        var control = FrameRateControl(
          bitrate: Bitrate(bitsPerSecond: bitrate), frameRate: frameRate, pixels: bitrate > 0 ? .max : .min)
        for bytes in [0, -5, .max, 1] {
          let quantizer = control.quantizer(for: .predicted)
          #expect(FrameRateControl.quantizers.contains(quantizer))
          control.encoded(bytes: bytes)
          control.setBitrate(Bitrate(bitsPerSecond: bitrate &+ 1))
        }
      }
    }
  }
}
