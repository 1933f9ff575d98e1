import Units

/// Why a text is no script of links.
package struct LinkScriptError: Error, Hashable, Sendable {
  package enum Cause: Hashable, Sendable {
    /// More bytes, or more steps, than a script may have.
    case tooLong
    /// The line begins with no time.
    case time(String)
    /// Earlier than the step above.
    case order
    /// There is a time and no step behind it.
    case missingStep
    case unknownStep(String)
    case unknownPreset(String)
    /// A step's value is missing or is none.
    case value(String, of: String)
    /// Words that the step does not take.
    case surplus(String)
    /// A seed that is not in front of all steps, or not the only one.
    case seedPlace
  }

  /// Counted from 1; 0 where it is the text as a whole.
  package let line: Int
  package let cause: Cause
}

extension LinkScriptError: CustomStringConvertible {
  package var description: String {
    let words =
      switch cause {
      case .tooLong: "a script has at most \(LinkScript.mostBytes) bytes and \(LinkScript.mostSteps) steps"
      case .time(let text): "\"\(text)\" is no time; write it like 0, 1.5s, 200ms or 2m"
      case .order: "the time is before the one above"
      case .missingStep: "what happens then is missing"
      case .unknownStep(let text): "there is no step \"\(text)\""
      case .unknownPreset(let text):
        "\"\(text)\" is none of \(LinkPreset.allCases.map(\.rawValue).joined(separator: ", "))"
      case .value(let text, let step): text.isEmpty ? "\(step) needs a value" : "\"\(text)\" is no value of \(step)"
      case .surplus(let text): "\"\(text)\" is one word too many"
      case .seedPlace: "a seed comes once, before all steps"
      }
    return line == 0 ? words : "line \(line): \(words)"
  }
}

extension LinkScript {
  package static let mostBytes = 65_536
  package static let mostSteps = 4096

  /// Reads the text form.
  package init(_ text: String) throws(LinkScriptError) {
    guard text.utf8.count <= Self.mostBytes else { throw LinkScriptError(line: 0, cause: .tooLong) }
    var seed: UInt64?
    var steps: [Step] = []
    for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
      var reader = ScriptLine(line, number: index + 1)
      guard let first = reader.next() else { continue }
      if first == "seed" {
        guard seed == nil, steps.isEmpty else { throw reader.failure(.seedPlace) }
        seed = try reader.seed()
      } else {
        guard let time = ScriptAmount.duration(first) else { throw reader.failure(.time(String(first))) }
        if let last = steps.last, time < last.time { throw reader.failure(.order) }
        guard steps.count < Self.mostSteps else { throw LinkScriptError(line: 0, cause: .tooLong) }
        steps.append(Step(at: time, try reader.action()))
      }
      if let word = reader.next() { throw reader.failure(.surplus(String(word))) }
    }
    self.init(seed: seed, steps)
  }
}

/// The words of one line.
private struct ScriptLine {
  private var words: ArraySlice<Substring>
  private let number: Int

  init(_ line: Substring, number: Int) {
    let said = line.prefix { $0 != "#" }
    words = said.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })[...]
    self.number = number
  }

  func failure(_ cause: LinkScriptError.Cause) -> LinkScriptError { LinkScriptError(line: number, cause: cause) }

  mutating func next() -> Substring? { words.popFirst() }

  mutating func seed() throws(LinkScriptError) -> UInt64 {
    try value("seed") { text in
      // Digits only: the library's own grammar takes a sign.
      text.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 } ? UInt64(text) : nil
    }
  }

  mutating func action() throws(LinkScriptError) -> LinkScript.Action {
    guard let name = next() else { throw failure(.missingStep) }
    switch name {
    case "preset":
      let word = next().map(String.init) ?? ""
      guard let preset = LinkPreset(rawValue: word) else { throw failure(.unknownPreset(word)) }
      return .preset(preset)
    case "rate":
      let rate = takeNone() ? nil : try value("rate", ScriptAmount.bitrate)
      return .rate(rate, way())
    case "latency":
      let latency = try value("latency", ScriptAmount.duration)
      let jitter = take("jitter") ? try value("jitter", ScriptAmount.duration) : .zero
      return .latency(latency, jitter: jitter, way())
    case "stalls":
      let stalls = takeNone() ? nil : try stalls()
      return .stalls(stalls, way())
    case "hold": return .hold(way())
    case "release": return .release(way())
    case "cut": return .cut
    case "refuse": return .refuse
    case "accept": return .accept
    case "hold-back": return .holdBack(try value("hold-back", ScriptAmount.duration))
    case "clear": return .clear
    case _: throw failure(.unknownStep(String(name)))
    }
  }

  private mutating func stalls() throws(LinkScriptError) -> LinkCondition.Stalls {
    guard take("every") else { throw failure(.value(words.first.map(String.init) ?? "", of: "stalls")) }
    let spacing = try value("every") { text in ScriptAmount.duration(text).flatMap { $0 > .zero ? $0 : nil } }
    guard take("lasting") else { throw failure(.value(words.first.map(String.init) ?? "", of: "stalls")) }
    let length = try value("lasting", ScriptAmount.durations)
    return LinkCondition.Stalls(every: spacing, lasting: length)
  }

  private mutating func value<Value>(
    _ step: String, _ parse: (Substring) -> Value?
  ) throws(LinkScriptError) -> Value {
    let word = next() ?? ""
    guard let value = parse(word) else { throw failure(.value(String(word), of: step)) }
    return value
  }

  private mutating func take(_ word: Substring) -> Bool {
    guard words.first == word else { return false }
    words.removeFirst()
    return true
  }

  private mutating func takeNone() -> Bool { take("none") }

  private mutating func way() -> LinkScript.Way {
    guard let way = words.first.flatMap({ LinkScript.Way(rawValue: String($0)) }) else { return .both }
    words.removeFirst()
    return way
  }
}

