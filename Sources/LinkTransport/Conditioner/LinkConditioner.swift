import LinkProtocol
import Synchronization
import Units

/// Faults of one pair of glasses' links, under the timekeeper, decided by a seed. They outlive the links: a rule, a cap
/// or a mute acts on each link that is joined through the conditioner, until it is taken back or `clear` takes all.
///
/// It works on the sender's side, where chunks are whole: `LinkConnection` writes nothing else. While a direction has no
/// fault and nothing waits, bytes pass as they came, looked at by nobody. What waits is bounded, and makes the writer wait
/// as a socket does: at most 1 MiB, 256 KiB while held, and under a cap 50 ms of it or two chunks of 4 KiB.
///
/// Any thread. Rules decide in the order in which a channel's chunks are written, each by a generator of its own, so the
/// same seed and the same traffic give the same decisions; with a clock that is moved by hand the whole log is the same.
package final class LinkConditioner: Sendable {
  fileprivate struct Link {
    let link: ConditionedLink
    var flows: [Direction: ConditionedFlow]
    /// Directions whose passed bytes somebody hands over now.
    var draining: Set<Direction> = []
  }

  fileprivate struct State {
    var rules: FaultRules
    var settings: [Direction: ConditionedFlow.Settings] = [:]
    /// In the order in which they were joined.
    var links: [Link] = []
    var nextLink: UInt64 = 0
    var nextHoldBack: Duration?
    var refuses = false
    /// Of the jitter.
    var seeds: SeededGenerator
    var timer: LaneTimer?
    var timerDeadline = Instant.distantFuture
  }

  private let timekeeper: any Timekeeper
  /// What waits for the time is let go here.
  private let lane: any Lane
  private let state: Mutex<State>

  package init(timekeeper: any Timekeeper, seed: UInt64) {
    self.timekeeper = timekeeper
    lane = timekeeper.makeLane("gw-faults")
    var seeds = SeededGenerator(seed: seed)
    state = Mutex(State(rules: FaultRules(seed: seeds.next()), seeds: seeds))
  }

  deinit { lane.end() }

  // MARK: - Faults

  /// Adds a rule. It stays until it has nothing left to match, or `clear`. Where several match, the first that was
  /// applied acts; each counts for itself.
  ///
  /// On the control channel nothing may be lost: a message that is dropped there ends the link, as a broken protocol,
  /// `LinkLimits.controlPatience` after the next one has come.
  ///
  /// - Parameter syncOnly: nil for any unit; on the video channel, true for sync units only and false for others only,
  ///   in counting as in acting. Elsewhere of no effect.
  package func apply(
    _ action: Action, to part: Part, _ which: Which, on channel: Channel, _ direction: Direction = .toApp,
    syncOnly: Bool? = nil
  ) {
    change { state, _ in state.rules.add(action, to: part, which, on: channel, direction, syncOnly: syncOnly) }
  }

  /// Lets the units of a channel vanish while everything else lives.
  ///
  /// A muted control channel ends the link, since no sign of life gets through unless media flows: the receiver calls
  /// its peer silent, and if it is unmuted before, the numbers that are missing break the protocol.
  package func mute(_ channel: Channel, _ direction: Direction = .toApp) {
    change { state, _ in state.rules.mute(channel, direction) }
  }

  package func unmute(_ channel: Channel, _ direction: Direction = .toApp) {
    change { state, _ in state.rules.unmute(channel, direction) }
  }

  /// Caps the rate of each link, headers included; nil for no cap. At 0 nothing gets through, as when held.
  package func limit(_ rate: Bitrate?, _ direction: Direction = .toApp) {
    set(direction, .limited(rate)) { $0.condition.rate = rate }
  }

  /// Lets what leaves from now on take time on the way, and up to `jitter` more. Nothing overtakes, so a byte may take
  /// longer than both.
  package func setLatency(_ latency: Duration, jitter: Duration = .zero, _ direction: Direction = .toApp) {
    set(direction, .latency(latency, jitter: jitter)) {
      $0.condition.latency = latency
      $0.condition.jitter = jitter
    }
  }

  /// Lets each link stall now and then, as a stream does whose loss is repaired; nil for no stalls.
  package func setStalls(_ stalls: LinkCondition.Stalls?, _ direction: Direction = .toApp) {
    set(direction, .stalls(stalls)) { $0.condition.stalls = stalls }
  }

  /// Rate, latency, jitter and stalls at once, in place of those before.
  package func setCondition(_ condition: LinkCondition, _ direction: Direction = .toApp) {
    set(direction, .condition(condition)) { $0.condition = condition }
  }

  /// Holds the next link that is joined back for so long, both ways, so that one that is joined behind it gets through
  /// earlier: connections that overtake each other. Once.
  package func holdBackNext(by delay: Duration) {
    state.withLock { $0.nextHoldBack = delay }
  }

  /// Links that are joined from now on break at once, or, with false, no longer do. Those that are up stay.
  package func refuse(_ refuses: Bool) {
    state.withLock { $0.refuses = refuses }
  }

  /// Half-open: nothing gets through, not even the end of a link, and nothing is closed. Both directions make a dead
  /// peer.
  package func hold(_ direction: Direction) { set(direction, .held) { $0.isHeld = true } }

  /// What was held comes at once, in order.
  package func release(_ direction: Direction) {
    change { state, now in
      let held = state.links.reduce(0) { $0 + ($1.flows[direction]?.heldBytes ?? 0) }
      state.rules.note(Event(time: now, direction: direction, kind: .released(bytes: held)))
      state.set(direction, at: now) { $0.isHeld = false }
    }
  }

  /// The transports of all links break now, what was under way is gone, and both ends see it. Links that are joined
  /// later work.
  package func cut() {
    let broken = state.withLock { state in
      let now = timekeeper.now
      for index in state.links.indices {
        for direction in Direction.allCases {
          let lost = state.links[index].flows[direction]?.breakOff() ?? 0
          state.rules.note(Event(time: now, direction: direction, kind: .cut(bytes: lost)))
        }
        state.rules.forget(link: state.links[index].link.number)
      }
      defer { state.links.removeAll() }
      return state.links.map(\.link)
    }
    for link in broken { link.end(.failed("the link was cut by a fault")) }
  }

  /// No faults any more, and what waits goes on.
  package func clear() {
    change { state, now in
      state.rules.removeAll()
      state.settings.removeAll()
      state.nextHoldBack = nil
      state.refuses = false
      for direction in Direction.allCases {
        state.rules.note(Event(time: now, direction: direction, kind: .cleared))
        for index in state.links.indices { state.links[index].flows[direction]?.clear(at: now) }
      }
    }
  }

  /// What was done, with times; the newest 65,536 events.
  package var log: [Event] { state.withLock { $0.rules.log.waiting } }

  private func set(
    _ direction: Direction, _ kind: Event.Kind, _ change: (inout ConditionedFlow.Settings) -> Void
  ) {
    self.change { state, now in
      state.rules.note(Event(time: now, direction: direction, kind: kind))
      state.set(direction, at: now, change)
    }
  }

  private func change(_ change: (inout State, Instant) -> Void) {
    let now = timekeeper.now
    let numbers = state.withLock { state in
      change(&state, now)
      state.advance(to: now)
      return state.links.map(\.link.number)
    }
    drain(numbers)
  }

  // MARK: - Links

  /// Wraps the two ends of a link. The conditioner holds neither of the ends that it returns; one that is released is
  /// closed.
  ///
  /// - Parameter content: what is written to the ends. Of a link of chunks whose two ends are closed nobody is left; a
  ///   link of bytes is a piece of a longer way, and what was written before the ends were closed still passes.
  package func join(
    app: any ByteTransport, glasses: any ByteTransport, carrying content: Content = .chunks
  ) -> (app: any ByteTransport, glasses: any ByteTransport) {
    let now = timekeeper.now
    let (link, isRefused) = state.withLock { state in
      let number = state.nextLink
      state.nextLink += 1
      let link = ConditionedLink(number: number, app: app, glasses: glasses, content: content)
      guard !state.refuses else { return (link, true) }
      let opensAt = state.nextHoldBack.take().map { now + $0 }
      var flows: [Direction: ConditionedFlow] = [:]
      for direction in Direction.allCases {
        flows[direction] = ConditionedFlow(
          direction: direction, link: number, settings: state.settings[direction] ?? .init(), seed: state.seeds.next(),
          content: content, opensAt: opensAt)
      }
      state.links.append(Link(link: link, flows: flows))
      state.decidePassing(state.links.count - 1)
      return (link, false)
    }
    if isRefused { link.end(.failed("the link was refused by a fault")) } else { keepTime() }
    return (
      ConditionedTransport(link: link, sends: .toGlasses, conditioner: self),
      ConditionedTransport(link: link, sends: .toApp, conditioner: self)
    )
  }

  func write(_ bytes: [UInt8], to link: ConditionedLink, _ direction: Direction) {
    let now = timekeeper.now
    state.withLock { state in
      guard let index = state.index(of: link.number) else { return }
      state.links[index].flows[direction]?.advance(to: now)
      state.links[index].flows[direction]?.write(bytes, rules: &state.rules, at: now)
    }
    drain([link.number])
  }

  func room(of link: ConditionedLink, _ direction: Direction) -> Int {
    state.withLock { state in
      guard let index = state.index(of: link.number) else { return 0 }
      return state.links[index].flows[direction]?.askRoom() ?? 0
    }
  }

  /// An end was closed by its owner, who hears of it at once; the other end hears when all before it has passed.
  func close(_ link: ConditionedLink, _ direction: Direction) {
    let now = timekeeper.now
    let isOver: Bool? = state.withLock { state in
      guard let index = state.index(of: link.number) else { return nil }
      state.links[index].flows[direction]?.end(at: now)
      // When both are closed there is nobody left to hand anything to.
      guard link.content == .chunks, state.links[index].flows.values.allSatisfy(\.hasEnded) else { return false }
      state.rules.forget(link: link.number)
      state.links.remove(at: index)
      return true
    }
    guard let isOver else { return }
    link.tell(direction, .closed(.closedHere))
    if isOver { link.end(.closedHere) } else { drain([link.number]) }
  }

  // MARK: - Handing over, with no lock held

  private func drain(_ numbers: [UInt64]) {
    for number in numbers {
      for direction in Direction.allCases { drain(number, direction) }
    }
    keepTime()
  }

  fileprivate enum Step {
    case portion(ConditionedLink, ConditionedFlow.Portion)
    case writable(ConditionedLink)
  }

  /// One at a time for each direction, so that order is kept: who finds somebody at it leaves the rest to them.
  private func drain(_ number: UInt64, _ direction: Direction) {
    let isMine = state.withLock { state in
      guard let index = state.index(of: number) else { return false }
      return state.links[index].draining.insert(direction).inserted
    }
    guard isMine else { return }
    while let step = state.withLock({ $0.nextStep(number, direction) }) {
      switch step {
      case .portion(let link, let portion): link.forward(portion, direction)
      case .writable(let link): link.tell(direction, .writable)
      }
    }
  }

  private func keepTime() {
    state.withLock { state in
      guard let next = state.nextDeadline, next < state.timerDeadline else { return }
      state.timer?.cancel()
      state.timerDeadline = next
      state.timer = lane.run(at: next) { [weak self] in self?.timerFired() }
    }
  }

  private func timerFired() {
    let now = timekeeper.now
    let numbers = state.withLock { state in
      state.timer = nil
      state.timerDeadline = .distantFuture
      state.advance(to: now)
      return state.links.map(\.link.number)
    }
    drain(numbers)
  }
}

