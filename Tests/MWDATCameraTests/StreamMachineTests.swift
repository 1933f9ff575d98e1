import LinkProtocol
import MWDATCamera
import Testing
import Units

@Suite("Stream state machine")
struct StreamMachineTests {
  static let device = "glasses-1"
  static let own = StreamID(1)
  static let next = StreamID(2)
  static let old = StreamID(9)
  static let clock = StreamMachine.DeadlineID(7)

  /// Phases by the names that the table uses.
  static let phases: [String: StreamMachine.Phase] = [
    "stopped": .stopped,
    "waiting": .waitingForDevice(own, isPermitted: false, clock),
    "permitted": .waitingForDevice(own, isPermitted: true, clock),
    "starting": .starting(own, clock),
    "streaming": .streaming(own),
    "stalled": .stalled(own, linkAnswers: true, clock),
    "silent": .stalled(own, linkAnswers: false, clock),
    "paused": .paused(own),
    "resuming": .resuming(own, clock),
    "stopping": .stopping(own, next: nil, clock),
    "restarting": .stopping(own, next: next, clock),
    "invalid": .invalidated,
  ]

  static let events: [String: StreamMachine.Event] = [
    "start": .start(next),
    "stop": .stop,
    "permitted": .permitted(own),
    "refused": .refused(own, .permissionDenied),
    "unit": .unitPassed(own),
    "missing": .unitsMissing(own, linkAnswers: true),
    "mute": .unitsMissing(own, linkAnswers: false),
    "failed": .failed(own, .videoStreamingError),
    "ended": .glassesStopped(own, nil),
    "broken": .glassesStopped(own, .videoStreamingError),
    "linkLost": .linkLost(.hingesClosed),
    "pause": .sessionPaused,
    "resume": .sessionResumed,
    "deadline": .deadline(clock),
    "parentEnded": .parentEnded,
  ]

