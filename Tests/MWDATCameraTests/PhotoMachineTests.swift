import LinkProtocol
import MWDATCamera
import Testing
import Units

@Suite("Photo state machine")
struct PhotoMachineTests {
  static let own = PhotoMachine.Attempt(1)
  static let old = PhotoMachine.Attempt(9)

  static let phases: [String: PhotoMachine.Phase] = [
    "stopped": .stopped, "starting": .starting(own, isStopWanted: false),
    "unwanted": .starting(own, isStopWanted: true),
    "started": .started(own), "invalid": .invalidated,
  ]

  static let events: [String: PhotoMachine.Event] = [
    "start": .start, "stop": .stop, "permitted": .permitted(own), "refused": .refused(own, .permissionDenied),
    "deadline": .deadline(own), "linkLost": .linkLost, "parentEnded": .parentEnded,
  ]

  /// As the table of `StreamMachineTests`.
  static let table = """
    stopped  | start       | starting : starting check
    stopped  | stop        | -
    stopped  | permitted   | -
    stopped  | refused     | -
    stopped  | deadline    | -
    stopped  | linkLost    | -
    stopped  | parentEnded | invalid  :
    starting | start       | -
    starting | stop        | unwanted :
    starting | permitted   | started  : started
    starting | refused     | stopped  : !permissionDenied stopping stopped
    starting | deadline    | stopped  : !timedOut stopping stopped
    starting | linkLost    | stopped  : !notConnected stopping stopped
    starting | parentEnded | invalid  : stopping stopped
    unwanted | start       | starting :
    unwanted | stop        | -
    unwanted | permitted   | stopped  : stopping stopped
    unwanted | refused     | stopped  : stopping stopped
    unwanted | deadline    | stopped  : stopping stopped
    unwanted | linkLost    | stopped  : stopping stopped
    unwanted | parentEnded | invalid  : stopping stopped
    started  | start       | -
    started  | stop        | stopped  : cancel stopping stopped
    started  | permitted   | -
    started  | refused     | -
    started  | deadline    | -
    started  | linkLost    | -
    started  | parentEnded | invalid  : cancel stopping stopped
    invalid  | start       | invalid  : !cameraStopped
    invalid  | stop        | -
    invalid  | permitted   | -
    invalid  | refused     | -
    invalid  | deadline    | -
    invalid  | linkLost    | -
    invalid  | parentEnded | -
    """

  @Test("Every phase answers every event as the table says")
  func table() throws {
    let rows = Self.table.split(separator: "\n").map { $0.split(separator: "|").map { String($0).words } }
    #expect(rows.count == Self.phases.count * Self.events.count)
    for row in rows {
      let phase = try #require(Self.phases[row[0][0]])
      let event = try #require(Self.events[row[1][0]])
      var machine = PhotoMachine(phase: phase)
      let actions = machine.handle(event)
      let name = try #require(Self.name(machine.phase))
      let outcome = actions.isEmpty && machine.phase == phase ? ["-"] : [name, ":"] + actions.map(Self.text)
      #expect(outcome == row[2], "\(row[0]) on \(row[1])")
    }
  }

  @Test("What belongs to an older start changes nothing")
  func stale() {
    for phase in Self.phases.values {
      for event in [.permitted(Self.old), .refused(Self.old, .notConnected), .deadline(Self.old)]
        as [PhotoMachine.Event]
      {
        var machine = PhotoMachine(phase: phase)
        let actions = machine.handle(event)
        #expect(actions.isEmpty)
        #expect(machine.phase == phase)
      }
    }
  }

  private static func name(_ phase: PhotoMachine.Phase) -> String? {
    switch phase {
    case .stopped: "stopped"
    case .starting(_, let isStopWanted): isStopWanted ? "unwanted" : "starting"
    case .started: "started"
    case .invalidated: "invalid"
    }
  }

  private static func text(_ action: PhotoMachine.Action) -> String {
    switch action {
    case .announce(let state): "\(state)"
    case .report(let failure): "!\(failure)"
    case .check: "check"
    case .cancelCapture: "cancel"
    }
  }
}

@Suite("Capture state machine")
struct CaptureMachineTests {
  static let own = PhotoID(1)
  static let old = PhotoID(9)
  static let bytes: [UInt8] = [1, 2, 3]
  static let facts = PhotoFacts(
    format: .jpeg, size: PixelSize(width: 2, height: 2), orientation: 1, captured: DeviceTime(nanoseconds: 0),
    byteCount: 3, digest: [UInt8](repeating: 0, count: 32))

