/// The manual page, in the man macros of troff (man(7)).
enum ManPage {
  static func page(version: String) -> String {
    var lines = [
      ".TH \(OptionTable.program.uppercased()) 1 \"\" \"\(OptionTable.program) \(escape(version))\" \"User Commands\"",
      ".SH NAME",
      "\(OptionTable.program) \\- \(escape(OptionTable.summary))",
      ".SH SYNOPSIS",
      ".B \(OptionTable.program)",
      ".I COMMAND",
      "[\\fIOPTION\\fR]...",
      ".SH COMMANDS",
    ]
    for spec in OptionTable.commands { lines += command(spec) }
    lines += [".SH AMOUNTS"]
    lines.append("A length of time is a number with s, ms, m or h behind it; a bare number is seconds.")
    lines += [".PP", "A bit rate is a number of bits a second, with k or M behind it for thousands or millions."]
    lines.append(".SH EXIT STATUS")
    for status in ExitStatus.allCases {
      lines += [".TP", ".B \(status.rawValue)", escape(status.meaning)]
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func command(_ spec: CommandSpec) -> [String] {
    var lines = [".SS \"\(escape(HelpText.usage(spec)))\""]
    for (index, paragraph) in spec.details.enumerated() {
      if index > 0 { lines.append(".PP") }
      lines.append(escape(paragraph))
    }
    if let operand = spec.operand, operand.choices.contains(where: { !$0.help.isEmpty }) {
      for choice in operand.choices { lines += [".TP", ".B \(escape(choice.name))", escape(choice.help)] }
    }
    for option in spec.options {
      lines += [
        ".TP", ".B \(escape(HelpText.label(option, in: spec.command).trimmingLeadingSpaces))",
        escape(HelpText.text(option, in: spec.command)),
      ]
    }
    for example in spec.examples {
      lines += [".PP", escape(example.help) + ":", ".PP", ".nf", ".RS", escape(example.line), ".RE", ".fi"]
    }
    return lines
  }

  /// Dashes that stay dashes, backslashes that stay, and no line that begins as a request.
  private static func escape(_ text: String) -> String {
    var escaped = ""
    for character in text {
      switch character {
      case "\\": escaped += "\\e"
      case "-": escaped += "\\-"
      case "\"": escaped += "\\(dq"
      case _: escaped.append(character)
      }
    }
    return escaped.hasPrefix(".") || escaped.hasPrefix("'") ? "\\&" + escaped : escaped
  }
}

extension String {
  fileprivate var trimmingLeadingSpaces: String { String(drop { $0 == " " }) }
}
