import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Testing
import Units

/// A link over connections that break, with the clock by hand.
@Suite("A stream that outlives its connections")
struct ResumableTransportTests {
  /// The whole of it: a road, and a link over it.
  private final class Drive: Sendable {
    let timekeeper = ManualTimekeeper()
    let road: Road
    let app: LinkConnection
    let appEvents = Observed<LinkEvent>()
    let glassesEvents = Observed<LinkEvent>()
    private let served = Mutex<[LinkConnection]>([])

    init(latency: Duration = .milliseconds(5)) {
      let holder = Holder()
      road = Road(timekeeper: timekeeper, latency: latency) { transport, _ in holder.accept?(transport) }
      let road = road
      app = LinkConnection(
        endpoint: LinkEndpoint(hello: .testApp),
        transport: ResumableDialer.stream(timekeeper: timekeeper) { road.dial() }, timekeeper: timekeeper, name: "app")
      holder.set { [timekeeper, glassesEvents, weak self] transport in
        let glasses = LinkConnection(
          endpoint: LinkEndpoint(hello: .testGlasses), transport: transport, timekeeper: timekeeper, name: "glasses")
        self?.served.withLock { $0.append(glasses) }
        glasses.start { glassesEvents.record($0) }
      }
    }

    var glasses: [LinkConnection] { served.withLock { $0 } }

    func start() {
      app.start { [appEvents] in appEvents.record($0) }
      timekeeper.advance(by: .milliseconds(100))
    }

    /// Messages that arrived at the glasses, by session.
    var sessions: [UInt32] {
      glassesEvents.values.compactMap { event in
        if case .message(.sessionOpen(let open)) = event { open.session.value } else { nil }
      }
    }

    func send(_ session: UInt32) { app.send(.sessionOpen(SessionOpen(session: SessionID(session)))) }
  }

  private final class Holder: Sendable {
    private let state = Mutex<(@Sendable (ResumableTransport) -> Void)?>(nil)
    var accept: (@Sendable (ResumableTransport) -> Void)? { state.withLock { $0 } }
    func set(_ accept: @escaping @Sendable (ResumableTransport) -> Void) { state.withLock { $0 = accept } }
  }

  private static func cause(_ event: LinkEvent?) -> LinkClose.Cause? {
    if case .closed(let close) = event { close.cause } else { nil }
  }

  private static func isClosed(_ events: [LinkEvent]) -> Bool {
    events.contains { if case .closed = $0 { true } else { false } }
  }

  @Test("A link opens, carries messages and closes as over any transport, and leaves nothing")
  func wholeLife() {
    let drive = Drive()
    drive.start()
    #expect(drive.appEvents.values == [.opened(.testGlasses)] && drive.glassesEvents.values == [.opened(.testApp)])
    drive.send(1)
    drive.timekeeper.advance(by: .milliseconds(50))
    #expect(drive.sessions == [1] && drive.road.server.streamCount == 1)
    drive.app.close(Goodbye(reason: .finished))
    drive.timekeeper.advance(by: .seconds(1))
    #expect(Self.isClosed(drive.appEvents.values) && Self.isClosed(drive.glassesEvents.values))
    #expect(drive.road.server.streamCount == 0 && drive.road.openEnds == 0)
    drive.timekeeper.advance(by: .seconds(60))
    #expect(drive.road.dialed == 1, "an ended stream looks for no connection")
  }

  @Test("A connection that breaks is replaced at once; what was under way arrives once and in order")
  func breaks() {
    let drive = Drive()
    drive.start()
    for number in 1...20 {
      drive.send(UInt32(number))
      if number % 5 == 0 {
        drive.road.cut()
        drive.send(100 + UInt32(number))
      }
      drive.timekeeper.advance(by: .milliseconds(3))
    }
    drive.timekeeper.advance(by: .milliseconds(200))
    var expected: [UInt32] = []
    for number: UInt32 in 1...20 { expected += number % 5 == 0 ? [number, 100 + number] : [number] }
    #expect(drive.sessions == expected)
    #expect(drive.road.dialed == 5 && drive.glasses.count == 1)
    #expect(drive.appEvents.values.count == 1, "the link has noticed nothing")
  }

  @Test(
    "A road that is dead for 1, 3 or 8 s and tells nobody: the same link goes on within a second of its return",
    arguments: [1, 3, 8])
  func frozen(_ seconds: Int) {
    let drive = Drive()
    drive.start()
    drive.timekeeper.advance(by: .seconds(5))
    drive.road.freeze()
    drive.send(7)
    drive.timekeeper.advance(by: .seconds(seconds))
    #expect(drive.sessions == [])
    drive.road.thaw()
    // Of a short one nobody can know yet: only quiet of 2.5 s is taken for a dead connection.
    drive.timekeeper.advance(by: seconds < 3 ? .seconds(2) : .seconds(1))
    #expect(drive.sessions == [7] && drive.glasses.count == 1)
    let silences = drive.appEvents.values.filter { if case .silent = $0 { true } else { false } }
    #expect(silences.count == (seconds > 5 ? 1 : 0))
    drive.send(8)
    drive.timekeeper.advance(by: .seconds(20))
    #expect(drive.sessions == [7, 8] && !Self.isClosed(drive.appEvents.values))
    #expect(drive.road.openEnds <= 2 * 20)
  }

