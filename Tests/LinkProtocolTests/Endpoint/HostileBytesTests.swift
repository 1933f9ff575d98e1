import TestSupport
import Testing
import Units

@testable import LinkProtocol

/// Whole endpoints against bytes in any portions, and against bytes that no honest peer sends.
@Suite("An endpoint and any bytes")
struct HostileBytesTests {
  private static let now = Instant(nanoseconds: 1_000_000_000)

  private static func hello(_ role: LinkRole, minor: UInt8) -> Hello {
    var hello: Hello = role == .glasses ? .testGlasses : .testApp
    hello.version = ProtocolVersion(major: ProtocolVersion.current.major, minor: minor)
    return hello
  }

  /// Everything a peer of that role sends, from its hello to its goodbye, with what only a newer one has.
  private static func bytes(from role: LinkRole, minor: UInt8) -> [UInt8] {
    let other: LinkRole = role == .glasses ? .app : .glasses
    var peer = LinkEndpoint(hello: hello(role, minor: minor))
    peer.opened(at: now)
    peer.received(chunk(0, 0, Message.hello(hello(other, minor: minor)).encoded()), at: now)
    if role == .glasses {
      peer.send(.sessionOpened(SessionOpened(session: SessionID(1))), at: now)
      peer.send(.test(stream: 1, [.sync, .parameterSets], bytes: 200), at: now)
      peer.send(photo: PhotoID(2), bytes: Array(0..<90), at: now)
    } else {
      peer.send(.sessionOpen(SessionOpen(session: SessionID(1))), at: now)
      peer.send(.keyframeRequest(KeyframeRequest(stream: StreamID(1), reason: .loss)), at: now)
    }
    var bytes: [UInt8] = []
    while let more = peer.nextBytes(atMost: 300, at: now) { bytes += more }
    return bytes
  }

  /// What one side makes of them: all its events but progress, whose number depends on the portions, and whether it
  /// ends when it is told to.
  private static func events(_ role: LinkRole, _ portions: [[UInt8]]) -> [LinkEvent] {
    var endpoint = LinkEndpoint(hello: hello(role, minor: ProtocolVersion.current.minor))
    endpoint.opened(at: now)
    for portion in portions { endpoint.received(portion, at: now) }
    endpoint.transportClosed(.peerClosed, at: now)
    while endpoint.nextBytes(atMost: 65_536, at: now) != nil {}
    var events: [LinkEvent] = []
    while let event = endpoint.nextEvent() {
      if case .photoProgress = event { continue }
      events.append(event)
    }
    return events
  }

  @Test(
    "either side makes the same of any portions, from a peer of this version or a newer one, and damage never traps",
    arguments: [LinkRole.app, .glasses], [UInt8(0), 9])
  func verified(_ role: LinkRole, minor: UInt8) {
    let bytes = Self.bytes(from: role == .glasses ? .app : .glasses, minor: minor)
    let whole = Self.events(role, [bytes])
    guard case .opened(let peer) = whole.first, case .closed(let close) = whole.last else {
      Issue.record("\(whole)")
      return
    }
    #expect(peer.version.minor == minor && close.cause == .transport(.peerClosed))
    #expect(whole.count > 3, "\(whole)")
    DecoderVerifier.verifyStream(bytes, limit: 500) { Self.events(role, $0) }
  }

  @Test("whatever comes, a side that closed says so once, last, and reads no more")
  func closesOnce() {
    for role in [LinkRole.app, .glasses] {
      let bytes = Self.bytes(from: role == .glasses ? .app : .glasses, minor: 0)
      for damaged in DecoderVerifier.damaged(bytes, limit: 500) {
        let events = Self.events(role, [damaged, bytes])
        let closed = events.indices.filter { if case .closed = events[$0] { true } else { false } }
        #expect(closed == [events.count - 1])
      }
    }
  }
}

@Suite("Heads of media units")
struct UnitHeadTests {
  @Test("a video unit's head gives back every field, and damage gives a value that survives or an error")
  func video() throws {
    let unit = AccessUnit.test(stream: 0x0102_0304, [.sync, .discontinuity], captured: DeviceTime(nanoseconds: -5))
    let head = UnitHead.encode(unit)
    #expect(head.count == UnitHead.videoLength)
    #expect(try UnitHead.decode(video: head, payload: unit.payload) == unit)
    for damaged in DecoderVerifier.damaged(head) {
      guard let read = try? UnitHead.decode(video: damaged, payload: unit.payload) else { continue }
      // The two reserved bytes at its end are not read.
      #expect(damaged.count >= head.count - 2 && read.size.width > 0 && read.size.height > 0 && read.stream.value > 0)
      #expect(try UnitHead.decode(video: UnitHead.encode(read), payload: unit.payload) == read)
    }
  }

  @Test("a photo's head gives back its number, and damage another number or an error")
  func photo() throws {
    let head = UnitHead.encode(PhotoID(0x0A0B_0C0D))
    #expect(try UnitHead.decode(photo: head) == PhotoID(0x0A0B_0C0D))
    for damaged in DecoderVerifier.damaged(head) {
      guard let read = try? UnitHead.decode(photo: damaged) else { continue }
      #expect(damaged.count == head.count && UnitHead.encode(read) == damaged)
    }
  }
}
