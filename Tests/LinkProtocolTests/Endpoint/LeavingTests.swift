import LinkProtocol
import TestSupport
import Testing
import Units

@Suite("Leaving a link")
struct LeavingTests {
  private func openPair() -> EndpointPair {
    var pair = EndpointPair()
    pair.open()
    _ = pair.takeAppEvents()
    _ = pair.takeGlassesEvents()
    return pair
  }

  @Test("sends what waits of messages, then the goodbye, and closes each side once")
  func goodbye() {
    var pair = openPair()
    let stop = Message.sessionClose(SessionClose(session: SessionID(1)))
    let goodbye = Goodbye(reason: .finished, text: "done")
    pair.input(.app) { app, now in
      app.send(stop, at: now)
      app.finish(goodbye, at: now)
      app.finish(Goodbye(reason: .internalError), at: now)
      app.send(stop, at: now)
    }
    #expect(pair.takeAppEvents() == [.closed(LinkClose(.finished, at: pair.now))])
    #expect(pair.takeGlassesEvents() == [.message(stop), .closed(LinkClose(.goodbye(goodbye), at: pair.now))])
    pair.input(.app) { app, now in
      app.transportClosed(.closedHere, at: now)
      app.send(stop, at: now)
      app.received([1, 2, 3], at: now)
      app.timeout(at: now + .seconds(100))
    }
    #expect(pair.takeAppEvents().isEmpty)
    #expect(pair.app.nextDeadline == nil)
  }

  @Test("tells nothing that arrives after finish")
  func nothingAfterFinish() {
    var pair = openPair()
    pair.latency = [.glasses: .milliseconds(5)]
    pair.input(.glasses) { glasses, now in glasses.send(.deviceState(DeviceStateReport()), at: now) }
    pair.input(.app) { app, now in app.finish(Goodbye(reason: .finished), at: now) }
    pair.advance(by: .milliseconds(10))
    #expect(pair.takeAppEvents().count == 1)
  }

  @Test("closes by the farewell deadline when the goodbye can't leave")
  func stuckGoodbye() {
    var pair = openPair()
    pair.writeLimit = 0
    pair.input(.app) { app, now in app.finish(Goodbye(reason: .finished), at: now) }
    #expect(pair.takeAppEvents().isEmpty)
    pair.advance(by: LinkLimits().farewellDeadline)
    #expect(pair.takeAppEvents() == [.closed(LinkClose(.finished, at: pair.now))])
  }

  @Test("drops media that waits, even a unit that has begun")
  func mediaDropped() {
    var pair = openPair()
    pair.rate = [.glasses: 100_000]
    pair.writeLimit = 4096
    pair.input(.glasses) { glasses, now in
      glasses.send(.test(.sync, bytes: 100_000), at: now)
      glasses.send(photo: PhotoID(1), bytes: [1, 2, 3], at: now)
    }
    pair.advance(by: .milliseconds(100))
    pair.input(.glasses) { glasses, now in glasses.finish(Goodbye(reason: .poweringOff), at: now) }
    pair.advance(by: .milliseconds(200))
    let events = pair.takeAppEvents()
    guard case .closed(let close) = events.last else {
      Issue.record("not closed: \(events)")
      return
    }
    #expect(close.cause == .goodbye(Goodbye(reason: .poweringOff)))
    #expect(events.count == 1)
  }

  @Test("before the transport is up closes at once")
  func beforeOpening() {
    var app = LinkEndpoint(hello: .testApp)
    let now = Instant(nanoseconds: 5)
    app.finish(Goodbye(reason: .finished), at: now)
    #expect(app.nextEvent() == .closed(LinkClose(.finished, at: now)))
    app.opened(at: now)
    #expect(app.nextBytes(atMost: 1000, at: now) == nil)
    #expect(app.nextEvent() == nil)
  }