  static func result(_ photo: PhotoID, _ outcome: PhotoResult.Outcome) -> PhotoResult {
    PhotoResult(photo: photo, outcome: outcome, text: "said")
  }

  @Test("Result then bytes, and bytes then result, end in the same photo")
  func bothOrders() {
    for bytesFirst in [false, true] {
      var machine = CaptureMachine()
      let isAccepted = machine.begin(Self.own, for: .stream)
      #expect(isAccepted)
      let taken = Self.result(Self.own, .taken(Self.facts))
      let second: CaptureMachine.Action
      if bytesFirst {
        let first = machine.received(Self.own, bytes: Self.bytes)
        #expect(first == .progress(.stream, received: 3, total: 3))
        second = machine.result(taken)
      } else {
        let first = machine.result(taken)
        #expect(first == .progress(.stream, received: 0, total: 3))
        second = machine.received(Self.own, bytes: Self.bytes)
      }
      #expect(second == .verify(Self.own, Self.facts, bytes: Self.bytes))
      #expect(!machine.isIdle)
      let deliveries = [machine.delivered(Self.own), machine.delivered(Self.own)]
      #expect(deliveries == [true, false])
      #expect(machine.isIdle)
    }
  }

  @Test("Every input in every phase: one ending for each capture, nothing for another's")
  func inputs() {
    let waiting = CaptureMachine.Phase.waiting(Self.own, .stream, facts: nil, bytes: nil)
    let withFacts = CaptureMachine.Phase.waiting(Self.own, .stream, facts: Self.facts, bytes: nil)
    let withBytes = CaptureMachine.Phase.waiting(Self.own, .stream, facts: nil, bytes: Self.bytes)
    let verifying = CaptureMachine.Phase.verifying(Self.own, .stream, Self.facts, bytes: Self.bytes)
    for phase in [.idle, waiting, withFacts, withBytes, verifying] {
      for photo in [Self.own, Self.old] {
        let isOurs = photo == Self.own && phase != .idle
        for failure in [CaptureMachine.Failure.timedOut, .damaged, .cancelled, .linkLost] {
          var machine = CaptureMachine(phase: phase)
          let ending = machine.failed(photo, failure)
          #expect(ending == (isOurs ? .init(owner: .stream, photo: photo, failure: failure) : nil))
          #expect(machine.phase == (isOurs ? .idle : phase))
        }
        var refused = CaptureMachine(phase: phase)
        let action = refused.result(Self.result(photo, .failed(.photoBusy)))
        let isAwaited = isOurs && (phase == waiting || phase == withBytes)
        let ending = CaptureMachine.Ending(
          owner: .stream, photo: photo, failure: .refused(.photoBusy, text: "said"))
        #expect(action == (isAwaited ? .fail(ending) : .none))

        var moved = CaptureMachine(phase: phase)
        let moves = isOurs && (phase == waiting || phase == withFacts)
        let movement = moved.progress(photo, received: 1, total: 3)
        #expect(movement == (moves ? .progress(.stream, received: 1, total: 3) : .none))

        var delivered = CaptureMachine(phase: phase)
        let isDelivered = delivered.delivered(photo)
        #expect(isDelivered == (isOurs && phase == verifying))
      }
      var busy = CaptureMachine(phase: phase)
      let isAccepted = busy.begin(Self.old, for: .standalone)
      #expect(isAccepted == (phase == .idle))
      var other = CaptureMachine(phase: phase)
      let cancelled = (other.cancel(.standalone), other.cancel(.stream))
      #expect(cancelled.0 == nil)
      #expect((cancelled.1 != nil) == (phase != .idle))
      var lost = CaptureMachine(phase: phase)
      let loss = lost.linkLost()
      #expect((loss != nil) == (phase != .idle))
    }
  }

  @Test("Another number of bytes than announced is damage")
  func wrongLength() {
    var machine = CaptureMachine()
    _ = machine.begin(Self.own, for: .standalone)
    _ = machine.result(Self.result(Self.own, .taken(Self.facts)))
    let ending = CaptureMachine.Ending(owner: .standalone, photo: Self.own, failure: .damaged)
    let action = machine.received(Self.own, bytes: [1, 2])
    #expect(action == .fail(ending))
    #expect(machine.isIdle)
  }
}

extension String {
  fileprivate var words: [String] { split(separator: " ").map { String($0) } }
}
