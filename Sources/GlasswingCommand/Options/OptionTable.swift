/// The one table of options and commands. Parsing, help, the man page and the completions of three shells are made
/// from it and from nothing else; `OptionTableTests` shows that they agree.
enum OptionTable {
  static let program = "glasswing"
  static let summary = "see, record and photograph through smart glasses"

  static func spec(_ option: Option) -> OptionSpec {
    switch option {
    case .simulate:
      OptionSpec(option, help: "use simulated glasses")
    case .device:
      OptionSpec(
        option, short: "d", value: .text("GLASSES"),
        help: "which paired glasses, by name or identifier; without it those that are connected first")
    case .feed:
      OptionSpec(
        option, value: .file,
        help:
          "what the simulated glasses see and hear: any video file that FFmpeg reads; without it a test pattern that "
          + "beeps")
    case .feedSize:
      OptionSpec(option, value: .text("WxH"), help: "size of raw pictures on standard input, as 504x896")
    case .feedRate:
      OptionSpec(option, value: .text("N"), help: "raw pictures a second")
    case .name:
      OptionSpec(option, value: .text("NAME"), help: "what people call the glasses; kept for later starts")
    case .model:
      OptionSpec(option, value: .text("MODEL"), help: "the model that they say they are", fallback: "Glasswing")
    case .listen:
      OptionSpec(
        option, value: .text("ADDRESS:PORT"), help: "where they listen; port 0 lets the system choose one",
        fallback: "[::]:7447")
    case .stateDir:
      OptionSpec(
        option, value: .folder,
        help: "key, name and paired hosts of the glasses; without it ~/.local/state/glasswing/glasses")
    case .pair:
      OptionSpec(option, help: "begin to pair: the code is a line of standard output, good for five minutes")
    case .resolution:
      OptionSpec(
        option, short: "r", value: .choice(["low", "medium", "high"]),
        help: "picture size: low 360x640, medium 504x896, high 720x1280", fallback: "medium")
    case .fps:
      OptionSpec(option, value: .choice(["2", "7", "15", "24", "30"]), help: "pictures a second", fallback: "30")
    case .bitrate:
      OptionSpec(
        option, short: "b", value: .bitrate(.kilobitsPerSecond(50)...(.kilobitsPerSecond(50_000))),
        help: "what the simulated glasses encode at; without it what suits size and rate")
    case .noAudio:
      OptionSpec(option, help: "leave the sound out; the microphone stays untouched")
    case .audioRate:
      OptionSpec(
        option, value: .choice(["16000", "44100", "48000"]), help: "samples of sound a second", fallback: "48000")
    case .audioChannels:
      OptionSpec(option, value: .choice(["1", "2"]), help: "channels of sound", fallback: "2")
    case .audioCodec:
      OptionSpec(
        option, value: .choice(["aac", "opus", "pcm", "flac"]),
        help: "what sound is kept in; without it aac in MP4 and MOV, opus in MKV")
    case .audioOut:
      OptionSpec(
        option, short: "a", value: .file, help: "write the sound, and nothing else, to this .wav or .flac file")
    case .videoOut:
      OptionSpec(
        option, value: .file,
        help: "write the pictures to this file or pipe as they come; - is standard output")
    case .seconds:
      OptionSpec(option, short: "s", value: .duration(atLeast: .milliseconds(100)), help: "how long to go on")
    case .output:
      OptionSpec(option, short: "o", value: .file, help: "the file to write")
    case .folder:
      OptionSpec(option, value: .folder, help: "where photos and recordings go", fallback: ".")
    case .container:
      OptionSpec(
        option, value: .choice(["mp4", "mov", "mkv"]), help: "kind of file, if its name's ending doesn't say")
    case .format:
      OptionSpec(
        option, value: .choice(["jpeg", "heic"]), help: "kind of picture, if the file's name doesn't say",
        fallback: "jpeg")
    case .force:
      OptionSpec(option, short: "f", help: "write over a file that exists")
    case .runs:
      OptionSpec(option, short: "n", value: .count(1...1000), help: "how often to measure", fallback: "20")
    case .to:
      OptionSpec(option, short: "t", value: .text("ADDRESS:PORT"), help: "where to connect to")
    case .preset:
      OptionSpec(
        option, short: "p", value: .choice(["bluetooth-classic", "wifi", "wifi-busy", "lte", "edge-of-range"]),
        help: "the network to behave like; without it bytes pass as they come")
    case .script:
      OptionSpec(option, value: .file, help: "a file of steps: what happens to connections, and when")
    case .seed:
      OptionSpec(
        option, value: .count(0...Int.max), help: "decides what chance would: the same seed, the same stalls",
        fallback: "1")
    case .json:
      OptionSpec(option, help: "write the result to standard output as one JSON object")
    case .quiet:
      OptionSpec(option, short: "q", help: "no progress, only errors")
    case .man:
      OptionSpec(option, help: "write the manual page, in man's own format")
    case .help:
      OptionSpec(option, short: "h", help: "show this help")
    }
  }

