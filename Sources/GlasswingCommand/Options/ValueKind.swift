import Units

/// What an option's value may be.
enum ValueKind: Hashable, Sendable {
  /// The path of a file.
  case file
  /// The path of a folder.
  case folder
  /// A length of time: `4`, `4s`, `500ms`, `2m`, `1h`.
  case duration(atLeast: Duration)
  /// A rate of bits: `800k`, `2M`.
  case bitrate(ClosedRange<Bitrate>)
  case count(ClosedRange<Int>)
  case choice([String])
  /// Any text but an empty one, shown in help by this word.
  case text(String)

  /// As help shows it.
  var placeholder: String {
    switch self {
    case .file: "FILE"
    case .folder: "FOLDER"
    case .duration: "TIME"
    case .bitrate: "RATE"
    case .count: "N"
    case .choice(let names): names.joined(separator: "|")
    case .text(let placeholder): placeholder
    }
  }

  /// The value that a text means.
  func parse(_ text: String) throws(ValueProblem) -> OptionValue {
    switch self {
    case .file, .folder:
      guard !text.isEmpty else { throw ValueProblem("needs a path, not an empty text") }
      return .text(text)
    case .duration(let least):
      guard let duration = AmountText.duration(text) else {
        throw ValueProblem("\"\(text)\" is no length of time; write it like 4, 4s, 500ms or 2m")
      }
      guard duration >= least else {
        throw ValueProblem("\(text) is too short; the least is \(AmountText.words(least))")
      }
      return .duration(duration)
    case .bitrate(let range):
      guard let bitrate = AmountText.bitrate(text) else {
        throw ValueProblem("\"\(text)\" is no bit rate; write it like 800k or 2M")
      }
      guard range.contains(bitrate) else {
        let (least, most) = (AmountText.words(range.lowerBound), AmountText.words(range.upperBound))
        throw ValueProblem("\(text) is out of range; it may be \(least) to \(most)")
      }
      return .bitrate(bitrate)
    case .count(let range):
      guard let count = Int(text), range.contains(count) else {
        throw ValueProblem("\"\(text)\" is no whole number from \(range.lowerBound) to \(range.upperBound)")
      }
      return .count(count)
    case .text:
      guard !text.isEmpty else { throw ValueProblem("needs a text, not an empty one") }
      return .text(text)
    case .choice(let names):
      guard names.contains(text) else {
        let hint = Suggestion.nearest(to: text, among: names).map { " (did you mean \($0)?)" } ?? ""
        throw ValueProblem("\"\(text)\" is none of \(names.joined(separator: ", "))\(hint)")
      }
      return .text(text)
    }
  }
}

enum OptionValue: Hashable, Sendable {
  case flag
  case text(String)
  case duration(Duration)
  case bitrate(Bitrate)
  case count(Int)
}

/// Why a text is no value of its option, in words that follow the option's name.
struct ValueProblem: Error, Hashable {
  let words: String

  init(_ words: String) { self.words = words }
}