  @Test("before the peer's hello sends its own hello and the goodbye, nothing else")
  func beforeHello() {
    var pair = EndpointPair()
    pair.latency = [.app: .milliseconds(5), .glasses: .milliseconds(5)]
    pair.input(.glasses) { glasses, now in glasses.opened(at: now) }
    pair.input(.app) { app, now in
      app.opened(at: now)
      app.send(.sessionOpen(SessionOpen(session: SessionID(1))), at: now)
      app.finish(Goodbye(reason: .finished), at: now)
    }
    pair.advance(by: .milliseconds(5))
    #expect(
      pair.takeGlassesEvents()
        == [.opened(.testApp), .closed(LinkClose(.goodbye(Goodbye(reason: .finished)), at: pair.now))])
    guard case .closed(let close) = pair.takeAppEvents().last else {
      Issue.record("still open")
      return
    }
    #expect(close.cause == .finished)
  }

  @Test("reports the transport's end as such, unless a side was leaving")
  func transportEnd() {
    var pair = openPair()
    pair.input(.app) { app, now in app.transportClosed(.failed("reset by peer"), at: now) }
    #expect(pair.takeAppEvents() == [.closed(LinkClose(.transport(.failed("reset by peer")), at: pair.now))])
    pair.writeLimit = 0
    pair.input(.glasses) { glasses, now in
      glasses.finish(Goodbye(reason: .finished), at: now)
      glasses.transportClosed(.peerClosed, at: now)
    }
    #expect(pair.takeGlassesEvents() == [.closed(LinkClose(.finished, at: pair.now))])
  }

  @Test("answers broken bytes with a goodbye that says what is wrong")
  func violation() {
    var pair = openPair()
    pair.input(.app) { app, now in app.received(chunk(0, app.nextControl, [0x7f, 0x00]), at: now) }
    let error = LinkProtocolError(.unknownType(0x7f00), stage: .decoding)
    #expect(pair.takeAppEvents() == [.closed(LinkClose(.protocolError(error), at: pair.now))])
    #expect(
      pair.takeGlassesEvents()
        == [.closed(LinkClose(.goodbye(Goodbye(reason: .protocolViolation, text: error.description)), at: pair.now))])
  }

  @Test("refuses messages from the side that may not send them, a second hello, and media for glasses")
  func wrongState() {
    func close(_ side: EndpointPair.Side, _ message: Message) -> LinkProtocolError.Cause? {
      var pair = openPair()
      pair.input(side) { endpoint, now in
        endpoint.received(chunk(0, endpoint.nextControl, message.encoded()), at: now)
      }
      let events = side == .app ? pair.takeAppEvents() : pair.takeGlassesEvents()
      guard case .closed(let close) = events.last, case .protocolError(let error) = close.cause else { return nil }
      return error.cause
    }
    #expect(close(.app, .sessionOpen(SessionOpen(session: SessionID(1)))) == .wrongDirection(.sessionOpen))
    #expect(close(.glasses, .deviceState(DeviceStateReport())) == .wrongDirection(.deviceState))
    #expect(close(.app, .hello(.testGlasses)) == .helloRepeated)

    var pair = openPair()
    pair.input(.glasses) { glasses, now in glasses.received(chunk(2, 0, [UInt8](repeating: 0, count: 30)), at: now) }
    let error = LinkProtocolError(.mediaFrom(.app, .video), stage: .state)
    #expect(pair.takeGlassesEvents() == [.closed(LinkClose(.protocolError(error), at: pair.now))])
  }

  @Test("happens by itself when messages pile up that may not be dropped")
  func backlog() {
    var pair = openPair()
    pair.writeLimit = 0
    pair.input(.glasses) { glasses, now in
      for _ in 0...LinkLimits().controlQueueUnits { glasses.send(.deviceState(DeviceStateReport()), at: now) }
    }
    pair.advance(by: LinkLimits().farewellDeadline)
    let error = LinkProtocolError(.backlog(.control), stage: .sending)
    #expect(pair.takeGlassesEvents() == [.closed(LinkClose(.protocolError(error), at: pair.now))])
  }
}

extension LinkEndpoint {
  /// The number of the message that it expects next.
  fileprivate var nextControl: UInt32 { UInt32(statistics.received(.control).units) }
}