  /// The option as a command takes it.
  static func spec(_ option: Option, in command: Command) -> OptionSpec {
    switch (option, command) {
    case (.format, .stream):
      OptionSpec(
        option, value: .choice(VideoOutFormat.allCases.map(\.rawValue)),
        help: "kind of video after --video-out, if the file's name doesn't say")
    case (.listen, .relay):
      OptionSpec(option, value: .text("ADDRESS:PORT"), help: "where to listen; port 0 lets the system choose one")
    case (.feed, .glasses):
      OptionSpec(
        option, value: .file,
        help:
          "what the glasses see and hear: pattern, any video file that FFmpeg reads, or - for raw I420 on standard input",
        fallback: "pattern")
    case (.bitrate, .glasses):
      OptionSpec(
        option, short: "b", value: .bitrate(.kilobitsPerSecond(50)...(.kilobitsPerSecond(50_000))),
        help: "the most that they encode at; without it what suits size and rate")
    case (.json, .glasses), (.json, .relay):
      OptionSpec(option, help: "write what happens to standard output, one JSON object a line")
    case _: spec(option)
    }
  }

  static let commands: [CommandSpec] = Command.allCases.map(spec)

  static func spec(_ command: Command) -> CommandSpec {
    switch command {
    case .record: record
    case .stream: stream
    case .photo: photo
    case .demo: demo
    case .pair: pair
    case .devices: devices
    case .unpair: unpair
    case .companion: companion
    case .glasses: glasses
    case .glassesCtl: glassesCtl
    case .bench: bench
    case .relay: relay
    case .doctor: doctor
    case .completions: completions
    case .help: help
    case .version:
      CommandSpec(
        command, summary: "say which version this is", details: ["Says which version this is."], options: [.json])
    }
  }

  private static let record = CommandSpec(
    .record, summary: "record what the glasses see and hear",
    details: [
      "Records video as the glasses send it, without encoding it again, and sound beside it, until the asked time has "
        + "passed or until Ctrl-C. The file can be played at any moment, also after a crash or a power cut, up to at "
        + "most two seconds before it.",
      "Sound is kept as AAC in MP4 and MOV and as Opus in MKV, unless --audio-codec says otherwise: MP4 takes aac, opus "
        + "and flac, MOV aac and pcm, MKV all four. Pcm keeps the samples bit for bit, flac 24 bits of each; aac plays "
        + "almost everywhere. Where sound is missing, the file is silent, and what follows is in its place.",
      "When the picture's size changes on the way, MP4 and MOV go on in a second file, NAME-002; MKV stays one.",
      "Interrupted before the asked time, the file is complete as far as it goes and the exit code is 2. "
        + "Without --seconds, Ctrl-C is the regular end and the exit code is 0.",
    ],
    options: [
      .output, .seconds, .device, .simulate, .feed, .resolution, .fps, .bitrate, .noAudio, .audioRate, .audioChannels,
      .audioCodec, .container,
      .force, .json, .quiet,
    ],
    required: [.output],
    examples: [
      .init(line: "glasswing record --simulate -o walk.mp4 --seconds 10", help: "ten seconds of the test pattern"),
      .init(
        line: "glasswing record --simulate --feed street.mp4 --resolution high --fps 24 -o out.mkv",
        help: "a film as the glasses would send it, until Ctrl-C"),
    ])

  private static let stream = CommandSpec(
    .stream, summary: "stream, and see figures while it lasts",
    details: [
      "Streams pictures and sound as an app would, and shows live figures until the asked time has passed or until "
        + "Ctrl-C. With --audio-out the sound goes into a file, with --video-out the pictures go to a file, a named pipe "
        + "or, with -, to standard output, for any other program to read.",
      "Pictures are written as they come. i420 is decoded pictures without anything between them, y4m the same with the "
        + "size in front, both in the size of the first; hevc is the stream as the glasses encoded it (Annex B), nut the "
        + "same with its times. What a reader is too slow for is left out and counted; a reader that goes away ends "
        + "the stream.",
      "age is the time from a picture's capture to its arrival, as median and 95th percentile; dB is how loud the sound "
        + "is, where 0 is full scale.",
      "Interrupted before the asked time, the exit code is 2. Without --seconds, Ctrl-C is the regular end and the "
        + "exit code is 0.",
    ],
    options: [
      .audioOut, .videoOut, .format, .seconds, .device, .simulate, .feed, .resolution, .fps, .bitrate, .noAudio,
      .audioRate,
      .audioChannels, .force, .json, .quiet,
    ],
    examples: [
      .init(line: "glasswing stream --simulate --seconds 10", help: "ten seconds of the test pattern"),
      .init(
        line: "glasswing stream --simulate --video-out - --format nut | ffplay -", help: "the pictures in a player"),
      .init(
        line: "glasswing stream --simulate --feed street.mp4 --audio-out street.wav", help: "the sound of a film"),
    ])

