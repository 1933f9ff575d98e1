import Units

/// What the words of a command line ask for.
enum Invocation: Equatable, Sendable {
  case run(Arguments)
  /// Help on a command, or on the program.
  case help(Command?)
}

/// A command and what was said to it.
struct Arguments: Equatable, Sendable {
  let command: Command
  var values: [Option: OptionValue] = [:]
  var operands: [String] = []

  var operand: String? { operands.first }

  func has(_ option: Option) -> Bool { values[option] != nil }

  /// What was given, else the table's default.
  func text(_ option: Option) -> String? {
    guard case .text(let text) = values[option] else { return OptionTable.spec(option, in: command).fallback }
    return text
  }

  /// What was given, without the default.
  func givenText(_ option: Option) -> String? { has(option) ? text(option) : nil }

  func duration(_ option: Option) -> Duration? {
    guard case .duration(let duration) = values[option] else { return nil }
    return duration
  }

  func bitrate(_ option: Option) -> Bitrate? {
    guard case .bitrate(let bitrate) = values[option] else { return nil }
    return bitrate
  }

  func count(_ option: Option) -> Int? {
    guard case .count(let count) = values[option] else {
      return OptionTable.spec(option, in: command).fallback.flatMap { Int($0) }
    }
    return count
  }
}

/// Words in, an invocation or a failure in words out. Pure; the table is its only knowledge.
///
/// Takes `--name value`, `--name=value`, `-n value`, `-nvalue`, `-n=value`, short flags in one word, `--` before words
/// that begin with a dash. Of an option given twice the last one holds. `--help` anywhere asks for help.
struct ArgumentParser {
  private let spec: CommandSpec
  private var words: ArraySlice<String>
  private var arguments: Arguments

  static func parse(_ words: [String]) throws(CommandFailure) -> Invocation {
    guard let first = words.first else { return .help(nil) }
    switch first {
    case "--help", "-h": return .help(nil)
    case "--version": return .run(Arguments(command: .version))
    case _: break
    }
    guard let command = Command(rawValue: first) else { throw unknownCommand(first) }
    var parser = ArgumentParser(command, words.dropFirst())
    return try parser.parse()
  }

  private init(_ command: Command, _ words: ArraySlice<String>) {
    spec = OptionTable.spec(command)
    self.words = words
    arguments = Arguments(command: command)
  }

  private mutating func parse() throws(CommandFailure) -> Invocation {
    while let word = words.popFirst() {
      if word == "--" {
        while let word = words.popFirst() { try takeOperand(word) }
      } else if word.hasPrefix("--") {
        try takeLong(word.dropFirst(2))
      } else if word.hasPrefix("-"), word.count > 1 {
        try takeShort(word.dropFirst())
      } else {
        try takeOperand(word)
      }
    }
    if arguments.has(.help) { return .help(spec.command) }
    try checkRequired()
    return .run(arguments)
  }

  private mutating func takeLong(_ word: Substring) throws(CommandFailure) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts.first ?? "")
    let attached = parts.count == 2 ? String(parts[1]) : nil
    guard let option = Option(rawValue: name), spec.options.contains(option) else {
      throw unknownOption("--" + name)
    }
    let optionSpec = OptionTable.spec(option, in: spec.command)
    if optionSpec.value == nil, attached != nil { throw failure("--\(name) takes no value") }
    try take(optionSpec, attached: attached)
  }

  private mutating func takeShort(_ word: Substring) throws(CommandFailure) {
    var rest = word
    while let letter = rest.popFirst() {
      guard
        let optionSpec = spec.options.map({ OptionTable.spec($0, in: spec.command) }).first(where: {
          $0.short == letter
        })
      else {
        throw unknownOption("-\(letter)")
      }
      guard optionSpec.value != nil, !rest.isEmpty else {
        try take(optionSpec, attached: nil)
        continue
      }
      if rest.hasPrefix("=") { rest.removeFirst() }
      try take(optionSpec, attached: String(rest))
      return
    }
  }

  private mutating func take(_ optionSpec: OptionSpec, attached: String?) throws(CommandFailure) {
    guard let kind = optionSpec.value else {
      arguments.values[optionSpec.option] = .flag
      return
    }
    guard let text = attached ?? words.popFirst() else {
      throw failure("\(optionSpec.flag) needs a value: \(kind.placeholder)")
    }
    do {
      arguments.values[optionSpec.option] = try kind.parse(text)
    } catch {
      throw failure("\(optionSpec.flag): \(error.words)")
    }
  }

  private mutating func takeOperand(_ word: String) throws(CommandFailure) {
    guard arguments.operands.count < spec.operands.count else {
      throw failure("\"\(word)\" is one word too many")
    }
    let operand = spec.operands[arguments.operands.count]
    let names = operand.choices.map(\.name)
    guard names.isEmpty || names.contains(word) else {
      let hint = Suggestion.nearest(to: word, among: names).map { " (did you mean \($0)?)" } ?? ""
      throw failure("\"\(word)\" is none of \(names.joined(separator: ", "))\(hint)")
    }
    arguments.operands.append(word)
  }

  private func checkRequired() throws(CommandFailure) {
    if let operand = spec.operand, operand.isRequired, arguments.operand == nil {
      guard !operand.choices.isEmpty else { throw failure("needs \(operand.placeholder)") }
      throw failure("needs one of \(operand.choices.map(\.name).joined(separator: ", "))")
    }
    for option in spec.required where !arguments.has(option) {
      let optionSpec = OptionTable.spec(option, in: spec.command)
      throw failure("needs \(optionSpec.flag) \(optionSpec.value?.placeholder ?? "")")
    }
  }

  private func failure(_ words: String) -> CommandFailure {
    CommandFailure(subject: spec.name, words, next: "see glasswing help \(spec.name)")
  }

  private func unknownOption(_ flag: String) -> CommandFailure {
    let names = spec.options.map { OptionTable.spec($0).flag }
    if let nearest = Suggestion.nearest(to: flag, among: names) {
      return CommandFailure(subject: spec.name, "there is no option \(flag)", next: "did you mean \(nearest)?")
    }
    return failure("there is no option \(flag)")
  }

  private static func unknownCommand(_ word: String) -> CommandFailure {
    if let nearest = Suggestion.nearest(to: word, among: Command.allCases.map(\.rawValue)) {
      return CommandFailure(subject: nil, "there is no command \"\(word)\"", next: "did you mean \(nearest)?")
    }
    return CommandFailure(subject: nil, "there is no command \"\(word)\"", next: "see glasswing help")
  }
}
