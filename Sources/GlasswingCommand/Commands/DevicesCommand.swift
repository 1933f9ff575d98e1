import LinkProtocol
import MWDATCore
import Units

/// `glasswing devices`: the paired glasses and how they are.
struct DevicesCommand {
  /// For `--json`, one for each pair of glasses.
  struct Row: Codable, Equatable {
    let identifier: String
    let name: String
    let model: String
    /// As in `GlassesListing.Presence`.
    let presence: String
    /// Percent.
    let battery: Int?
    let charging: String
    let worn: String
    let hinge: String
    let thermal: String
    let addresses: [String]
    let port: Int
  }

  /// Long enough for a handshake with each over a slow network.
  private static let patience: Duration = .seconds(2)

  let arguments: Arguments

  init(_ arguments: Arguments) { self.arguments = arguments }

  func run() async throws(CommandFailure) -> ExitStatus {
    let environment = try await CompanionAccess.shared.environment()
    let rows = await Self.settled(environment).map(Row.init)
    guard !arguments.has(.json) else {
      try Console.shared.result(JSONResult.text(rows))
      return .done
    }
    guard !rows.isEmpty else {
      Console.shared.log("no glasses are paired; pair some with glasswing pair")
      return .done
    }
    try Console.shared.result(Self.table(rows))
    return .done
  }

  /// The listings once none is on the way to being connected any more, or patience has ended.
  static func settled(_ environment: CompanionEnvironment) async -> [GlassesListing] {
    let gate = ResumeOnce<Void>()
    let look: @Sendable () -> Void = {
      if !environment.client.listings.contains(where: { $0.presence == .connecting }) { gate.resume(with: ()) }
    }
    let tokens = ListenerTokenBag()
    for listing in environment.client.listings {
      Wearables.shared.deviceForIdentifier(listing.identifier)?.addDeviceStateListener { _ in look() }.store(in: tokens)
    }
    look()
    await gate.value(within: patience, on: environment.timekeeper, else: ())
    withExtendedLifetime(tokens) {}
    return environment.client.listings
  }

  /// Columns as wide as their widest entry, for a terminal of 80 columns where names allow it.
  static func table(_ rows: [Row]) -> String {
    let head = ["NAME", "IDENTIFIER", "STATE", "BATTERY", "ADDRESS"]
    let lines =
      [head]
      + rows.map { row in
        [
          row.name, row.identifier, row.shownState, row.battery.map { "\($0) %" } ?? "-",
          row.addresses.first.map { $0.contains(":") ? "[\($0)]:\(row.port)" : "\($0):\(row.port)" } ?? "-",
        ]
      }
    let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
    return lines.map { line in
      let cells = line.enumerated().map { index, cell in
        index == line.count - 1 ? cell : cell + String(repeating: " ", count: widths[index] - cell.count)
      }
      return cells.joined(separator: "  ") + "\n"
    }.joined()
  }
}

extension DevicesCommand.Row {
  init(_ listing: GlassesListing) {
    self.init(
      identifier: listing.identifier, name: listing.name, model: listing.model, presence: "\(listing.presence)",
      battery: listing.state.batteryLevel.map(Int.init), charging: "\(listing.state.charging)",
      worn: "\(listing.state.wear)", hinge: "\(listing.state.hinge)", thermal: "\(listing.state.thermal)",
      addresses: listing.addresses, port: Int(listing.port))
  }

  fileprivate var shownState: String {
    switch presence {
    case "connected": worn == "donned" ? "connected, worn" : hinge == "closed" ? "connected, folded" : "connected"
    case "unpaired": "not paired any more"
    case "incompatible": "other version"
    case _: presence
    }
  }
}
