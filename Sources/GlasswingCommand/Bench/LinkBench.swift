import LinkProtocol
import LinkTransport
import Units

/// An encoded picture into the link to the same one out of it: two connections joined in memory, at a stream's pace and with
/// a stream's sizes of units.
struct LinkBench {
  struct Figures: BenchFigures {
    let framesPerSecond: Int
    let unitBytes: Int
    let syncUnitBytes: Int
    let link: Spread
    let lost: Int

    enum CodingKeys: String, CodingKey {
      case link, lost
      case framesPerSecond = "fps"
      case unitBytes = "unit_bytes"
      case syncUnitBytes = "sync_unit_bytes"
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(framesPerSecond, forKey: .framesPerSecond)
      try container.encode(unitBytes, forKey: .unitBytes)
      try container.encode(syncUnitBytes, forKey: .syncUnitBytes)
      try container.encode(link, forKey: .link)
      try container.encode(lost, forKey: .lost)
      try link.encode(to: encoder)
    }

    var text: String {
      """
      link  \(link.text)
      units of \(unitBytes) bytes, sync units of \(syncUnitBytes), \(framesPerSecond) a second, \(lost) lost

      """
    }
  }

  /// What 1.5 Mbit/s at 30 pictures a second come to, and an IDR picture of 504x896.
  private static let unitBytes = 6000
  private static let syncUnitBytes = 20_000

  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> Figures {
    let rate = arguments.text(.fps).flatMap { Int($0) } ?? 30
    let units = LinkMeasurement(
      unitBytes: Self.unitBytes, syncUnitBytes: Self.syncUnitBytes, rate: rate,
      count: max(1, Int((arguments.duration(.seconds) ?? .seconds(10)).seconds * Double(rate))), timekeeper: timekeeper)
    let ends = MemoryLink.makePair(timekeeper: timekeeper)
    let result = try await units.run(app: ends.app) { ends.glasses }
    guard let spread = Spread(result.times) else {
      throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure")
    }
    return Figures(
      framesPerSecond: rate, unitBytes: Self.unitBytes, syncUnitBytes: Self.syncUnitBytes, link: spread,
      lost: result.sent - result.times.count)
  }
}