  private static let photo = CommandSpec(
    .photo, summary: "take a photo",
    details: [
      "Takes one photo at the full size of the glasses' camera while they stream, as an app would, and writes the "
        + "very bytes that came over the link."
    ],
    options: [.output, .format, .device, .simulate, .feed, .force, .json, .quiet],
    required: [.output],
    examples: [
      .init(line: "glasswing photo --simulate -o shot.jpg", help: "a photo of the test pattern"),
      .init(
        line: "glasswing photo --simulate --feed street.mp4 --format heic -o shot.heic", help: "a photo of a film"),
    ])

  private static let demo = CommandSpec(
    .demo, summary: "try it: simulated glasses, live figures",
    details: [
      "Starts simulated glasses and an app that watches them, and shows live figures. Keys: p takes a photo, r starts "
        + "and ends a recording, q ends. Without a terminal it writes a line every few seconds until it is signalled.",
      "age is the time from a picture's capture to its delivery, decoded, as median and 95th percentile; dB is how loud "
        + "the sound is, where 0 is full scale.",
    ],
    options: [.feed, .resolution, .fps, .bitrate, .noAudio, .folder, .seconds, .quiet],
    examples: [
      .init(line: "glasswing demo", help: "the test pattern"),
      .init(line: "glasswing demo --feed street.mp4 --resolution high", help: "a film"),
    ])

  private static let bench = CommandSpec(
    .bench, summary: "measure this machine",
    details: [
      "Measures one thing on this machine, with simulated glasses, and shows the figures. Times are in milliseconds; "
        + "p50 is the median. Build with optimisation before believing any of it.",
      "audio runs five seconds with sound and five without, in turn and five times, unless told otherwise.",
    ],
    operand: OperandSpec(
      placeholder: "WHAT", isRequired: true,
      choices: [
        .init(name: "allocations", help: "the allocator's calls for each delivered frame"),
        .init(name: "audio", help: "sound from capture to delivery, and what it adds to pictures"),
        .init(name: "first-frame", help: "start() to the first decoded picture"),
        .init(name: "latency", help: "a picture's capture to its decoded delivery"),
        .init(name: "link", help: "an encoded picture into the link to out of it"),
        .init(name: "record", help: "what recording costs, beside ffmpeg -c copy"),
        .init(name: "sockets", help: "as link, through memory, TCP and a Unix socket of this host in turn"),
      ]),
    options: [.seconds, .runs, .feed, .resolution, .fps, .bitrate, .json, .quiet],
    examples: [.init(line: "glasswing bench latency --json", help: "for a script")])

  private static let doctor = CommandSpec(
    .doctor, summary: "check this machine",
    details: [
      "Checks libraries, encoders and decoders (by running them), congestion control, discovery, companion, glasses and clock, "
        + "and says what to do about each thing that isn't right. The exit code is 1 when something has failed; "
        + "a warning doesn't fail."
    ],
    options: [.json],
    examples: [.init(line: "glasswing doctor --json", help: "for a script or a bug report")])

  private static let completions = CommandSpec(
    .completions, summary: "completions for a shell",
    details: ["Writes the completion script for a shell to standard output."],
    operand: OperandSpec(
      placeholder: "SHELL", isRequired: true,
      choices: [
        .init(name: "bash", help: "source it, or put it into bash-completion's folder"),
        .init(name: "zsh", help: "save it as _glasswing in a folder of $fpath"),
        .init(name: "fish", help: "save it as ~/.config/fish/completions/glasswing.fish"),
      ]),
    options: [],
    examples: [.init(line: "source <(glasswing completions bash)", help: "completions in this shell")])

  private static let help = CommandSpec(
    .help, summary: "help on a command, or the manual page",
    details: ["Shows help on one command, or the list of commands."],
    operand: OperandSpec(
      placeholder: "COMMAND", isRequired: false,
      choices: Command.allCases.map { command in
        // Not by `spec(command).summary`, which would ask for this very value.
        OperandSpec.Choice(name: command.rawValue, help: "")
      }),
    options: [.man],
    examples: [.init(line: "glasswing help --man | man -l -", help: "the manual page")])
}
