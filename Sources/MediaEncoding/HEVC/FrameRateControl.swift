import Glibc
import Units

/// Chooses the quantizer of each picture so that the stream keeps to a bit rate that may change at any picture.
///
/// Why not the encoder's own rate control: x265 3.5 takes a new bit rate in `x265_encoder_reconfig`, says it has it, and
/// goes on as before. A quantizer forced per picture acts at once.
///
/// The model: a picture costs `complexity · 2^(-qp/6)` bits (the quantizer step of H.265, 8.6.1 doubles every 6), with
/// one complexity for pictures predicted from the one before and one for those that are not (sync units and cuts).
/// What was spent too much is a backlog that later pictures pay off a share at a time. The steps of the quantizer are
/// bounded, since the model is wrong by a lot on large steps: unbounded it once gave one picture a quarter of a
/// megabyte. A cut is seen before encoding (`FrameDifference`) and may raise the quantizer without a bound, so that one
/// cut is not a second of data.
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

  /// Quantizers beyond these waste bits without being seen, or show nothing but blocks.
  package static let quantizers = 18...48
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
  /// Weight of the newest picture in the complexity.
  static let complexityWeight = 0.6
  /// What a sync unit or a cut may cost, in seconds of the bit rate.
  static let intraAllowance = 0.35
  /// Backlog kept, in seconds of the bit rate: an old debt is not worth a blurred second, an old saving not a burst.
  static let backlogRange = -0.25...1.0

  package private(set) var bitrate: Bitrate
  private let frameRate: Double
  private var predictedComplexity: Double?
  private var intraComplexity: Double
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
    intraComplexity = Double(max(pixels, 1)) * Self.typicalIntraBitsPerPixel * Self.steps(Self.firstQuantizer)
  }

  /// Bits a pixel of a picture coded alone at `firstQuantizer`: measured with camera pictures, ultrafast, 504x896.
  static let typicalIntraBitsPerPixel = 0.5

  /// Takes effect with the next picture. The backlog was a debt at the old rate, and is dropped.
  package mutating func setBitrate(_ new: Bitrate) {
    let bounded = Self.bounded(new)
    guard bounded != bitrate else { return }
    bitrate = bounded
    backlog = 0
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
    let complexity = bits * Self.steps(Double(quantizer))
    switch kind {
    case .predicted:
      predictedComplexity = predictedComplexity.map { Self.blend($0, complexity) } ?? complexity
      lastQuantizer = Double(quantizer)
    case .sync:
      intraComplexity = complexity
      // A sync unit amid a running stream was made coarser on purpose; its neighbour need not be.
      if lastQuantizer == nil { lastQuantizer = Double(quantizer) }
    case .cut:
      intraComplexity = complexity
      lastQuantizer = Double(quantizer)
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
      guard let predictedComplexity, let lastQuantizer else { return lastQuantizer ?? Self.firstQuantizer }
      let wanted = Self.quantizer(for: budget, complexity: predictedComplexity)
      return min(max(wanted, lastQuantizer - Self.largestStepDown), lastQuantizer + Self.largestStepUp)
    case .sync, .cut:
      let allowance = max(Double(bitrate.bitsPerSecond) * Self.intraAllowance, evenShare)
      let affordable = Self.quantizer(for: allowance, complexity: intraComplexity)
      return max(affordable, (lastQuantizer.map { $0 + Self.syncOffset }) ?? Self.firstQuantizer)
    }
  }

  private static func steps(_ quantizer: Double) -> Double { exp2(quantizer / 6) }

  private static func quantizer(for bits: Double, complexity: Double) -> Double {
    6 * log2(max(complexity, 1) / max(bits, 1))
  }

  private static func blend(_ old: Double, _ new: Double) -> Double {
    (1 - complexityWeight) * old + complexityWeight * new
  }

  /// 10 kbit/s to 100 Mbit/s: outside, neither model nor encoder makes sense.
  private static func bounded(_ bitrate: Bitrate) -> Bitrate {
    Bitrate(bitsPerSecond: min(max(bitrate.bitsPerSecond, 10_000), 100_000_000))
  }
}