  @Test("A road that stays dead ends the link by its own deadline, and nobody dials on")
  func deadForGood() {
    let drive = Drive()
    drive.start()
    drive.road.freeze()
    drive.timekeeper.advance(by: .seconds(12))
    #expect(Self.cause(drive.appEvents.values.last) == .silent)
    #expect(Self.isClosed(drive.glassesEvents.values) && drive.road.server.streamCount == 0)
    let dialed = drive.road.dialed
    drive.timekeeper.advance(by: .seconds(60))
    #expect(drive.road.dialed == dialed && dialed < 25)
  }

  @Test("Over a road of 700 ms each way a link comes back after a break, though tries overlap")
  func slowRoad() {
    let drive = Drive(latency: .milliseconds(700))
    drive.start()
    drive.timekeeper.advance(by: .seconds(6))
    drive.send(1)
    drive.timekeeper.advance(by: .seconds(2))
    drive.road.cut()
    drive.send(2)
    drive.timekeeper.advance(by: .seconds(4))
    #expect(drive.sessions == [1, 2] && drive.glasses.count == 1)
  }

  @Test("A server that was restarted doesn't know the stream: the link ends with words that say so")
  func restarted() {
    let drive = Drive()
    drive.start()
    // As a restart: what was served is gone.
    drive.road.setRefuses(true)
    drive.road.cut()
    drive.timekeeper.advance(by: .milliseconds(700))
    drive.road.server.end()
    drive.road.setRefuses(false)
    drive.timekeeper.advance(by: .seconds(1))
    guard case .transport(.failed(let words)) = Self.cause(drive.appEvents.values.last) else {
      Issue.record("the link goes on")
      return
    }
    #expect(words.contains("restarted"))
  }

  @Test("A first connection that fails is the stream's failure, in its words, without another try")
  func firstFails() {
    let drive = Drive()
    drive.road.setRefuses(true)
    drive.start()
    drive.timekeeper.advance(by: .seconds(5))
    #expect(Self.isClosed(drive.appEvents.values) && drive.road.dialed == 1)
  }

  @Test("With another peer's token nobody gets a stream, and the stream's own peer keeps it")
  func stolenToken() throws {
    let timekeeper = ManualTimekeeper()
    let streams = Observed<ResumableTransport>()
    let road = Road(timekeeper: timekeeper) { transport, _ in streams.record(transport) }
    let client = ResumableDialer.stream(timekeeper: timekeeper) { road.dial(as: "app") }
    client.open(TransportHandlers(received: { _ in }, writable: {}, closed: { _ in }))
    timekeeper.settle()
    let stream = try #require(streams.values.first)
    let heard = Observed<[UInt8]>()
    stream.open(TransportHandlers(received: { heard.record($0) }, writable: {}, closed: { _ in }))
    let answers = Observed<[UInt8]>()
    let thief = road.dial(as: "thief")
    thief.open(TransportHandlers(received: { answers.record($0) }, writable: {}, closed: { _ in }))
    thief.write(StreamRecord.begin(stream.token, received: 0).encoded + [4, 0, 1, 66])
    timekeeper.settle()
    #expect(answers.values == [StreamRecord.refused(.unknownStream).encoded])
    client.write([1, 2, 3])
    timekeeper.settle()
    #expect(heard.values == [[1, 2, 3]] && road.server.streamCount == 1)
    client.close()
    timekeeper.settle()
    #expect(road.server.streamCount == 0)
  }

  @Test("A connection that never says what it is for, or says nonsense, is closed, and costs no stream")
  func strangers() {
    let timekeeper = ManualTimekeeper()
    let road = Road(timekeeper: timekeeper) { _, _ in }
    let closes = Observed<TransportClose>()
    for bytes: [UInt8] in [
      [], [1, 2, 3], [9], [5, 0, 0, 0, 0, 0, 0, 0, 0], [4, 0, 1, 7], Array("GET / HTTP/1.1\r\n".utf8),
    ] {
      let stranger = road.dial()
      stranger.open(TransportHandlers(received: { _ in }, writable: {}, closed: { closes.record($0) }))
      stranger.write(bytes)
    }
    timekeeper.advance(by: .seconds(1))
    #expect(closes.values.count == 4)
    timekeeper.advance(by: .seconds(5))
    #expect(closes.values.count == 6 && road.server.streamCount == 0)
  }

  @Test("A reader that takes nothing slows the writer, also through a new connection, and loses nothing")
  func backpressure() throws {
    let timekeeper = ManualTimekeeper()
    let streams = Observed<ResumableTransport>()
    let road = Road(timekeeper: timekeeper) { transport, _ in streams.record(transport) }
    let client = ResumableDialer.stream(timekeeper: timekeeper) { road.dial() }
    let writables = Observed<Bool>()
    client.open(TransportHandlers(received: { _ in }, writable: { writables.record(true) }, closed: { _ in }))
    timekeeper.settle()
    let stream = try #require(streams.values.first)
    let heard = Observed<[UInt8]>()
    stream.open(TransportHandlers(received: { heard.record($0) }, writable: {}, closed: { _ in }))
    var written = 0
    while client.writableBytes > 1000 {
      client.write([UInt8](repeating: UInt8(written / 1000 % 251), count: 1000))
      written += 1000
      timekeeper.settle()
    }
    #expect(written < 2 * ResumableStream.window, "a memory link and a window, and then no more")
    road.cut()
    timekeeper.advance(by: .milliseconds(100))
    client.write([1])
    written += 1
    for bytes in heard.values { stream.consumed(bytes.count) }
    timekeeper.advance(by: .milliseconds(100))
    #expect(heard.values.reduce(0) { $0 + $1.count } == written && client.writableBytes > 1000)
    client.close()
    timekeeper.settle()
  }
}
