import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

/// Two connections on a memory link and what each was told.
private struct ConnectionPair {
  let app: LinkConnection
  let glasses: LinkConnection
  let appEvents = Observed<LinkEvent>()
  let glassesEvents = Observed<LinkEvent>()

  init(
    _ timekeeper: any Timekeeper, name: String = "pair", deviceClock: DeviceClock = .identity,
    capacity: Int = 262_144, latency: Duration = .zero, limits: LinkLimits = LinkLimits()
  ) {
    let transports = MemoryLink.makePair(timekeeper: timekeeper, capacity: capacity, latency: latency)
    app = LinkConnection(
      endpoint: LinkEndpoint(hello: .testApp, limits: limits), transport: transports.app, timekeeper: timekeeper,
      name: name)
    glasses = LinkConnection(
      endpoint: LinkEndpoint(hello: .testGlasses, deviceClock: deviceClock, limits: limits),
      transport: transports.glasses, timekeeper: timekeeper, name: name)
  }

  func start() {
    app.start { [appEvents] in appEvents.record($0) }
    glasses.start { [glassesEvents] in glassesEvents.record($0) }
  }
}

private let keyframe: AccessUnit.Flags = [.sync, .parameterSets]

extension LinkEvent {
  fileprivate var closeCause: LinkClose.Cause? { if case .closed(let close) = self { close.cause } else { nil } }
  fileprivate var unit: ReceivedUnit? { if case .accessUnit(let unit) = self { unit } else { nil } }
}

@Suite("Connections in simulated time")
struct SimulatedConnectionTests {
  private let timekeeper = ManualTimekeeper()

  @Test("open, carry every kind of thing both ways, and close with a goodbye")
  func wholeLife() {
    let pair = ConnectionPair(timekeeper)
    pair.app.send(.sessionOpen(SessionOpen(session: SessionID(1))))
    pair.start()
    timekeeper.settle()
    #expect(pair.appEvents.values == [.opened(.testGlasses)])
    #expect(
      pair.glassesEvents.values == [.opened(.testApp), .message(.sessionOpen(SessionOpen(session: SessionID(1))))])

    let unit = AccessUnit.test(keyframe, bytes: 20_000)
    let photo = [UInt8](repeating: 3, count: 300_000)
    pair.glasses.send(photo: PhotoID(1), bytes: photo)
    pair.glasses.send(unit)
    pair.glasses.send(.deviceState(DeviceStateReport(batteryLevel: 50)))
    timekeeper.settle()
    let events = pair.appEvents.values.filter { if case .photoProgress = $0 { false } else { true } }
    #expect(events[1] == .message(.deviceState(DeviceStateReport(batteryLevel: 50))))
    #expect(events[2].unit?.unit == unit)
    #expect(events[3] == .photo(PhotoID(1), bytes: photo))

