import GlassesAgent
import LinkProtocol
import LinkTransport
import Units

extension WalkFault {
  /// Half of them end faults, so that a walk has good days between the bad ones.
  static func any(_ generator: inout some RandomNumberGenerator) -> WalkFault {
    switch Int.random(in: 0..<40, using: &generator) {
    case 0..<12: .clear
    case 12..<18: .healthy
    case 18, 19:
      .rule(action(&generator), part(&generator), which(&generator), channel(&generator), direction(&generator))
    case 20..<25: .rule(action(&generator), part(&generator), which(&generator), .video, .toApp)
    case 25: .mute(channel(&generator), direction(&generator))
    case 26: .unmute(channel(&generator), direction(&generator))
    case 27: .limit(kilobits: [nil, 100, 400, 2_000].randomElement(using: &generator) ?? nil, direction(&generator))
    case 28, 29:
      .latency(
        milliseconds: Int.random(in: 0...300, using: &generator), jitter: Int.random(in: 0...100, using: &generator),
        direction(&generator))
    case 30, 31: .hold(direction(&generator))
    case 32: .release(direction(&generator))
    case 33: .cut
    case 34:
      .refusesStart(
        [LinkErrorCode.internalError, .heldByOther, .unsupported].randomElement(using: &generator) ?? .timeout)
    case 35: .sendsNothing
    case 36: .ignoresKeyframeRequests
    case 37: .keyframeInterval(seconds: Int.random(in: 1...20, using: &generator))
    case 38:
      .photo(
        [.swallow, .delay(.seconds(3)), .failure(.photoFailed), .failure(.photoBusy)].randomElement(using: &generator)
          ?? .swallow)
    default: .ignoresMessages
    }
  }

  private static func action(_ generator: inout some RandomNumberGenerator) -> LinkConditioner.Action {
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: .drop
    case 1: .delay(.milliseconds(Int.random(in: 1...1_500, using: &generator)))
    case 2: .duplicate
    case 3: .reorder(behind: Int.random(in: 1...4, using: &generator))
    default: .corrupt
    }
  }

  private static func part(_ generator: inout some RandomNumberGenerator) -> LinkConditioner.Part {
    Bool.random(using: &generator) ? .unit : .chunk
  }

  private static func which(_ generator: inout some RandomNumberGenerator) -> LinkConditioner.Which {
    switch Int.random(in: 0..<6, using: &generator) {
    case 0, 1: .next(Int.random(in: 0...5, using: &generator))
    case 2: .range(0..<Int.random(in: 1...40, using: &generator))
    case 3: .every(Int.random(in: 2...20, using: &generator))
    case 4: .all
    default: .random(probability: [0.02, 0.2, 0.9].randomElement(using: &generator) ?? 0.1)
    }
  }

  private static func channel(_ generator: inout some RandomNumberGenerator) -> Channel {
    Channel.allCases.randomElement(using: &generator) ?? .video
  }

  private static func direction(_ generator: inout some RandomNumberGenerator) -> LinkConditioner.Direction {
    Int.random(in: 0..<3, using: &generator) == 0 ? .toGlasses : .toApp
  }
}
