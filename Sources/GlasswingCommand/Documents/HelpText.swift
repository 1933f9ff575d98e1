/// Help for a terminal of 80 columns.
enum HelpText {
  /// The list of commands.
  static func program() -> String {
    var lines = ["\(OptionTable.program) - \(OptionTable.summary)", ""]
    lines += ["Usage: \(OptionTable.program) COMMAND [OPTION]...", "", "Commands:"]
    lines += TextLayout.columns(OptionTable.commands.map { ($0.name, $0.summary) })
    lines += [
      "", "\(OptionTable.program) help COMMAND shows the options of one, \(OptionTable.program) help --man all.",
    ]
    return lines.joined(separator: "\n") + "\n"
  }

  static func command(_ command: Command) -> String {
    let spec = OptionTable.spec(command)
    var lines = TextLayout.wrap("Usage: " + usage(spec), width: TextLayout.width)
    for paragraph in spec.details { lines += [""] + TextLayout.wrap(paragraph, width: TextLayout.width) }
    if let operand = spec.operand, operand.choices.contains(where: { !$0.help.isEmpty }) {
      lines += ["", "\(operand.placeholder) is one of:"]
      lines += TextLayout.columns(operand.choices.map { ($0.name, $0.help) })
    }
    lines += ["", "Options:"]
    lines += TextLayout.columns(spec.options.map { (label($0, in: command), text($0, in: command)) })
    if !spec.examples.isEmpty {
      lines += ["", "Examples:"]
      for example in spec.examples { lines += ["  # " + example.help] + shell(example.line) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// `glasswing record -o FILE [OPTION]...`
  static func usage(_ spec: CommandSpec) -> String {
    var words = [OptionTable.program, spec.name]
    for operand in spec.operands {
      words.append(operand.isRequired ? operand.placeholder : "[\(operand.placeholder)]")
    }
    for option in spec.required {
      let optionSpec = OptionTable.spec(option, in: spec.command)
      words.append(optionSpec.short.map { "-\($0)" } ?? optionSpec.flag)
      if let value = optionSpec.value { words.append(value.placeholder) }
    }
    words.append("[OPTION]...")
    return words.joined(separator: " ")
  }

  /// `-o, --output FILE`
  static func label(_ option: Option, in command: Command) -> String {
    let spec = OptionTable.spec(option, in: command)
    var label = spec.short.map { "-\($0), " } ?? "    "
    label += spec.flag
    if let value = spec.value { label += " " + value.placeholder }
    return label
  }

  /// The help with the default behind it.
  static func text(_ option: Option, in command: Command) -> String { text(OptionTable.spec(option, in: command)) }

  static func text(_ spec: OptionSpec) -> String {
    guard let fallback = spec.fallback else { return spec.help }
    return spec.help + " (default \(fallback))"
  }

  /// A command line that breaks between words, with a backslash.
  private static func shell(_ line: String) -> [String] {
    let parts = TextLayout.wrap(line, width: TextLayout.width - 8)
    return parts.enumerated().map { index, part in
      (index == 0 ? "  " : "      ") + part + (index == parts.count - 1 ? "" : " \\")
    }
  }
}
