import LinkProtocol
import Testing
import Units

@testable import MWDATCore

@Suite("The session machine")
struct SessionMachineTests {
  typealias Machine = SessionMachine
  typealias Phase = SessionMachine.Phase
  typealias Event = SessionMachine.Event
  typealias Action = SessionMachine.Action

  static let lost = LinkClose(.transport(.peerClosed), at: Instant(nanoseconds: 0))

  static let phases: [Phase] = [
    .idle, .preparing, .connecting, .opening, .started, .paused(.wearer), .ending(.close), .ending(.leave),
    .ending(.nothing), .closing, .stopped,
  ]

  static let events: [Event] = [
    .linkMade, .linkRefused, .stopRequested, .linkOpened, .opened, .paused(.wearer), .resumed,
    .closed(.endedByDevice, text: ""), .failed(.thermalCritical, text: ""), .linkClosed(lost), .startDeadline,
    .closeDeadline, .capabilitiesEnded,
  ]

  /// A machine brought into the phase by events alone.
  static func machine(in phase: Phase) -> Machine {
    var machine = Machine()
    func run(_ events: Event...) {
      _ = machine.start()
      for event in events { _ = machine.handle(event) }
    }
    switch phase {
    case .idle: break
    case .preparing: run()
    case .connecting: run(.linkMade)
    case .opening: run(.linkMade, .linkOpened)
    case .started: run(.linkMade, .linkOpened, .opened)
    case .paused: run(.linkMade, .linkOpened, .opened, .paused(.wearer))
    case .ending(.close): run(.linkMade, .linkOpened, .opened, .stopRequested)
    case .ending(.leave): run(.linkMade, .stopRequested)
    case .ending(.nothing): run(.linkMade, .linkClosed(lost))
    case .closing: run(.linkMade, .linkOpened, .opened, .stopRequested, .capabilitiesEnded)
    case .stopped: run(.stopRequested)
    }
    return machine
  }

  static let deviceEnded = Action.announceFailure(
    SessionFailure(.unexpectedError(description: "Session ended by device"), .ended))
  static let hot = Action.announceFailure(SessionFailure(.thermalCritical, .reported(.thermalCritical)))
  static let silent = Action.announceFailure(.noAnswer)
  static let broken = Action.announceFailure(
    SessionFailure(
      .unexpectedError(description: "The link to the glasses was lost: the connection broke"), .linkLost))
  static let unreachable = Action.announceFailure(SessionFailure(.dwaUnavailable, .linkLost))
  static let ends: [Action] = [.announce(.stopping), .endCapabilities]
  static let gone: [Action] = [.announce(.stopped), .finish]

  /// Every pair that does something; all others change nothing.
  static func reaction(_ phase: Phase, _ event: Event) -> (Phase, [Action])? {
    switch (phase, event) {
    case (.preparing, .linkMade): (.connecting, [.announce(.starting), .awaitStart])
    case (.preparing, .linkRefused): (.idle, [])
    case (.connecting, .linkOpened): (.opening, [.sendOpen])
    case (.opening, .opened): (.started, [.announce(.started)])
    case (.started, .paused): (.paused(.wearer), [.announce(.paused), .pauseCapabilities(.wearer)])
    case (.paused, .resumed): (.started, [.announce(.started), .resumeCapabilities])

    case (.idle, .stopRequested), (.preparing, .stopRequested): (.stopped, gone)
    case (.connecting, .stopRequested): (.ending(.leave), ends)
    case (.opening, .stopRequested), (.started, .stopRequested), (.paused, .stopRequested):
      (.ending(.close), ends + [.awaitClose])

    case (.connecting, .startDeadline): (.ending(.leave), [silent] + ends)
    case (.opening, .startDeadline): (.ending(.close), [silent] + ends + [.awaitClose])

    case (.opening, .closed), (.started, .closed), (.paused, .closed): (.ending(.leave), [deviceEnded] + ends)
    case (.connecting, .failed): (.ending(.leave), [hot] + ends)
    case (.opening, .failed), (.started, .failed), (.paused, .failed):
      (.ending(.close), [hot] + ends + [.awaitClose])

    case (.connecting, .linkClosed), (.opening, .linkClosed): (.ending(.nothing), [unreachable] + ends)
    case (.started, .linkClosed), (.paused, .linkClosed): (.ending(.nothing), [broken] + ends)

    case (.ending(.close), .closed), (.ending(.close), .closeDeadline): (.ending(.leave), [])
    case (.ending(.close), .linkClosed), (.ending(.leave), .linkClosed): (.ending(.nothing), [])
    case (.ending(.close), .capabilitiesEnded): (.closing, [.sendClose])
    case (.ending(.leave), .capabilitiesEnded): (.stopped, [.leaveLink] + gone)
    case (.ending(.nothing), .capabilitiesEnded): (.stopped, gone)

    case (.closing, .closed), (.closing, .closeDeadline): (.stopped, [.leaveLink] + gone)
    case (.closing, .linkClosed): (.stopped, gone)
    default: nil
    }
  }

