/// Completion scripts, made from the table.
enum Completions {
  enum Shell: String, CaseIterable, Sendable { case bash, zsh, fish }

  static func script(for shell: Shell) -> String {
    switch shell {
    case .bash: BashCompletion.script()
    case .zsh: ZshCompletion.script()
    case .fish: FishCompletion.script()
    }
  }

  /// In single quotes, for every one of the three.
  static func quoted(_ text: String) -> String {
    "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
  }
}

private enum BashCompletion {
  static func script() -> String {
    let program = OptionTable.program
    var lines = ["# bash completion for \(program)", "_\(program)() {"]
    lines += [
      "  local current=\"${COMP_WORDS[COMP_CWORD]}\" previous=\"${COMP_WORDS[COMP_CWORD-1]}\" words=''",
      "  COMPREPLY=()",
      "  if [ \"$COMP_CWORD\" -eq 1 ]; then",
      "    words='\(OptionTable.commands.map(\.name).joined(separator: " ")) --help --version'",
      "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))",
      "    return",
      "  fi",
      "  case \"$previous\" in",
    ]
    for option in Option.allCases { lines += value(option) }
    lines += ["  esac", "  case \"${COMP_WORDS[1]}\" in"]
    for spec in OptionTable.commands {
      let words = (spec.operand?.choices.map(\.name) ?? []) + spec.options.flatMap(flags)
      lines.append("    \(spec.name)) words='\(words.joined(separator: " "))' ;;")
    }
    lines += ["  esac", "  COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))", "}"]
    lines += ["complete -F _\(program) \(program)"]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func flags(_ option: Option) -> [String] {
    let spec = OptionTable.spec(option)
    return [spec.flag] + (spec.short.map { ["-\($0)"] } ?? [])
  }

  /// By the word before alone: an option whose values differ from command to command offers all of them.
  private static func value(_ option: Option) -> [String] {
    let kinds = OptionTable.commands.filter { $0.options.contains(option) }
      .compactMap { OptionTable.spec(option, in: $0.command).value }
    guard let first = kinds.first else { return [] }
    let body: String
    switch first {
    case .file: body = "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$current\")); return"
    case .folder: body = "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -d -- \"$current\")); return"
    case .duration, .bitrate, .count, .text: body = "return"
    case .choice:
      var names: [String] = []
      for case .choice(let more) in kinds { names += more.filter { !names.contains($0) } }
      body = "COMPREPLY=($(compgen -W '\(names.joined(separator: " "))' -- \"$current\")); return"
    }
    return ["    \(flags(option).joined(separator: "|"))) \(body) ;;"]
  }
}

private enum ZshCompletion {
  static func script() -> String {
    let program = OptionTable.program
    var lines = ["#compdef \(program)", "", "_\(program)() {", "  local -a commands", "  commands=("]
    lines += OptionTable.commands.map { "    " + Completions.quoted("\($0.name):\($0.summary)") }
    lines += [
      "  )",
      "  if (( CURRENT == 2 )); then",
      "    _describe command commands",
      "    _arguments '--help[show this help]' '--version[say which version this is]'",
      "    return",
      "  fi",
      "  local command=$words[2]",
      "  shift words",
      "  (( CURRENT-- ))",
      "  case $command in",
    ]
    for spec in OptionTable.commands {
      lines.append("    \(spec.name))")
      lines.append("      _arguments \\")
      var parts = spec.options.flatMap { arguments(OptionTable.spec($0, in: spec.command)) }
      for (index, operand) in spec.operands.enumerated() {
        let choices = operand.choices.map(\.name).joined(separator: " ")
        parts.append("\(index + 1):\(operand.placeholder):" + (choices.isEmpty ? " " : "(\(choices))"))
      }
      lines += parts.enumerated().map { index, part in
        "        " + Completions.quoted(part) + (index == parts.count - 1 ? "" : " \\")
      }
      lines.append("      ;;")
    }
    lines += ["  esac", "}", "", "compdef _\(program) \(program)"]
    return lines.joined(separator: "\n") + "\n"
  }

  private static func arguments(_ spec: OptionSpec) -> [String] {
    let help = "[" + escape(HelpText.text(spec)) + "]"
    let names = [spec.flag] + (spec.short.map { ["-\($0)"] } ?? [])
    guard let value = spec.value else { return names.map { $0 + help } }
    let action: String
    switch value {
    case .file: action = ":\(value.placeholder):_files"
    case .folder: action = ":\(value.placeholder):_files -/"
    case .duration, .bitrate, .count, .text: action = ":\(value.placeholder): "
    case .choice(let choices): action = ":value:(\(choices.joined(separator: " ")))"
    }
    return names.map { $0 + help + action }
  }

  /// Brackets and colons have a meaning in an argument's description.
  private static func escape(_ text: String) -> String {
    text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
  }
}

private enum FishCompletion {
  static func script() -> String {
    let program = OptionTable.program
    var lines = ["# fish completion for \(program)", "complete -c \(program) -f"]
    for spec in OptionTable.commands {
      lines.append(
        "complete -c \(program) -n __fish_use_subcommand -a \(spec.name) -d \(Completions.quoted(spec.summary))")
    }
    lines.append("complete -c \(program) -n __fish_use_subcommand -l version -d 'say which version this is'")
    lines.append("complete -c \(program) -n __fish_use_subcommand -l help -s h -d 'show this help'")
    for spec in OptionTable.commands {
      let condition = "-n '__fish_seen_subcommand_from \(spec.name)'"
      for choice in spec.operand?.choices ?? [] {
        lines.append(
          "complete -c \(program) \(condition) -a \(choice.name) -d \(Completions.quoted(choice.help))")
      }
      for option in spec.options {
        lines.append("complete -c \(program) \(condition) " + words(OptionTable.spec(option, in: spec.command)))
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static func words(_ spec: OptionSpec) -> String {
    var words = "-l \(spec.long)"
    if let short = spec.short { words += " -s \(short)" }
    switch spec.value {
    case nil: break
    case .file: words += " -r -F"
    case .folder: words += " -x -a '(__fish_complete_directories)'"
    case .duration, .bitrate, .count, .text: words += " -x"
    case .choice(let names): words += " -x -a '\(names.joined(separator: " "))'"
    }
    return words + " -d " + Completions.quoted(HelpText.text(spec))
  }
}
