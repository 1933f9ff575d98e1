/// Every option that any command takes. One meaning each, wherever it is taken; what values it has may differ.
///
/// The raw value is the long name. What it means, its value and its short name are in `OptionTable`.
enum Option: String, CaseIterable, Hashable, Sendable {
  case simulate
  case device
  case name
  case model
  case listen
  case stateDir = "state-dir"
  case pair
  case feed
  case feedSize = "feed-size"
  case feedRate = "feed-rate"
  case resolution
  case fps
  case bitrate
  case noAudio = "no-audio"
  case audioRate = "audio-rate"
  case audioChannels = "audio-channels"
  case audioCodec = "audio-codec"
  case audioOut = "audio-out"
  case videoOut = "video-out"
  case seconds
  case output
  case folder
  case container
  case format
  case force
  case runs
  case to
  case preset
  case script
  case seed
  case json
  case quiet
  case man
  case help
}

/// What an option says about itself.
struct OptionSpec: Sendable {
  let option: Option
  let short: Character?
  /// nil for a flag.
  let value: ValueKind?
  /// One or two clauses, without a full stop; the default is not repeated in it.
  let help: String
  /// What holds when the option is absent, as it would be typed; nil when there is no such value.
  let fallback: String?

  init(_ option: Option, short: Character? = nil, value: ValueKind? = nil, help: String, fallback: String? = nil) {
    self.option = option
    self.short = short
    self.value = value
    self.help = help
    self.fallback = fallback
  }

  var long: String { option.rawValue }
  /// As it is typed: `--output`.
  var flag: String { "--" + long }
}

/// The commands, in the order in which help lists them.
enum Command: String, CaseIterable, Hashable, Sendable {
  case record
  case stream
  case photo
  case demo
  case pair
  case devices
  case unpair
  case companion
  case glasses
  case glassesCtl = "glasses-ctl"
  case bench
  case relay
  case doctor
  case completions
  case help
  case version
}

/// The one word that some commands take besides options.
struct OperandSpec: Sendable {
  struct Choice: Sendable {
    let name: String
    let help: String
  }

  let placeholder: String
  let isRequired: Bool
  /// Without any, every word is taken.
  let choices: [Choice]
}

/// What a command says about itself.
struct CommandSpec: Sendable {
  struct Example: Sendable {
    let line: String
    let help: String
  }

  let command: Command
  /// A few words, for the list of commands.
  let summary: String
  /// Paragraphs, for the command's own help and the man page.
  let details: [String]
  /// The words that the command takes besides options, in order; those after the first may be left out.
  let operands: [OperandSpec]
  /// In the order in which help lists them; `--help` is added to every command.
  let options: [Option]
  /// Options without which the command can't begin.
  let required: [Option]
  let examples: [Example]

  init(
    _ command: Command, summary: String, details: [String], operand: OperandSpec? = nil,
    value: OperandSpec? = nil, options: [Option],
    required: [Option] = [], examples: [Example] = []
  ) {
    self.command = command
    self.summary = summary
    self.details = details
    operands = [operand, value].compactMap { $0 }
    self.options = options + [.help]
    self.required = required
    self.examples = examples
  }

  var operand: OperandSpec? { operands.first }

  var name: String { command.rawValue }
}