  /// Each phase and event: the phase after it and the actions. "-" is nothing at all.
  static let table: [(phase: String, event: String, outcome: String)] = """
    stopped    | start       | waiting    : waitingForDevice clock30 check
    stopped    | stop        | -
    stopped    | permitted   | -
    stopped    | refused     | -
    stopped    | unit        | -
    stopped    | missing     | -
    stopped    | mute        | -
    stopped    | failed      | -
    stopped    | ended       | -
    stopped    | broken      | -
    stopped    | linkLost    | -
    stopped    | pause       | -
    stopped    | resume      | -
    stopped    | deadline    | -
    stopped    | parentEnded | invalid    :
    waiting    | start       | -
    waiting    | stop        | stopped    : noclock stopping close stopped
    waiting    | permitted   | starting   : starting clock10 open
    waiting    | refused     | invalid    : noclock !permissionDenied stopping close end stopped
    waiting    | unit        | -
    waiting    | missing     | -
    waiting    | mute        | -
    waiting    | failed      | invalid    : noclock !videoStreamingError stopping close end stopped
    waiting    | ended       | -
    waiting    | broken      | -
    waiting    | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    waiting    | pause       | -
    waiting    | resume      | -
    waiting    | deadline    | invalid    : noclock !deviceNotConnected stopping close end stopped
    waiting    | parentEnded | invalid    : noclock stopping close stopped
    permitted  | start       | -
    permitted  | stop        | stopped    : noclock stopping close stopped
    permitted  | permitted   | -
    permitted  | refused     | invalid    : noclock !permissionDenied stopping close end stopped
    permitted  | unit        | -
    permitted  | missing     | -
    permitted  | mute        | -
    permitted  | failed      | invalid    : noclock !videoStreamingError stopping close end stopped
    permitted  | ended       | -
    permitted  | broken      | -
    permitted  | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    permitted  | pause       | -
    permitted  | resume      | starting   : starting clock10 open
    permitted  | deadline    | invalid    : noclock !deviceNotConnected stopping close end stopped
    permitted  | parentEnded | invalid    : noclock stopping close stopped
    starting   | start       | -
    starting   | stop        | stopping   : stopping clock1.5 tell
    starting   | permitted   | -
    starting   | refused     | invalid    : noclock !permissionDenied stopping tell end stopped
    starting   | unit        | streaming  : noclock streaming watch
    starting   | missing     | -
    starting   | mute        | -
    starting   | failed      | invalid    : noclock !videoStreamingError stopping tell end stopped
    starting   | ended       | invalid    : noclock !internalError stopping close end stopped
    starting   | broken      | invalid    : noclock !videoStreamingError stopping close end stopped
    starting   | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    starting   | pause       | paused     : noclock hold paused
    starting   | resume      | -
    starting   | deadline    | invalid    : noclock !timeout stopping tell end stopped
    starting   | parentEnded | invalid    : noclock stopping tell stopped
    streaming  | start       | -
    streaming  | stop        | stopping   : stopping clock1.5 tell
    streaming  | permitted   | -
    streaming  | refused     | invalid    : noclock !permissionDenied stopping tell end stopped
    streaming  | unit        | -
    streaming  | missing     | stalled    : starting clock10 ask
    streaming  | mute        | silent     : waitingForDevice clock10 ask
    streaming  | failed      | invalid    : noclock !videoStreamingError stopping tell end stopped
    streaming  | ended       | invalid    : noclock !internalError stopping close end stopped
    streaming  | broken      | invalid    : noclock !videoStreamingError stopping close end stopped
    streaming  | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    streaming  | pause       | paused     : noclock hold paused
    streaming  | resume      | -
    streaming  | deadline    | -
    streaming  | parentEnded | invalid    : noclock stopping tell stopped
    stalled    | start       | -
    stalled    | stop        | stopping   : stopping clock1.5 tell
    stalled    | permitted   | -
    stalled    | refused     | invalid    : noclock !permissionDenied stopping tell end stopped
    stalled    | unit        | streaming  : noclock streaming watch
    stalled    | missing     | -
    stalled    | mute        | silent     : waitingForDevice ask
    stalled    | failed      | invalid    : noclock !videoStreamingError stopping tell end stopped
    stalled    | ended       | invalid    : noclock !internalError stopping close end stopped
    stalled    | broken      | invalid    : noclock !videoStreamingError stopping close end stopped
    stalled    | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    stalled    | pause       | paused     : noclock hold paused
    stalled    | resume      | -
    stalled    | deadline    | invalid    : noclock !timeout stopping tell end stopped
    stalled    | parentEnded | invalid    : noclock stopping tell stopped
    silent     | start       | -
    silent     | stop        | stopping   : stopping clock1.5 tell
    silent     | permitted   | -
    silent     | refused     | invalid    : noclock !permissionDenied stopping tell end stopped
    silent     | unit        | streaming  : noclock streaming watch
    silent     | missing     | stalled    : starting ask
    silent     | mute        | -
    silent     | failed      | invalid    : noclock !videoStreamingError stopping tell end stopped
    silent     | ended       | invalid    : noclock !internalError stopping close end stopped
    silent     | broken      | invalid    : noclock !videoStreamingError stopping close end stopped
    silent     | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    silent     | pause       | paused     : noclock hold paused
    silent     | resume      | -
    silent     | deadline    | invalid    : noclock !deviceNotConnected stopping tell end stopped
    silent     | parentEnded | invalid    : noclock stopping tell stopped
    paused     | start       | -
    paused     | stop        | stopping   : stopping clock1.5 tell
    paused     | permitted   | -
    paused     | refused     | invalid    : noclock !permissionDenied stopping tell end stopped
    paused     | unit        | -
    paused     | missing     | -
    paused     | mute        | -
    paused     | failed      | invalid    : noclock !videoStreamingError stopping tell end stopped
    paused     | ended       | invalid    : noclock !internalError stopping close end stopped
    paused     | broken      | invalid    : noclock !videoStreamingError stopping close end stopped
    paused     | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    paused     | pause       | -
    paused     | resume      | resuming   : clock10 resume
    paused     | deadline    | -
    paused     | parentEnded | invalid    : noclock stopping tell stopped
    resuming   | start       | -
    resuming   | stop        | stopping   : stopping clock1.5 tell
    resuming   | permitted   | -
    resuming   | refused     | invalid    : noclock !permissionDenied stopping tell end stopped
    resuming   | unit        | streaming  : noclock streaming watch
    resuming   | missing     | -
    resuming   | mute        | -
    resuming   | failed      | invalid    : noclock !videoStreamingError stopping tell end stopped
    resuming   | ended       | invalid    : noclock !internalError stopping close end stopped
    resuming   | broken      | invalid    : noclock !videoStreamingError stopping close end stopped
    resuming   | linkLost    | invalid    : noclock !hingesClosed stopping close end stopped
    resuming   | pause       | paused     : noclock hold
    resuming   | resume      | -
    resuming   | deadline    | invalid    : noclock !timeout stopping tell end stopped
    resuming   | parentEnded | invalid    : noclock stopping tell stopped
    stopping   | start       | restarting :
    stopping   | stop        | -
    stopping   | permitted   | -
    stopping   | refused     | stopped    : noclock stopped
    stopping   | unit        | -
    stopping   | missing     | -
    stopping   | mute        | -
    stopping   | failed      | stopped    : noclock stopped
    stopping   | ended       | stopped    : noclock stopped
    stopping   | broken      | stopped    : noclock stopped
    stopping   | linkLost    | stopped    : noclock stopped
    stopping   | pause       | -
    stopping   | resume      | -
    stopping   | deadline    | stopped    : noclock stopped
    stopping   | parentEnded | invalid    : noclock stopped
    restarting | start       | -
    restarting | stop        | stopping   :
    restarting | permitted   | -
    restarting | refused     | waiting    : noclock stopped waitingForDevice clock30 check
    restarting | unit        | -
    restarting | missing     | -
    restarting | mute        | -
    restarting | failed      | waiting    : noclock stopped waitingForDevice clock30 check
    restarting | ended       | waiting    : noclock stopped waitingForDevice clock30 check
    restarting | broken      | waiting    : noclock stopped waitingForDevice clock30 check
    restarting | linkLost    | waiting    : noclock stopped waitingForDevice clock30 check
    restarting | pause       | -
    restarting | resume      | -
    restarting | deadline    | waiting    : noclock stopped waitingForDevice clock30 check
    restarting | parentEnded | invalid    : noclock stopped
    invalid    | start       | invalid    : ?internalError
    invalid    | stop        | -
    invalid    | permitted   | -
    invalid    | refused     | -
    invalid    | unit        | -
    invalid    | missing     | -
    invalid    | mute        | -
    invalid    | failed      | -
    invalid    | ended       | -
    invalid    | broken      | -
    invalid    | linkLost    | -
    invalid    | pause       | -
    invalid    | resume      | -
    invalid    | deadline    | -
    invalid    | parentEnded | -
    """.split(separator: "\n").map { line in
      let columns = line.split(separator: "|").map { String($0).trimmed }
      return (columns[0], columns[1], columns[2])
    }

