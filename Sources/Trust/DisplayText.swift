/// The rule for names that come from outside and are shown to people.
enum DisplayText {
  /// Longest name of glasses or model in bytes of UTF-8.
  static let longest = 128

  /// Not empty, not longer, and nothing that moves a terminal's cursor or turns the direction of writing, with which a
  /// name could pass for another.
  static func isAcceptable(_ text: String, longest: Int = longest) -> Bool {
    guard 1...longest ~= text.utf8.count else { return false }
    return text.unicodeScalars.allSatisfy { scalar in
      // Joins the parts of one emoji.
      if scalar == "\u{200D}" { return true }
      return switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned: false
      default: true
      }
    }
  }
}
