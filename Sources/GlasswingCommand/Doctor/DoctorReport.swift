/// One thing that the doctor looked at.
struct DoctorCheck: Codable, Equatable, Sendable {
  enum Status: String, Codable, Equatable, Sendable, CaseIterable {
    case ok
    /// Works, but not for everything or not at its best.
    case warning
    /// Something that every use needs doesn't work.
    case failed
  }

  let name: String
  let status: Status
  /// What was found, in a few words.
  let found: String
  /// What to do; nil when all is well.
  let remedy: String?

  init(_ name: String, _ status: Status, _ found: String, remedy: String? = nil) {
    self.name = name
    self.status = status
    self.found = found
    self.remedy = remedy
  }
}

/// All that the doctor found.
struct DoctorReport: Codable, Equatable, Sendable {
  let version: String
  /// No check has failed.
  let ok: Bool
  let checks: [DoctorCheck]

  init(version: String, checks: [DoctorCheck]) {
    self.version = version
    self.checks = checks
    ok = checks.allSatisfy { $0.status != .failed }
  }

  /// For a terminal: a line a check, and what to do below those that need it.
  var text: String {
    let nameWidth = checks.map(\.name.count).max() ?? 0
    let indent = String(repeating: " ", count: 9)
    var lines: [String] = []
    for check in checks {
      lines += TextLayout.columns(
        [(Self.pad(check.status.rawValue, to: 7) + "  " + Self.pad(check.name, to: nameWidth), check.found)],
        indent: 0, labelLimit: 9 + nameWidth)
      if let remedy = check.remedy {
        lines += TextLayout.wrap("-> " + remedy, width: TextLayout.width - indent.count).map { indent + $0 }
      }
    }
    let failed = checks.filter { $0.status == .failed }.count
    let warnings = checks.filter { $0.status == .warning }.count
    lines += ["", "\(failed) failed, \(warnings) warnings, \(checks.count - failed - warnings) ok"]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func pad(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