  @Test("Every phase answers every event as the table says")
  func table() throws {
    #expect(Self.table.count == Self.phases.count * Self.events.count)
    for row in Self.table {
      let phase = try #require(Self.phases[row.phase])
      let event = try #require(Self.events[row.event])
      var machine = StreamMachine(device: Self.device, phase: phase, isSessionPaused: row.phase == "permitted")
      let actions = machine.handle(event)
      let outcome = actions.isEmpty && machine.phase == phase ? "-" : "\(name(machine.phase)) : \(text(actions))"
      #expect(outcome.words == row.outcome.words, "\(row.phase) on \(row.event)")
    }
  }

  @Test("What comes from an older attempt or an older deadline changes nothing (LIFE-2)")
  func stale() {
    let stale: [StreamMachine.Event] = [
      .permitted(Self.old), .refused(Self.old, .permissionDenied), .unitPassed(Self.old),
      .failed(Self.old, .internalError), .unitsMissing(Self.old, linkAnswers: false), .glassesStopped(Self.old, nil),
      .deadline(.init(6)),
    ]
    for phase in Self.phases.values {
      for event in stale {
        var machine = StreamMachine(device: Self.device, phase: phase)
        #expect(machine.handle(event).isEmpty, "\(phase) on \(event)")
        #expect(machine.phase == phase, "\(phase) on \(event)")
      }
    }
  }

  @Test("A start in a paused session asks for pictures once the session goes on")
  func startInPausedSession() {
    var machine = StreamMachine(device: Self.device)
    _ = machine.handle(.sessionPaused)
    _ = machine.handle(.start(Self.own))
    #expect(machine.handle(.permitted(Self.own)).isEmpty)
    #expect(machine.state == .waitingForDevice)
    #expect(machine.handle(.sessionResumed).contains(.open(Self.own)))
    #expect(machine.state == .starting)
  }