/// Amounts of a script, in whole numbers throughout, so that text and value are one to one.
enum ScriptAmount {
  /// A day: far from where nanoseconds overflow, however many are added.
  static let longest: Duration = .seconds(86_400)
  static let fastest: Bitrate = .kilobitsPerSecond(100_000_000)

  /// `0`, `1.5s`, `200ms`, `2m`; a bare number is seconds.
  static func duration(_ text: Substring) -> Duration? {
    guard let (digits, unit) = split(text) else { return nil }
    let scale: Int64
    switch unit {
    case "", "s": scale = 1_000_000_000
    case "ms": scale = 1_000_000
    case "m": scale = 60_000_000_000
    case _: return nil
    }
    guard let nanoseconds = scaled(digits, by: scale) else { return nil }
    let duration = Duration.nanoseconds(nanoseconds)
    return duration <= longest ? duration : nil
  }

  /// `50ms-300ms`, or one length.
  static func durations(_ text: Substring) -> ClosedRange<Duration>? {
    let parts = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    guard let shortest = parts.first.flatMap(duration), let longest = parts.last.flatMap(duration),
      shortest <= longest
    else { return nil }
    return shortest...longest
  }

  /// `800k`, `2M`, `2.5M`: bits a second, in powers of ten.
  static func bitrate(_ text: Substring) -> Bitrate? {
    guard let (digits, unit) = split(text) else { return nil }
    let scale: Int64
    switch unit {
    case "": scale = 1
    case "k": scale = 1000
    case "M": scale = 1_000_000
    case _: return nil
    }
    guard let bits = scaled(digits, by: scale) else { return nil }
    return bits <= fastest.bitsPerSecond ? .bitsPerSecond(bits) : nil
  }

  private static func split(_ text: Substring) -> (digits: Substring, unit: Substring)? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    return digits.isEmpty ? nil : (digits, text[digits.endIndex...])
  }

  /// A decimal number times a power of ten (or sixty of them); nil where it is none, or more than 64 bits.
  private static func scaled(_ text: Substring, by scale: Int64) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count <= 2, let whole = parts.first, !whole.isEmpty, let units = Int64(whole) else { return nil }
    let (total, overflow) = units.multipliedReportingOverflow(by: scale)
    guard !overflow else { return nil }
    guard parts.count == 2 else { return total }
    let fraction = parts[1]
    // Nine places of a second are a nanosecond.
    guard 1...9 ~= fraction.count, let numerator = Int64(fraction) else { return nil }
    let denominator = (0..<fraction.count).reduce(Int64(1)) { value, _ in value * 10 }
    let (product, isTooMuch) = numerator.multipliedReportingOverflow(by: scale)
    guard !isTooMuch else { return nil }
    let (sum, isOver) = total.addingReportingOverflow(product / denominator)
    return isOver ? nil : sum
  }
}

// MARK: - Written

extension LinkScript: CustomStringConvertible {
  /// In the form that is read, one line a step.
  package var description: String {
    var lines = seed.map { ["seed \($0)"] } ?? []
    lines += steps.map { "\(ScriptAmount.text($0.time)) \($0.action)" }
    return lines.map { $0 + "\n" }.joined()
  }
}

extension LinkScript.Action: CustomStringConvertible {
  package var description: String {
    switch self {
    case .preset(let preset): "preset \(preset.rawValue)"
    case .rate(let rate, let way): "rate \(rate.map { "\($0.bitsPerSecond)" } ?? "none")\(way.suffix)"
    case .latency(let latency, let jitter, let way):
      "latency \(ScriptAmount.text(latency))\(jitter > .zero ? " jitter \(ScriptAmount.text(jitter))" : "")\(way.suffix)"
    case .stalls(let stalls, let way):
      "stalls \(stalls.map { "every \(ScriptAmount.text($0.spacing)) lasting \(ScriptAmount.text($0.length))" } ?? "none")"
        + way.suffix
    case .hold(let way): "hold\(way.suffix)"
    case .release(let way): "release\(way.suffix)"
    case .cut: "cut"
    case .refuse: "refuse"
    case .accept: "accept"
    case .holdBack(let delay): "hold-back \(ScriptAmount.text(delay))"
    case .clear: "clear"
    }
  }
}

extension LinkScript.Way {
  fileprivate var suffix: String { self == .both ? "" : " \(rawValue)" }
}

extension ScriptAmount {
  fileprivate static func text(_ duration: Duration) -> String {
    let nanoseconds = duration.nanoseconds
    if nanoseconds.isMultiple(of: 1_000_000) {
      let milliseconds = nanoseconds / 1_000_000
      return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
    }
    let places = String(nanoseconds % 1_000_000_000)
    return "\(nanoseconds / 1_000_000_000).\(String(repeating: "0", count: max(0, 9 - places.count)))\(places)s"
  }

  fileprivate static func text(_ range: ClosedRange<Duration>) -> String {
    range.lowerBound == range.upperBound
      ? text(range.lowerBound) : "\(text(range.lowerBound))-\(text(range.upperBound))"
  }
}