extension LinkConditioner.State {
  fileprivate func index(of number: UInt64) -> Int? { links.firstIndex { $0.link.number == number } }

  fileprivate mutating func set(
    _ direction: LinkConditioner.Direction, at now: Instant, _ change: (inout ConditionedFlow.Settings) -> Void
  ) {
    change(&settings[direction, default: ConditionedFlow.Settings()])
    let new = settings[direction] ?? ConditionedFlow.Settings()
    for index in links.indices { links[index].flows[direction]?.set(new, at: now) }
  }

  fileprivate mutating func advance(to now: Instant) {
    for index in links.indices {
      for direction in LinkConditioner.Direction.allCases { links[index].flows[direction]?.advance(to: now) }
      decidePassing(index)
    }
  }

  fileprivate var nextDeadline: Instant? {
    links.lazy.flatMap { $0.flows.values.compactMap(\.nextDeadline) }.min()
  }

  /// Bytes pass a direction as they are while nothing acts on it and nothing waits.
  fileprivate func decidePassing(_ index: Int) {
    for direction in LinkConditioner.Direction.allCases {
      let passes =
        !rules.actsOn(direction) && links[index].flows[direction]?.isIdle == true
        && !links[index].draining.contains(direction)
      links[index].link.setPasses(direction, passes)
    }
  }

  fileprivate mutating func nextStep(
    _ number: UInt64, _ direction: LinkConditioner.Direction
  ) -> LinkConditioner.Step? {
    guard let index = index(of: number) else { return nil }
    if let portion = links[index].flows[direction]?.nextPassed() { return .portion(links[index].link, portion) }
    if links[index].flows.values.allSatisfy(\.isOver) {
      rules.forget(link: number)
      links.remove(at: index)
      return nil
    }
    if links[index].flows[direction]?.takeWritable() == true { return .writable(links[index].link) }
    links[index].draining.remove(direction)
    decidePassing(index)
    return nil
  }
}
