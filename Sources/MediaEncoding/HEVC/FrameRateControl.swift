import Glibc
import Units

/// Chooses the quantizer of each picture so that the stream keeps to a bit rate that may change at any picture.
///
/// Why not the encoder's own rate control: x265 3.5 takes a new bit rate in `x265_encoder_reconfig`, says it has it, and
/// goes on as before. A quantizer forced per picture acts at once.
///
/// The model: near the last quantizer a picture's bits fall by a factor of `2^slope` for each step up. For smooth
/// pictures the slope is a sixth (the quantizer step of H.265, 8.6.1 doubles every 6); where a sensor's noise falls
/// below the quantizer it is ten times that, and a controller that does not know it swings between a picture without
/// noise and one of five times its share. So the slope is learnt from neighbours of different quantizers. What was
/// spent too much is a backlog that later pictures pay off a share at a time. The steps of the quantizer are bounded,
/// since the model is wrong by a lot on large steps: unbounded it once gave one picture a quarter of a megabyte.
///
/// Pictures coded alone (sync units) and cuts have a model of their own, with the smooth slope, and a cost that they may
/// not exceed. A cut is seen before encoding (`FrameDifference`) and may raise the quantizer without a bound, so that it
/// is not a second of data.
///
/// A value without a clock: `quantizer` before a picture, `encoded` after it.
package struct FrameRateControl: Sendable {
  /// What a picture has in common with the one before.
  package enum Kind: Sendable {
    /// Coded from the picture before.
    case predicted
    /// Coded alone: a sync unit.
    case sync
    /// May refer to the picture before, but shows something else.
    case cut
  }

  /// Below, bits and processor time buy nothing that anybody sees; above, there is nothing but blocks.
  package static let quantizers = 20...48
  static let firstQuantizer = 32.0
  /// Quantizer steps between neighbours. Down is slow: the model promises too much there.
  static let largestStepDown = 2.0
  static let largestStepUp = 8.0
  /// How much coarser a sync unit is than the pictures around it, so that it does not stand out by its size.
  static let syncOffset = 1.0
  /// The part of the backlog that one picture pays off.
  static let backlogShare = 0.15
  /// A picture's budget as parts of the even share.
  static let budgetRange = 0.3...1.6
  /// Weight of the newest picture in what the next one is expected to cost.
  static let newestWeight = 0.6
  /// In powers of 2 for each quantizer step.
  static let smoothSlope = 1.0 / 6
  static let steepestSlope = 1.5
  /// Weight of the newest pair of pictures in the slope, and how much of it is forgotten with each picture.
  static let slopeWeight = 0.4
  static let slopeForgetting = 0.03
  /// What a sync unit or a cut may cost, in seconds of the bit rate.
  static let intraAllowance = 0.35
  /// Backlog kept, in seconds of the bit rate: an old debt is not worth a blurred second, an old saving not a burst.
  static let backlogRange = -0.25...1.0

  package private(set) var bitrate: Bitrate
  private let frameRate: Double
  /// What a predicted picture is expected to cost at `lastQuantizer`.
  private var predictedBits: Double?
  private var slope = FrameRateControl.smoothSlope
  /// The last predicted picture, for learning the slope.
  private var lastPredicted: (quantizer: Int, bits: Double)?
  /// What a picture coded alone would cost at quantizer 0, by the smooth slope.
  private var intraBits: Double
  /// Bits spent beyond the even share.
  private var backlog = 0.0
  private var lastQuantizer: Double?
  private var current: (quantizer: Int, kind: Kind)?

  /// - Parameters:
  ///   - frameRate: pictures a second; the even share of a picture is `bitrate / frameRate`.
  ///   - pixels: of one picture; the guess of the first sync unit's cost starts from it.
  package init(bitrate: Bitrate, frameRate: Double, pixels: Int) {
    self.bitrate = Self.bounded(bitrate)
    self.frameRate = frameRate.isFinite ? min(max(frameRate, 1), 240) : 30
    intraBits = Double(max(pixels, 1)) * Self.typicalIntraBitsPerPixel * exp2(Self.firstQuantizer * Self.smoothSlope)
  }

  /// Bits a pixel of a picture coded alone at `firstQuantizer`: 0.3 to 0.55 measured with films and with noise.
  static let typicalIntraBitsPerPixel = 0.5

  /// Takes effect with the next picture. The backlog was a debt at the old rate, and is dropped; the slope was learnt
  /// around the old quantizers, and would hold back the steps to the new ones.
  package mutating func setBitrate(_ new: Bitrate) {
    let bounded = Self.bounded(new)
    guard bounded != bitrate else { return }
    bitrate = bounded
    backlog = 0
    slope = Self.smoothSlope
    lastPredicted = nil
  }

  /// The quantizer for the next picture.
  package mutating func quantizer(for kind: Kind) -> Int {
    let chosen = Int(unclampedQuantizer(for: kind).rounded())
    let quantizer = min(max(chosen, Self.quantizers.lowerBound), Self.quantizers.upperBound)
    current = (quantizer, kind)
    return quantizer
  }

  /// What the picture whose quantizer was last asked for has cost.
  package mutating func encoded(bytes: Int) {
    guard let (quantizer, kind) = current else { return }
    current = nil
    let bits = Double(max(bytes, 1)) * 8
    switch kind {
    case .predicted:
      learnSlope(quantizer, bits)
      let shift = Double(quantizer) - (lastQuantizer ?? Double(quantizer))
      let expected = predictedBits.map { $0 * exp2(-slope * shift) } ?? bits
      predictedBits = (1 - Self.newestWeight) * expected + Self.newestWeight * bits
      lastQuantizer = Double(quantizer)
    case .sync:
      intraBits = bits * exp2(Double(quantizer) * Self.smoothSlope)
      // A sync unit amid a running stream was made coarser on purpose; its neighbour need not be.
      if lastQuantizer == nil { lastQuantizer = Double(quantizer) }
      lastPredicted = nil
    case .cut:
      intraBits = bits * exp2(Double(quantizer) * Self.smoothSlope)
      predictedBits = predictedBits.map { $0 * exp2(-slope * (Double(quantizer) - (lastQuantizer ?? 0))) }
      lastQuantizer = Double(quantizer)
      lastPredicted = nil
    }
    let rate = Double(bitrate.bitsPerSecond)
    backlog += bits - evenShare
    backlog = min(max(backlog, rate * Self.backlogRange.lowerBound), rate * Self.backlogRange.upperBound)
  }

  /// The bits that the next predicted picture should cost.
  var budget: Double {
    let wanted = evenShare - Self.backlogShare * backlog
    return min(max(wanted, evenShare * Self.budgetRange.lowerBound), evenShare * Self.budgetRange.upperBound)
  }

  private var evenShare: Double { Double(bitrate.bitsPerSecond) / frameRate }

  private func unclampedQuantizer(for kind: Kind) -> Double {
    switch kind {
    case .predicted:
      guard let predictedBits, let lastQuantizer else { return lastQuantizer ?? Self.firstQuantizer }
      let wanted = lastQuantizer + log2(predictedBits / max(budget, 1)) / slope
      return min(max(wanted, lastQuantizer - Self.largestStepDown), lastQuantizer + Self.largestStepUp)
    case .sync, .cut:
      let allowance = max(Double(bitrate.bitsPerSecond) * Self.intraAllowance, evenShare)
      let affordable = log2(max(intraBits, 1) / max(allowance, 1)) / Self.smoothSlope
      return max(affordable, (lastQuantizer.map { $0 + Self.syncOffset }) ?? Self.firstQuantizer)
    }
  }

  private mutating func learnSlope(_ quantizer: Int, _ bits: Double) {
    defer { lastPredicted = (quantizer, bits) }
    slope += Self.slopeForgetting * (Self.smoothSlope - slope)
    // Of pictures a step apart, the contents differ more than the quantizers do.
    guard let last = lastPredicted, abs(quantizer - last.quantizer) >= 2 else { return }
    let seen = log2(last.bits / bits) / Double(quantizer - last.quantizer)
    slope += Self.slopeWeight * (min(max(seen, Self.smoothSlope), Self.steepestSlope) - slope)
  }

  /// 10 kbit/s to 100 Mbit/s: outside, neither model nor encoder makes sense.
  private static func bounded(_ bitrate: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: min(max(bitrate.bitsPerSecond, 10_000), 100_000_000))
  }
}
