import LinkProtocol
import TestSupport
import Testing
import Units

@Suite("Opening a link")
struct OpeningTests {
  @Test("tells each side the other's hello")
  func opens() {
    var pair = EndpointPair()
    pair.open()
    #expect(pair.takeAppEvents() == [.opened(.testGlasses)])
    #expect(pair.takeGlassesEvents() == [.opened(.testApp)])
  }

  @Test("lets what was queued before wait for the peer's hello")
  func queuedBefore() {
    var pair = EndpointPair()
    pair.latency = [.app: .milliseconds(10), .glasses: .milliseconds(10)]
    let open = Message.sessionOpen(SessionOpen(session: SessionID(1)))
    pair.input(.app) { app, now in app.send(open, at: now) }
    pair.open()
    pair.advance(by: .milliseconds(10))
    #expect(pair.takeGlassesEvents() == [.opened(.testApp)])
    pair.advance(by: .milliseconds(10))
    #expect(pair.takeGlassesEvents() == [.message(open)])
  }

  @Test("fails on both sides, in words, when the major versions differ")
  func versionMismatch() {
    var newer = Hello.testGlasses
    newer.version = ProtocolVersion(major: 2, minor: 0)
    var pair = EndpointPair(glassesHello: newer)
    pair.open()
    let error = LinkProtocolError(.versionMismatch(peer: newer.version), stage: .hello)
    #expect(pair.takeAppEvents() == [.closed(LinkClose(.protocolError(error), at: pair.now))])
    // The other side is of this version in truth, and understood the hello; it hears why the app leaves.
    #expect(
      pair.takeGlassesEvents().last
        == .closed(
          LinkClose(
            .goodbye(
              Goodbye(
                reason: .versionMismatch, text: "the peer speaks version 2.0, this side 1.0; update the older side")),
            at: pair.now)))
  }

  @Test("goes on with a newer minor version, whose new messages and fields are skipped")
  func newerMinor() {
    var newer = Hello.testGlasses
    newer.version = ProtocolVersion(major: 1, minor: 1)
    var app = LinkEndpoint(hello: .testApp)
    let now = Instant(nanoseconds: 1)
    app.opened(at: now)
    var hello = Message.hello(newer).encoded()
    hello += [1, 2, 3]
    app.received(chunk(0, 0, hello), at: now)
    #expect(app.nextEvent() == .opened(newer))
    app.received(chunk(0, 1, [0x7f, 0x7f, 1]), at: now)
    app.received(chunk(0, 2, Message.sessionOpened(SessionOpened(session: SessionID(3))).encoded() + [8]), at: now)
    app.received(chunk(77, 0, [1, 2]), at: now)
    #expect(app.nextEvent() == .message(.sessionOpened(SessionOpened(session: SessionID(3)))))
    #expect(app.nextEvent() == nil)
    #expect(app.statistics.skippedUnits == 2)
  }

  @Test("ends with the first unit that is not a hello of this protocol")
  func strangers() {
    func cause(_ bytes: [UInt8]) -> LinkProtocolError.Cause? {
      var app = LinkEndpoint(hello: .testApp)
      let now = Instant(nanoseconds: 1)
      app.opened(at: now)
      app.received(bytes, at: now)
      while app.nextBytes(atMost: 65_536, at: now) != nil {}
      guard case .closed(let close) = app.nextEvent(), case .protocolError(let error) = close.cause else { return nil }
      #expect(app.nextEvent() == nil)
      return error.cause
    }
    var wrongMagic = Message.hello(.testGlasses).encoded()
    wrongMagic[2] = 0
    #expect(cause(chunk(0, 0, wrongMagic)) == .notThisProtocol)
    #expect(cause(chunk(0, 0, Message.ping(Ping(number: 1)).encoded())) == .helloMissing(.ping))
    #expect(cause(chunk(2, 0, [UInt8](repeating: 0, count: 30))) == .helloMissing(nil))
    #expect(cause(chunk(0, 0, Message.hello(.testApp).encoded())) == .roleMismatch(.app))
    #expect(cause(Array("GET / HTTP/1.1\r\nHost: example\r\n\r\n".utf8)) == .reservedFlags(0x45))
    #expect(cause(chunk(9, 0, [1])) == .unknownChannel(9))
  }

  @Test("gives up when no hello comes by the deadline")
  func noHello() {
    var pair = EndpointPair()
    pair.muted = [.glasses]
    pair.open()
    pair.advance(by: LinkLimits().helloDeadline - .milliseconds(1))
    #expect(pair.takeAppEvents().isEmpty)
    pair.advance(by: .milliseconds(1))
    #expect(pair.takeAppEvents() == [.closed(LinkClose(.silent, at: pair.now))])
    #expect(pair.app.nextDeadline == nil)
  }
}

/// A unit in one chunk.
func chunk(_ channel: UInt8, _ sequence: UInt32, _ unit: [UInt8]) -> [UInt8] {
  var bytes: [UInt8] = []
  ChunkHeader(
    channel: channel, payloadLength: UInt16(unit.count), sequence: sequence, offset: 0, total: UInt32(unit.count)
  ).append(to: &bytes)
  return bytes + unit
}
