import Testing

@testable import GlasswingCommand

@Suite("The table of options")
struct OptionTableTests {
  private static func flag(_ option: Option) -> String { "--" + option.rawValue }

  @Test("Every option is taken by some command, and every short name means one thing in each command")
  func optionsAreUsedAndShortNamesAreUnique() {
    for option in Option.allCases {
      #expect(OptionTable.commands.contains { $0.options.contains(option) }, "\(option) is taken by none")
    }
    for spec in OptionTable.commands {
      let shorts = spec.options.compactMap { OptionTable.spec($0, in: spec.command).short }
      #expect(Set(shorts).count == shorts.count, "\(spec.name)")
      #expect(Set(spec.options).count == spec.options.count, "\(spec.name)")
      #expect(Set(spec.required).isSubset(of: Set(spec.options)))
    }
  }

  @Test("Help names every option of a command with its help, in 80 columns", arguments: Command.allCases)
  func helpIsComplete(_ command: Command) {
    let text = HelpText.command(command)
    let flowing = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    for option in OptionTable.spec(command).options {
      #expect(text.contains(Self.flag(option)))
      #expect(flowing.contains(OptionTable.spec(option, in: command).help))
    }
    for choice in OptionTable.spec(command).operand?.choices ?? [] where !choice.help.isEmpty {
      #expect(flowing.contains("\(choice.name) \(choice.help)"))
    }
    for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test("The program's help names every command, in 80 columns")
  func programHelpIsComplete() {
    let text = HelpText.program()
    for spec in OptionTable.commands { #expect(text.contains("\n  \(spec.name) ")) }
    for line in text.split(separator: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  @Test("The manual page names every command, option, choice, default and exit code")
  func manualIsComplete() {
    let page = ManPage.page(version: "1.2.3").split(separator: "\\").joined()
    for spec in OptionTable.commands {
      #expect(page.contains(".SS \"glasswing \(spec.name)"))
      for option in spec.options {
        #expect(page.contains(Self.flag(option)))
        #expect(page.contains(OptionTable.spec(option, in: spec.command).help))
      }
    }
    for status in ExitStatus.allCases { #expect(page.contains("\n.B \(status.rawValue)\n")) }
    #expect(page.contains("glasswing 1.2.3"))
  }

  @Test("No line of the manual page begins with a request that isn't meant")
  func manualHasOnlyKnownRequests() {
    let requests: Set = [".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", ".nf", ".fi", ".RS", ".RE"]
    for line in ManPage.page(version: "1").split(separator: "\n") where line.hasPrefix(".") || line.hasPrefix("'") {
      #expect(requests.contains(String(line.prefix { $0 != " " })), "\(line)")
    }
  }

  @Test("Each shell's completions offer every command, option and choice", arguments: Completions.Shell.allCases)
  func completionsAreComplete(_ shell: Completions.Shell) {
    let script = Completions.script(for: shell)
    for spec in OptionTable.commands {
      #expect(script.contains(spec.name))
      for choice in spec.operand?.choices ?? [] { #expect(script.contains(choice.name)) }
      for option in spec.options {
        let optionSpec = OptionTable.spec(option, in: spec.command)
        #expect(script.contains(shell == .fish ? "-l \(optionSpec.long)" : optionSpec.flag))
        if case .choice(let names) = optionSpec.value { #expect(script.contains(names.joined(separator: " "))) }
      }
    }
  }

  @Test("The parser takes every option that help shows, by its long and its short name", arguments: Command.allCases)
  func parserTakesWhatHelpShows(_ command: Command) throws {
    for option in OptionTable.spec(command).options where option != .help {
      let spec = OptionTable.spec(option, in: command)
      for name in [spec.flag] + (spec.short.map { ["-\($0)"] } ?? []) {
        var words = [command.rawValue, name] + (Self.sample(spec.value).map { [$0] } ?? [])
        if let operand = OptionTable.spec(command).operand { words.append(operand.choices.first?.name ?? "Lab") }
        for required in OptionTable.spec(command).required where required != option {
          words += [Self.flag(required), Self.sample(OptionTable.spec(required).value) ?? ""]
        }
        guard case .run(let arguments) = try ArgumentParser.parse(words) else {
          Issue.record("\(words) asks for help")
          continue
        }
        #expect(arguments.has(option))
      }
    }
  }

  @Test("Every default is a value that its own option takes")
  func defaultsAreValues() throws {
    for command in OptionTable.commands {
      for option in command.options {
        let spec = OptionTable.spec(option, in: command.command)
        if let fallback = spec.fallback { _ = try #require(spec.value).parse(fallback) }
      }
    }
  }

  /// A value that an option takes.
  private static func sample(_ kind: ValueKind?) -> String? {
    switch kind {
    case nil: nil
    case .file: "out.mp4"
    case .folder: "."
    case .duration: "5s"
    case .bitrate: "2M"
    case .count: "3"
    case .choice(let names): names[0]
    case .text: "Lab"
    }
  }
}
