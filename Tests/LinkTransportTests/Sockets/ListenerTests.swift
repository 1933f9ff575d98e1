import Glibc
import LinkProtocol
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("Listening", .exclusive(.mockKit))
struct ListenerTests {
  @Test("says where, with the port that it got, and from where a peer comes", arguments: ["127.0.0.1", "::1", "::"])
  func addresses(_ host: String) async throws {
    let listener = try TCPListener(on: HostPort(host: host, port: 0))
    let address = try #require(listener.addresses.first)
    #expect(listener.addresses.count == 1 && address.port != 0)
    #expect("\(address.with(port: 0))" == "\(HostPort(host: host, port: 0))")
    let peers = Observed<SocketAddress>()
    let kept = Observed<TCPTransport>()
    try listener.start { transport, peer in
      kept.record(transport)
      peers.record(peer)
    }
    // The address that means all takes both families, and IPv4 looks like itself.
    let loopbacks = host == "::" ? ["127.0.0.1", "::1"] : [host]
    for (number, loopback) in loopbacks.enumerated() {
      let target = try #require(SocketAddress(HostPort(host: loopback, port: address.port)))
      let transport = TCPTransport(to: [target])
      let end = SocketEnd(transport)
      end.open()
      try await end.happenings.wait { $0 == [.writable] }
      try await peers.wait { $0.count == number + 1 }
      #expect(peers.values[number] == transport.localAddress)
      #expect(kept.values[number].localAddress == target)
    }
  }

  @Test("on a name takes all its addresses on one port; a taken port is refused in the system's words")
  func names() throws {
    let listener = try TCPListener(on: HostPort(host: "localhost", port: 0))
    let ports = Set(listener.addresses.map(\.port))
    #expect(ports.count == 1 && !listener.addresses.isEmpty)
    let taken = try #require(listener.addresses.first)
    #expect(throws: SocketFailure.system("bind", subject: "\(taken)", code: EADDRINUSE)) {
      try TCPListener(on: [taken])
    }
    #expect(throws: SocketFailure.noAddress) { try TCPListener(on: [SocketAddress]()) }
    #expect(throws: SocketFailure.self) { try TCPListener(on: HostPort(host: "a..b", port: 0)) }
  }

  @Test("ends when it is stopped or released; what was accepted goes on, and the port is free at once")
  func stop() async throws {
    var listener: TCPListener? = try TCPListener(on: HostPort(host: "127.0.0.1", port: 0))
    let address = try #require(listener?.addresses.first)
    let accepted = Observed<TCPTransport>()
    try listener?.start { transport, _ in accepted.record(transport) }
    let client = SocketEnd(TCPTransport(to: [address]))
    client.open()
    try await accepted.wait { $0.count == 1 }
    listener?.stop()
    listener?.stop()
    listener = nil
    let late = SocketEnd(TCPTransport(to: [address]))
    late.open()
    #expect(try await late.waitForClose() == .failed("connect \(address): Connection refused"))
    accepted.values[0].open(SocketEnd(accepted.values[0]).recording)
    accepted.values[0].write([8])
    try await client.waitFor(bytes: 1)
    let again = try TCPListener(on: [address])
    #expect(again.addresses == [address])
  }

  @Test("what the handler lets go of is closed")
  func letGo() async throws {
    let listener = try TCPListener(on: HostPort(host: "127.0.0.1", port: 0))
    try listener.start { _, _ in }
    let client = SocketEnd(TCPTransport(to: listener.addresses))
    client.open()
    #expect(try await client.waitForClose() == .peerClosed)
  }

  // Exit tests came with Swift 6.2.
  #if compiler(>=6.2)
    @Test("rests when there is no descriptor left, and goes on when there is")
    func noDescriptor() async {
      await #expect(processExitsWith: .success) {
        let timekeeper = ManualTimekeeper()
        let listener = try TCPListener(
          on: HostPort(host: "127.0.0.1", port: 0), reactor: SocketReactor(timekeeper: timekeeper))
        let accepted = Observed<TCPTransport>()
        try listener.start { transport, _ in accepted.record(transport) }
        let first = try RawSocket(to: listener.addresses[0])
        try await accepted.wait { $0.count == 1 }
        let second = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // All that are left.
        var spare: [Int32] = []
        var limit = rlimit(rlim_cur: rlim_t(second) + 8, rlim_max: 4096)
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        while true {
          let descriptor = dup(second)
          if descriptor < 0 { break }
          spare.append(descriptor)
        }
        let connected = listener.addresses[0].system.withPointer { connect(second, $0, $1) }
        guard connected == 0 else { throw RawSocket.Failure(code: errno) }
        let lane = SystemTimekeeper.shared.makeLane("wait")
        while listener.pauses == 0 {
          await SystemTimekeeper.shared.sleep(until: SystemTimekeeper.shared.now + .milliseconds(5), on: lane)
        }
        // It rests until the deadline, however long that is in coming.
        await SystemTimekeeper.shared.sleep(until: SystemTimekeeper.shared.now + .milliseconds(50), on: lane)
        guard listener.pauses == 1, accepted.values.count == 1 else { throw RawSocket.Failure(code: 1) }
        for descriptor in spare { close(descriptor) }
        timekeeper.advance(by: .milliseconds(100))
        try await accepted.wait { $0.count == 2 }
        withExtendedLifetime(first) {}
      }
    }
  #endif
}