  @Test("Any events in any order give a legal path with one stopped for each start (LIFE-2, LIFE-5)")
  func randomPaths() {
    for seed in 0..<200 as Range<UInt64> { randomPath(seed: seed) }
  }

  private func randomPath(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    var machine = StreamMachine(device: Self.device)
    var attempts: UInt32 = 0
    var announced: [StreamState] = []
    var errorsSinceState = 0
    for _ in 0..<200 {
      let current = machine.currentAttempt ?? StreamID(attempts)
      let event: StreamMachine.Event
      switch Int.random(in: 0..<14, using: &generator) {
      case 0, 1:
        attempts += 1
        event = .start(StreamID(attempts))
      case 2: event = .stop
      case 3, 4: event = .permitted(current)
      case 5: event = .refused(current, .permissionDenied)
      case 6, 7: event = .unitPassed(current)
      case 8: event = .sessionPaused
      case 9: event = .sessionResumed
      case 12: event = .unitsMissing(current, linkAnswers: true)
      case 13: event = .unitsMissing(current, linkAnswers: false)
      case 10: event = .glassesStopped(current, nil)
      default: event = .failed(current, .videoStreamingError)
      }
      for action in machine.handle(event) {
        switch action {
        case .announce(let state):
          let before = announced.last ?? .stopped
          #expect(Self.legal[before]?.contains(state) == true, "\(before) to \(state) on \(event)")
          if errorsSinceState > 0 { #expect(state == .stopping, "an error explains the end that follows it") }
          errorsSinceState = 0
          announced.append(state)
        case .report:
          errorsSinceState += 1
          #expect(errorsSinceState == 1)
        case .refuse, .check, .open, .watch, .askForKeyframe, .hold, .resume, .close, .setDeadline, .clearDeadline,
          .endCamera:
          break
        }
      }
      #expect(announced.last ?? .stopped == machine.state)
      // A failed stream is not used again; the app adds a new camera.
      if machine.phase == .invalidated { machine = StreamMachine(device: Self.device) }
    }
  }

  static let legal: [StreamState: Set<StreamState>] = [
    .stopped: [.waitingForDevice],
    // From here to streaming or paused only when pictures had stopped coming.
    .waitingForDevice: [.starting, .streaming, .paused, .stopping],
    .starting: [.streaming, .waitingForDevice, .paused, .stopping],
    .streaming: [.starting, .waitingForDevice, .paused, .stopping],
    .paused: [.streaming, .stopping],
    .stopping: [.stopped],
  ]
}

// MARK: - Words of the table

extension StreamMachineTests {
  private func name(_ phase: StreamMachine.Phase) -> String {
    switch phase {
    case .stopped: "stopped"
    case .waitingForDevice(_, let isPermitted, _): isPermitted ? "permitted" : "waiting"
    case .starting: "starting"
    case .streaming: "streaming"
    case .stalled(_, let linkAnswers, _, _): linkAnswers ? "stalled" : "silent"
    case .paused: "paused"
    case .resuming: "resuming"
    case .stopping(_, let next, _): next == nil ? "stopping" : "restarting"
    case .invalidated: "invalid"
    }
  }

  private func text(_ actions: [StreamMachine.Action]) -> String {
    actions.map { action in
      switch action {
      case .announce(let state): "\(state)"
      case .report(let error): "!" + ("\(error)".split(separator: "(").first ?? "")
      case .refuse(let error): "?\(error)"
      case .check: "check"
      case .open: "open"
      case .watch: "watch"
      case .askForKeyframe: "ask"
      case .hold: "hold"
      case .resume: "resume"
      case .close(_, let tellsGlasses): tellsGlasses ? "tell" : "close"
      case .setDeadline(_, .seconds(30)): "clock30"
      case .setDeadline(_, .seconds(10)): "clock10"
      case .setDeadline(_, .milliseconds(1500)): "clock1.5"
      case .setDeadline(_, let other): "clock?\(other)"
      case .clearDeadline: "noclock"
      case .endCamera: "end"
      }
    }.joined(separator: " ")
  }
}

extension String {
  fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
  fileprivate var words: [String] { split(separator: " ").map { String($0) } }
}