    pair.app.close(Goodbye(reason: .finished, text: "bye"))
    pair.app.close(Goodbye(reason: .internalError))
    timekeeper.settle()
    pair.glasses.close(Goodbye(reason: .finished))
    pair.app.send(.sessionOpen(SessionOpen(session: SessionID(2))))
    timekeeper.advance(by: .seconds(60))
    #expect(pair.appEvents.values.compactMap(\.closeCause) == [.finished])
    #expect(pair.appEvents.values.last?.closeCause == .finished)
    #expect(pair.glassesEvents.values.compactMap(\.closeCause) == [.goodbye(Goodbye(reason: .finished, text: "bye"))])
    #expect(pair.glassesEvents.values.last?.closeCause != nil)
  }

  @Test("a slow reader leaves the queue with the sender, where it is dropped and counted (PERF-2)")
  func backpressure() throws {
    let transports = MemoryLink.makePair(timekeeper: timekeeper, capacity: 16_384)
    let glasses = LinkConnection(
      endpoint: LinkEndpoint(hello: .testGlasses), transport: transports.glasses, timekeeper: timekeeper,
      name: "glasses")
    let events = Observed<LinkEvent>()
    let received = Counter()
    // A peer that says hello and then does not read.
    transports.app.open(
      TransportHandlers(
        received: { received.add($0.count) }, writable: {}, closed: { _ in }))
    var peer = LinkEndpoint(hello: .testApp)
    peer.opened(at: timekeeper.now)
    let hello = peer.nextBytes(atMost: 1000, at: timekeeper.now)
    transports.app.write(try #require(hello))
    glasses.start { events.record($0) }
    timekeeper.settle()
    for index in 0..<50 {
      glasses.send(.test(index == 0 ? keyframe : [], bytes: 4000))
      timekeeper.advance(by: .milliseconds(40))
    }
    #expect(received.value <= 16_384 + 300)
    let dropped = events.values.contains { if case .videoDropped(_, _, true) = $0 { true } else { false } }
    #expect(dropped)
    #expect(glasses.statistics.droppedVideoUnits > 30)
    // Room again: what is waiting now leaves.
    glasses.send(.test(keyframe, bytes: 100))
    let before = received.value
    transports.app.consumed(before)
    timekeeper.settle()
    #expect(received.value > before)
    glasses.close(Goodbye(reason: .finished))
    timekeeper.advance(by: .seconds(1))
    #expect(events.values.last?.closeCause == .finished)
  }

  @Test("hours of idle link and minutes of video pass in moments, with nothing lost")
  func minutes() {
    let clock = DeviceClock(offset: .seconds(-77_777), partsPerMillion: 250)
    let pair = ConnectionPair(timekeeper, deviceClock: clock, latency: .milliseconds(15))
    pair.start()
    timekeeper.advance(by: .seconds(600))
    for index in 0..<(24 * 60) {
      pair.glasses.send(.test(index == 0 ? keyframe : [], captured: clock.time(at: timekeeper.now), bytes: 500))
      timekeeper.advance(by: .nanoseconds(41_666_667))
    }
    timekeeper.advance(by: .seconds(1))
    let units = pair.appEvents.values.compactMap(\.unit)
    #expect(units.count == 24 * 60)
    for unit in units {
      #expect(unit.arrived - unit.presentation >= .milliseconds(14))
      #expect(unit.arrived - unit.presentation <= .milliseconds(16))
    }
    #expect(pair.appEvents.values.compactMap(\.closeCause).isEmpty)
    pair.app.close(Goodbye(reason: .finished))
    timekeeper.advance(by: .seconds(1))
  }

  @Test("a peer that never says hello, or falls silent, ends the link by its deadline")
  func silence() {
    let transports = MemoryLink.makePair(timekeeper: timekeeper)
    let app = LinkConnection(
      endpoint: LinkEndpoint(hello: .testApp), transport: transports.app, timekeeper: timekeeper, name: "app")
    let events = Observed<LinkEvent>()
    app.start { events.record($0) }
    timekeeper.advance(by: LinkLimits().helloDeadline)
    #expect(events.values.map(\.closeCause) == [.silent])
    // Its transport is closed with it.
    #expect(transports.glasses.writableBytes == 0)
  }

  @Test("a peer's end that goes without goodbye closes the link with the transport's cause")
  func transportCloses() {
    let transports = MemoryLink.makePair(timekeeper: timekeeper)
    let app = LinkConnection(
      endpoint: LinkEndpoint(hello: .testApp), transport: transports.app, timekeeper: timekeeper, name: "app")
    let events = Observed<LinkEvent>()
    app.start { events.record($0) }
    timekeeper.settle()
    transports.glasses.close()
    timekeeper.settle()
    #expect(events.values.map(\.closeCause) == [.transport(.peerClosed)])
  }

  @Test("close before start is told when started; start twice does nothing more")
  func closedBeforeStart() {
    let pair = ConnectionPair(timekeeper)
    pair.app.close(Goodbye(reason: .finished))
    timekeeper.settle()
    #expect(pair.appEvents.values.isEmpty)
    pair.start()
    pair.start()
    timekeeper.settle()
    #expect(pair.appEvents.values.map(\.closeCause) == [.finished])
    #expect(pair.glassesEvents.values.map(\.closeCause) == [.transport(.peerClosed)])
  }

  @Test("a handler may send and close from within")
  func reentrant() {
    let pair = ConnectionPair(timekeeper)
    let app = pair.app
    pair.app.start { [appEvents = pair.appEvents, weak app] event in
      appEvents.record(event)
      if case .opened = event { app?.send(.sessionOpen(SessionOpen(session: SessionID(1)))) }
      if case .message = event { app?.close(Goodbye(reason: .finished)) }
    }
    let glasses = pair.glasses
    pair.glasses.start { [glassesEvents = pair.glassesEvents, weak glasses] event in
      glassesEvents.record(event)
      if case .message(.sessionOpen(let open)) = event {
        glasses?.send(.sessionOpened(SessionOpened(session: open.session)))
      }
    }
    timekeeper.settle()
    #expect(pair.appEvents.values.count == 3)
    #expect(pair.appEvents.values.last?.closeCause == .finished)
    #expect(pair.glassesEvents.values.last?.closeCause == .goodbye(Goodbye(reason: .finished)))
  }

  @Test("a connection that is released ends its transport, and leaves nothing behind")
  func released() {
    let transports = MemoryLink.makePair(timekeeper: timekeeper)
    let glasses = LinkConnection(
      endpoint: LinkEndpoint(hello: .testGlasses), transport: transports.glasses, timekeeper: timekeeper,
      name: "glasses")
    let events = Observed<LinkEvent>()
    glasses.start { events.record($0) }
    var app: LinkConnection? = LinkConnection(
      endpoint: LinkEndpoint(hello: .testApp), transport: transports.app, timekeeper: timekeeper, name: "app")
    weak let released = app
    app?.start { _ in }
    timekeeper.advance(by: .seconds(1))
    #expect(events.values.count == 1)
    app = nil
    #expect(released == nil)
    timekeeper.settle()
    #expect(events.values.last?.closeCause == .transport(.peerClosed))
  }

  @Test("the handler is let go after the end")
  func handlerReleased() {
    final class Token: Sendable {}
    let pair = ConnectionPair(timekeeper)
    var token: Token? = Token()
    weak let released = token
    pair.app.start { [token] _ in withExtendedLifetime(token) {} }
    token = nil
    #expect(released != nil)
    pair.app.close(Goodbye(reason: .finished))
    timekeeper.advance(by: .seconds(1))
    #expect(released == nil)
  }
}

