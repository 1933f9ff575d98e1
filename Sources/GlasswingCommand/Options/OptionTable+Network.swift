// Commands of glasses on a network.
extension OptionTable {
  static let pair = CommandSpec(
    .pair, summary: "pair with glasses",
    details: [
      "Pairs this host with the glasses that showed the text, which begins with glasswing://pair: put it in quotes, since "
        + "shells make something of its signs. It is good for one pairing and a few minutes. With - it is read from "
        + "standard input, where other programs can't see it.",
      "Afterwards every program of this user can use the glasses. They are found by DNS-SD where Avahi runs, else at "
        + "the addresses that they had last.",
    ],
    operand: OperandSpec(placeholder: "URI", isRequired: true, choices: []),
    options: [.json, .quiet],
    examples: [
      .init(line: "glasswing pair 'glasswing://pair?v=1&host=...'", help: "with what the glasses show")
    ])

  static let devices = CommandSpec(
    .devices, summary: "list the paired glasses",
    details: [
      "Lists the paired glasses: name, identifier, whether they are connected, battery, and where they were last."
    ],
    options: [.json], examples: [.init(line: "glasswing devices --json", help: "for a script")])

  static let unpair = CommandSpec(
    .unpair, summary: "part from glasses",
    details: [
      "Forgets the glasses, and tells them if they are on: programs of this host that use them are told goodbye. "
        + "Glasses that are off go on knowing this host, which they can forget by glasses-ctl unpair."
    ],
    operand: OperandSpec(placeholder: "GLASSES", isRequired: true, choices: []),
    options: [.json, .quiet],
    examples: [.init(line: "glasswing unpair lab-3", help: "by identifier or name")])

  static let companion = CommandSpec(
    .companion, summary: "serve this user's programs",
    details: [
      "Keeps the host's key, the list of paired glasses and a link to each, and lets this user's programs in at them, "
        + "until Ctrl-C. The other commands bring a companion along where none runs; programs that use the library "
        + "need this one. What it keeps is in ~/.local/state/glasswing/companion, or in the folder named by "
        + "GLASSWING_COMPANION_DIR."
    ],
    options: [.quiet])

  static let glasses = CommandSpec(
    .glasses, summary: "be glasses on the network",
    details: [
      "Runs a pair of glasses that paired hosts reach over the network: simulated ones, or a board's. Everything is "
        + "encrypted, and nobody gets a picture who is not vouched for by a paired host. --pair, or later glasses-ctl "
        + "pair, shows the code for glasswing pair on the other host, and on a terminal a QR code before it.",
      "Ctrl-C says goodbye to all. What the glasses are and whom they trust stays in their folder; of two programs one "
        + "has it. Hinge, wear, battery, heat and touches are simulated by glasswing glasses-ctl.",
    ],
    options: [.feed, .feedSize, .feedRate, .bitrate, .name, .model, .listen, .stateDir, .pair, .json, .quiet],
    examples: [
      .init(line: "glasswing glasses --pair", help: "the test pattern, ready to be paired"),
      .init(
        line: "glasswing glasses --feed street.mp4 --name Lab --state-dir /tmp/lab --listen 127.0.0.1:7448",
        help: "a second pair on this machine, with a film"),
    ])

  static let glassesCtl = CommandSpec(
    .glassesCtl, summary: "control glasses that run here",
    details: [
      "Asks the glasses of this user that run on this machine, by the socket in their folder. fold, don, battery and the "
        + "like simulate what happens to glasses; pair, hosts and unpair manage whom they trust."
    ],
    operand: OperandSpec(
      placeholder: "ACTION", isRequired: true,
      choices: [
        .init(name: "status", help: "how the glasses are, and who uses them"),
        .init(name: "fold", help: "close the hinge, which ends sessions"),
        .init(name: "unfold", help: "open the hinge"),
        .init(name: "don", help: "put them on"),
        .init(name: "doff", help: "take them off"),
        .init(name: "power", help: "switch them on or off"),
        .init(name: "battery", help: "percent, or unknown"),
        .init(name: "charging", help: "on or off"),
        .init(name: "thermal", help: "none, light, moderate, severe, critical, emergency or shutdown"),
        .init(name: "tap", help: "touch them, which pauses and resumes"),
        .init(name: "hold", help: "touch them for long, which ends the session"),
        .init(name: "pair", help: "show a pairing code; off ends pairing"),
        .init(name: "hosts", help: "whom they trust"),
        .init(name: "unpair", help: "forget a host, by its name or pin"),
      ]),
    value: OperandSpec(placeholder: "VALUE", isRequired: false, choices: []),
    options: [.stateDir, .json],
    examples: [
      .init(line: "glasswing glasses-ctl status", help: "how they are"),
      .init(line: "glasswing glasses-ctl battery 20", help: "a battery that is nearly empty"),
      .init(line: "glasswing glasses-ctl pair", help: "a pairing code"),
    ])

  static let relay = CommandSpec(
    .relay, summary: "forward connections through a bad network",
    details: [
      "Forwards TCP connections to another address and makes the way there as slow, jittery and broken as the preset or "
        + "the script says, so that a link between two processes of this machine meets what it would meet outside. It "
        + "looks at no byte of them. Where it listens is written when it is ready; it goes on until Ctrl-C.",
      "What comes from --to travels to the app, the way of media; what comes from whoever connects travels to the "
        + "glasses. With --json each event is a line of its own on standard output, the first says where it listens.",
      "A script has a time and a step on each line; # begins a remark. Steps: preset NAME; rate 600k (or none); latency "
        + "20ms jitter 5ms; stalls every 2s lasting 50ms-300ms (or none); hold (half-open), release; cut; refuse, "
        + "accept; hold-back 400ms (the next connection, so that later ones overtake it); clear. Behind rate, latency, "
        + "stalls, hold and release, to-app or to-glasses names one direction. A line seed N in front takes the place "
        + "of --seed.",
    ],
    options: [.listen, .to, .preset, .script, .seed, .json, .quiet],
    required: [.listen, .to],
    examples: [
      .init(
        line: "glasswing relay --listen 127.0.0.1:7001 --to 127.0.0.1:7000 --preset wifi-busy",
        help: "a busy room between two processes"),
      .init(
        line: "glasswing relay --listen 127.0.0.1:0 --to 127.0.0.1:7000 --script lift.txt --json",
        help: "for a test: the port is in the first line"),
    ])
}