  @Test("Each event in each phase does what the table says, and nothing else", arguments: phases)
  func table(phase: Phase) {
    #expect(Self.machine(in: phase).phase == phase)
    for event in Self.events {
      var machine = Self.machine(in: phase)
      let actions = machine.handle(event)
      let expected = Self.reaction(phase, event) ?? (phase, [])
      #expect(machine.phase == expected.0, "\(phase) + \(event)")
      #expect(actions == expected.1, "\(phase) + \(event)")
    }
  }

  @Test("start() prepares once, does nothing while under way, and is refused after the end")
  func start() {
    for phase in Self.phases {
      var machine = Self.machine(in: phase)
      let verdict = machine.start()
      switch phase {
      case .idle: #expect(verdict == .prepare && machine.phase == .preparing)
      case .preparing, .connecting, .opening, .started, .paused:
        #expect(verdict == .underway && machine.phase == phase)
      case .ending, .closing, .stopped: #expect(verdict == .refused && machine.phase == phase)
      }
    }
  }

  @Test("The outside sees six states")
  func states() {
    #expect(
      Self.phases.map { Self.machine(in: $0).state } == [
        .idle, .idle, .starting, .starting, .started, .paused, .stopping, .stopping, .stopping, .stopping, .stopped,
      ])
  }

  @Test("Whatever comes in whatever order, states go a legal way and stop once (LIFE-2, LIFE-5, ERR-3)")
  func anyOrder() {
    var generator = SeededGenerator(seed: 1)
    for _ in 0..<5000 {
      var machine = Machine()
      var announced: [Action] = []
      for _ in 0..<30 {
        if Int.random(in: 0..<6, using: &generator) == 0 { _ = machine.start() }
        let event = Self.events[Int.random(in: 0..<Self.events.count, using: &generator)]
        announced += machine.handle(event)
      }
      checkOrder(announced)
    }
  }

  /// At most one failure, directly before `.stopping`; `.stopped` last and once; no step back.
  private func checkOrder(_ actions: [Action]) {
    var state = DeviceSessionState.idle
    var failed = false
    for action in actions {
      switch action {
      case .announce(let next):
        let legal: [DeviceSessionState] =
          switch state {
          case .idle: [.starting, .stopped]
          case .starting: [.started, .stopping]
          case .started: [.paused, .stopping]
          case .paused: [.started, .stopping]
          case .stopping: [.stopped]
          case .stopped: []
          }
        #expect(legal.contains(next), "\(state) to \(next)")
        #expect(!failed || next == .stopping || next == .stopped)
        state = next
      case .announceFailure:
        #expect(!failed && state != .idle && state != .stopping && state != .stopped)
        failed = true
      case .awaitStart, .awaitClose, .sendOpen, .sendClose, .pauseCapabilities, .resumeCapabilities,
        .endCapabilities, .leaveLink, .finish:
        break
      }
    }
  }
}
