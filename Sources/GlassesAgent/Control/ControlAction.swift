import LinkProtocol

/// What can be done to simulated glasses and their pairing from outside, as words say it.
package enum ControlAction: Hashable, Sendable {
  case status
  case fold, unfold, don, doff, tap, hold
  case power(Bool)
  /// Percent; nil when the glasses shall not know.
  case battery(Int?)
  case charging(Bool)
  case thermal(DeviceStateReport.Thermal)
  case pair(Bool)
  case hosts
  /// A host by its name or by its key's pin.
  case unpair(String)

  /// The first word of each action, in the order in which help lists them.
  package enum Name: String, CaseIterable, Sendable {
    case status, fold, unfold, don, doff, power, battery, charging, thermal, tap, hold, pair, hosts, unpair

    /// What the second word may be, in words for people; nil where there is none.
    package var value: String? {
      switch self {
      case .status, .fold, .unfold, .don, .doff, .tap, .hold, .hosts: nil
      case .power, .charging: "on or off"
      case .battery: "a number from 0 to 100, or unknown"
      case .thermal: Self.levels.map(\.name).joined(separator: ", ")
      case .pair: "on or off; without it, on"
      case .unpair: "a host's name or pin"
      }
    }

    fileprivate static let levels: [(name: String, level: DeviceStateReport.Thermal)] = [
      ("none", .none), ("light", .light), ("moderate", .moderate), ("severe", .severe), ("critical", .critical),
      ("emergency", .emergency), ("shutdown", .shutdown),
    ]
  }

  /// Why words are no action; for people.
  package struct Problem: Error, Hashable, Sendable, CustomStringConvertible {
    package let description: String
  }

  /// - Parameter value: the second word, if there is one.
  package init(_ name: String, _ value: String?) throws(Problem) {
    guard let known = Name(rawValue: name) else {
      throw Problem(
        description: "\"\(Self.shown(name))\" is none of \(Name.allCases.map(\.rawValue).joined(separator: ", "))")
    }
    switch (known, value) {
    case (.status, nil): self = .status
    case (.fold, nil): self = .fold
    case (.unfold, nil): self = .unfold
    case (.don, nil): self = .don
    case (.doff, nil): self = .doff
    case (.tap, nil): self = .tap
    case (.hold, nil): self = .hold
    case (.hosts, nil): self = .hosts
    case (.power, "on"?): self = .power(true)
    case (.power, "off"?): self = .power(false)
    case (.charging, "on"?): self = .charging(true)
    case (.charging, "off"?): self = .charging(false)
    case (.pair, nil), (.pair, "on"?): self = .pair(true)
    case (.pair, "off"?): self = .pair(false)
    case (.battery, "unknown"?): self = .battery(nil)
    case (.unpair, let host?) where !host.isEmpty: self = .unpair(host)
    case (.battery, let text?):
      guard let level = Int(text), 0...100 ~= level else { throw Self.wrong(known, text) }
      self = .battery(level)
    case (.thermal, let text?):
      guard let level = Name.levels.first(where: { $0.name == text })?.level else { throw Self.wrong(known, text) }
      self = .thermal(level)
    case (_, let text): throw Self.wrong(known, text)
    }
  }

  private static func wrong(_ name: Name, _ text: String?) -> Problem {
    guard let value = name.value else {
      return Problem(description: "\(name.rawValue) takes no second word, and \"\(shown(text ?? ""))\" is one")
    }
    return Problem(description: "\(name.rawValue) takes \(value)" + (text.map { ", and not \"\(shown($0))\"" } ?? ""))
  }

  private static func shown(_ text: String) -> String { String(text.prefix(40)) }
}
