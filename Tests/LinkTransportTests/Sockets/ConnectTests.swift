import Glibc
import LinkProtocol
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("Connecting", .exclusive(.mockKit))
struct ConnectTests {
  private let loopback = SocketAddress(host: .ipv4(0x7f00_0001), port: 0)

  /// An address on which nobody listens: a socket has its port and does not listen.
  private final class Nobody: Sendable {
    let address: SocketAddress
    private let descriptor: Int32

    init(_ address: SocketAddress) throws {
      let bound = try SocketCalls.make(address.system.family, for: "")
      descriptor = bound
      _ = address.system.withPointer { bind(bound, $0, $1) }
      self.address = try #require(SocketCalls.localAddress(descriptor))
    }

    deinit { close(descriptor) }
  }

  /// An address that answers nothing: a queue of one that is full, so that the kernel drops what comes.
  private final class BlackHole: Sendable {
    let address: SocketAddress
    private let descriptor: Int32
    private let filling: RawSocket

    init(_ address: SocketAddress) throws {
      let bound = try SocketCalls.make(address.system.family, for: "")
      descriptor = bound
      _ = address.system.withPointer { bind(bound, $0, $1) }
      listen(descriptor, 0)
      self.address = try #require(SocketCalls.localAddress(descriptor))
      filling = try RawSocket(to: self.address)
    }

    deinit { close(descriptor) }
  }

  @Test("to nobody is refused, in the system's words")
  func refused() async throws {
    let nobody = try Nobody(loopback)
    let transport = TCPTransport(to: [nobody.address])
    let end = SocketEnd(transport)
    end.open()
    let cause = SocketFailure.system("connect", subject: "\(nobody.address)", code: ECONNREFUSED)
    let failure = SocketFailure.unreachable([ConnectFailure(address: "\(nobody.address)", cause: cause)])
    #expect(try await end.waitForClose() == .failed("connect \(nobody.address): Connection refused"))
    #expect(transport.connectFailure == failure)
    #expect(end.happenings.values.count == 1 && transport.localAddress == nil && transport.writableBytes == 0)
  }

  @Test("goes on to the next address when one refuses, over both families")
  func next() async throws {
    let nobody = try Nobody(SocketAddress(host: .ipv6(high: 0, low: 1, zone: 0), port: 0))
    let server = try SocketServer(.ipv4)
    let address = loopback.with(port: server.port)
    let transport = TCPTransport(to: [nobody.address, address, nobody.address])
    let end = SocketEnd(transport)
    end.open()
    try await end.happenings.wait { $0 == [.writable] }
    #expect(transport.peerAddress == address && transport.localAddress?.host == address.host)
    #expect(transport.connectFailure == nil)
  }

  @Test("an address that does not answer gives way after its head start, and ends by the deadline")
  func blackHole() async throws {
    let timekeeper = ManualTimekeeper()
    let reactor = SocketReactor(timekeeper: timekeeper)
    let (hole, server) = (try BlackHole(loopback), try SocketServer(.ipv4))
    let transport = TCPTransport(to: [hole.address, loopback.with(port: server.port)], reactor: reactor)
    let end = SocketEnd(transport)
    end.open()
    timekeeper.advance(by: .milliseconds(249))
    #expect(server.accepted.values.isEmpty && end.happenings.values.isEmpty)
    timekeeper.advance(by: .milliseconds(1))
    try await end.happenings.wait { $0 == [.writable] }
    #expect(transport.peerAddress?.port == server.port)

    let hopeless = SocketEnd(TCPTransport(to: [hole.address], reactor: reactor))
    hopeless.open()
    timekeeper.advance(by: .seconds(5) - .nanoseconds(1))
    #expect(hopeless.happenings.values.isEmpty)
    timekeeper.advance(by: .nanoseconds(1))
    #expect(hopeless.happenings.values == [.closed(.failed("\(hole.address): no answer within 5 s"))])
  }

  @Test("that is closed or released on the way ends at once, and what was written with it")
  func closedOnTheWay() throws {
    let timekeeper = ManualTimekeeper()
    let reactor = SocketReactor(timekeeper: timekeeper)
    let hole = try BlackHole(loopback)
    let end = SocketEnd(TCPTransport(to: [hole.address], reactor: reactor))
    end.open()
    end.transport.write([1])
    end.transport.close()
    #expect(end.happenings.values == [.closed(.closedHere)])
    timekeeper.advance(by: .seconds(10))
    #expect(end.happenings.values == [.closed(.closedHere)])

    var released: TCPTransport? = TCPTransport(to: [hole.address], reactor: reactor)
    let happenings = Observed<Happening>()
    released?.open(
      TransportHandlers(received: { _ in }, writable: {}, closed: { happenings.record(.closed($0)) }))
    weak let gone = released
    released = nil
    #expect(gone == nil && happenings.values == [.closed(.closedHere)])

    // Never opened.
    let unopened = SocketEnd(TCPTransport(to: [hole.address], reactor: reactor))
    unopened.transport.close()
    unopened.open()
    #expect(unopened.happenings.values == [.closed(.closedHere)])
  }

  @Test("to a name asks the resolver; to a name that has no address fails in its words")
  func names() async throws {
    let server = try SocketServer(.ipv4)
    let transport = TCPTransport(to: HostPort(host: "localhost", port: server.port))
    let end = SocketEnd(transport)
    end.open()
    try await end.happenings.wait { $0 == [.writable] }
    #expect(transport.peerAddress == loopback.with(port: server.port))

    let nowhere = SocketEnd(TCPTransport(to: HostPort(host: "a..b", port: 1)))
    nowhere.open()
    guard case .failed(let text) = try await nowhere.waitForClose() else {
      Issue.record("\(nowhere.happenings.values)")
      return
    }
    #expect(text.hasPrefix("a..b: "), "\(text)")
    let nothing = SocketEnd(TCPTransport(to: []))
    nothing.open()
    #expect(try await nothing.waitForClose() == .failed("no address to connect to"))
  }

  @Test("keeps little in the kernel, and says which congestion control that has")
  func options() async throws {
    let server = try SocketServer(.ipv6)
    let transport = try #require(server.client() as? TCPTransport)
    #expect(transport.congestionControl == nil)
    let end = SocketEnd(transport)
    end.open()
    try await end.happenings.wait { $0 == [.writable] }
    #expect(transport.writableBytes == 16 * 1024)
    #expect(transport.congestionControl?.isEmpty == false)
    var options = StreamOptions()
    options.congestionControl = "reno"
    options.unsentLimit = .kibibytes(4)
    let reno = TCPTransport(to: [try #require(transport.peerAddress)], options: options)
    let other = SocketEnd(reno)
    other.open()
    try await other.happenings.wait { $0 == [.writable] }
    #expect(reno.writableBytes == 4096)
    #expect(reno.congestionControl == "reno")
  }
}
