import LinkProtocol
import TestSupport
import Testing
import Units

@Suite("Liveness")
struct LivenessTests {
  private let limits = LinkLimits()

  private func openPair() -> EndpointPair {
    var pair = EndpointPair()
    pair.open()
    pair.advance(by: .seconds(10))
    _ = (pair.takeAppEvents(), pair.takeGlassesEvents())
    return pair
  }

  private func take(_ side: EndpointPair.Side, _ pair: inout EndpointPair) -> [LinkEvent] {
    side == .app ? pair.takeAppEvents() : pair.takeGlassesEvents()
  }

  @Test("an idle link stays open for an hour on pings alone, and nobody counts as silent")
  func idle() {
    var limits = LinkLimits()
    limits.clockInterval = .seconds(3600)
    var pair = EndpointPair(limits: limits)
    pair.latency = [.app: .milliseconds(30), .glasses: .milliseconds(30)]
    pair.open()
    pair.advance(by: .seconds(3600))
    #expect(pair.takeAppEvents() == [.opened(.testGlasses)])
    #expect(pair.takeGlassesEvents() == [.opened(.testApp)])
    #expect(pair.app.statistics.sent(.control).units < 8000)
  }

  @Test(
    "a peer that falls silent is told of within 5 s, and given up at 12 s, by either side (LIFE-4)",
    arguments: [EndpointPair.Side.app, .glasses])
  func silent(side: EndpointPair.Side) throws {
    var pair = openPair()
    let other: EndpointPair.Side = side == .app ? .glasses : .app
    pair.muted = [side]
    let muted = pair.now
    pair.advance(by: .seconds(4))
    #expect(take(other, &pair).isEmpty)
    pair.advance(by: .seconds(1))
    let events = take(other, &pair)
    guard case .silent(let since) = events.first else {
      Issue.record("not silent: \(events)")
      return
    }
    #expect(events.count == 1)
    #expect(since <= muted && muted - since <= limits.pingAfter)
    pair.advance(by: .seconds(6))
    #expect(take(other, &pair).isEmpty)
    pair.advance(by: .seconds(1))
    let end = take(other, &pair)
    #expect(end == [.closed(LinkClose(.silent, at: since + limits.silenceDeadline))])
  }

  @Test(
    "a silent peer is asked for a sign of life each second, and heard again by its first byte, with its silence's length"
  )
  func heardAgain() throws {
    var pair = openPair()
    pair.muted = [.app, .glasses]
    let before = pair.glasses.statistics.sent(.control).units
    pair.advance(by: .seconds(9))
    #expect((8...9).contains(pair.glasses.statistics.sent(.control).units - before))
    guard case .silent(let since) = pair.takeGlassesEvents().first else {
      Issue.record("not silent")
      return
    }
    pair.muted = []
    // What was sent in between is lost on this scripted pipe, so the next message has to be the expected one.
    let number = UInt32(pair.glasses.statistics.received(.control).units)
    let close = Message.sessionClose(SessionClose(session: SessionID(1)))
    pair.input(.glasses) { glasses, now in glasses.received(chunk(0, number, close.encoded()), at: now) }
    #expect(pair.takeGlassesEvents() == [.heardAgain(after: pair.now - since), .message(close)])
    // From here it is as if nothing had been.
    #expect(pair.glasses.lastHeard == pair.now)
    pair.muted = [.app, .glasses]
    pair.advance(by: limits.lease)
    #expect(pair.takeGlassesEvents() == [.silent(since: pair.now - limits.lease)])
  }

  @Test("an interruption shorter than the lease leaves no trace")
  func short() {
    var pair = openPair()
    pair.latency = [.app: .milliseconds(3900)]
    pair.advance(by: .seconds(3))
    pair.latency = [:]
    pair.advance(by: .seconds(10))
    #expect(pair.takeGlassesEvents().isEmpty)
    #expect(pair.takeAppEvents().isEmpty)
  }

  /// The side's own deadlines are not looked at for a minute, as of a process that was stopped.
  @Test("a process that did not run asks again before it counts its peer as silent or gone", arguments: [2, 4, 6, 9])
  func oversleep(quietSeconds: Int) {
    var pair = openPair()
    pair.muted = [.glasses]
    pair.advance(by: .seconds(quietSeconds))
    let wasSilent = !pair.takeAppEvents().isEmpty
    #expect(wasSilent == (quietSeconds > 5))
    var app = pair.app
    var now = pair.now + .seconds(60)
    func drain() -> (sent: Int, events: [LinkEvent]) {
      var sent = 0
      while let bytes = app.nextBytes(atMost: 65_536, at: now) { sent += bytes.count }
      var events: [LinkEvent] = []
      while let event = app.nextEvent() { events.append(event) }
      return (sent, events)
    }
    app.timeout(at: now)
    let first = drain()
    #expect(first.sent > 0)
    #expect(first.events.isEmpty)
    // Still nothing: now it concludes what it would have, counting its own time only.
    var events: [LinkEvent] = []
    for _ in 0..<10 {
      now = now + .seconds(1)
      app.timeout(at: now)
      events += drain().events
    }
    #expect(events.contains { $0.isClose(.silent) })
    #expect(events.contains { if case .silent = $0 { true } else { false } } == !wasSilent)
  }
}

extension LinkEvent {
  fileprivate func isClose(_ cause: LinkClose.Cause) -> Bool {
    if case .closed(let close) = self { close.cause == cause } else { false }
  }
}