@Suite("Connections on threads")
struct ThreadedConnectionTests {
  private let timekeeper = SystemTimekeeper.shared

  @Test("a hundred links, opened, used and closed from every side at once, each close once and leave no thread")
  func hundred() async throws {
    for round in 0..<100 {
      let pair = ConnectionPair(timekeeper, name: "hundred links")
      pair.start()
      await withTaskGroup { group in
        group.addTask { for _ in 0..<5 { pair.glasses.send(.test(keyframe, bytes: 5000)) } }
        group.addTask { pair.app.send(.sessionOpen(SessionOpen(session: SessionID(1)))) }
        group.addTask { _ = (pair.app.statistics, pair.glasses.statistics) }
        if round % 3 != 0 { group.addTask { pair.app.close(Goodbye(reason: .finished)) } }
        if round % 3 != 1 { group.addTask { pair.glasses.close(Goodbye(reason: .poweringOff)) } }
      }
      try await pair.appEvents.wait("app's close") { $0.last?.closeCause != nil }
      try await pair.glassesEvents.wait("glasses' close") { $0.last?.closeCause != nil }
      #expect(pair.appEvents.values.compactMap(\.closeCause).count == 1)
      #expect(pair.glassesEvents.values.compactMap(\.closeCause).count == 1)
    }
    let after = await ProcessResources.settled { $0.threads(named: "hundred links").isEmpty }
    #expect(after.threads(named: "hundred links").isEmpty, "\(after)")
  }

  @Test("senders on several threads each keep their order")
  func senders() async throws {
    let pair = ConnectionPair(timekeeper, name: "senders")
    pair.start()
    try await pair.glassesEvents.wait { !$0.isEmpty }
    await withTaskGroup { group in
      for sender in UInt32(1)...4 {
        group.addTask {
          for number in UInt32(1)...100 {
            pair.app.send(.sessionClose(SessionClose(session: SessionID(sender << 16 | number))))
          }
        }
      }
    }
    try await pair.glassesEvents.wait { $0.count == 401 }
    let sessions = pair.glassesEvents.values.compactMap { event -> UInt32? in
      if case .message(.sessionClose(let close)) = event { close.session.value } else { nil }
    }
    for sender in UInt32(1)...4 {
      #expect(sessions.filter { $0 >> 16 == sender }.map { $0 & 0xffff } == Array(1...100))
    }
    pair.app.close(Goodbye(reason: .finished))
    try await pair.appEvents.wait { $0.last?.closeCause != nil }
  }

  @Test("a minute's worth of units and a photo pass whole through a small pipe")
  func throughput() async throws {
    let pair = ConnectionPair(timekeeper, name: "throughput", capacity: 8192)
    pair.start()
    let photo = (0..<2_000_000).map { UInt8(truncatingIfNeeded: $0 / 3) }
    pair.glasses.send(photo: PhotoID(4), bytes: photo)
    var sent: [AccessUnit] = []
    for index in 0..<200 {
      let unit = AccessUnit.test(keyframe, bytes: 5000 + index)
      sent.append(unit)
      pair.glasses.send(unit)
      let count = sent.count
      // Paced by the receiver, so that the queue's age limit has no say.
      if index % 10 == 9 { try await pair.appEvents.wait { $0.compactMap(\.unit).count == count } }
    }
    try await pair.appEvents.wait { $0.contains(.photo(PhotoID(4), bytes: photo)) }
    #expect(pair.appEvents.values.compactMap(\.unit).map(\.unit) == sent)
    pair.app.close(Goodbye(reason: .finished))
    try await pair.glassesEvents.wait { $0.last?.closeCause != nil }
  }
}
