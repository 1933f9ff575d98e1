import Foundation
import LinkProtocol
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("TCP with peers of other make", .exclusive(.mockKit))
struct StrangerTests {
  private func serve() throws -> (SocketServer, SocketAddress) {
    let server = try SocketServer(.ipv4)
    return (server, SocketAddress(host: .ipv4(0x7f00_0001), port: server.port))
  }

  private func end(of server: SocketServer) async throws -> SocketEnd {
    try await server.accepted.wait { !$0.isEmpty }
    return SocketEnd(server.accepted.values[0])
  }

  @Test("a peer that has sent all it has still gets what was written before that")
  func halfClose() async throws {
    let (server, address) = try serve()
    let script = """
      import socket, sys
      s = socket.create_connection(("127.0.0.1", \(address.port)))
      s.sendall(bytes(i % 251 for i in range(300000)))
      s.shutdown(socket.SHUT_WR)
      got = b""
      while True:
          part = s.recv(65536)
          if not part: break
          got += part
      print(len(got), got == bytes(255 - i % 251 for i in range(300000)))
      """
    let result = Task.detached { try CommandLineTool.run("python3", ["-c", script]) }
    let end = try await end(of: server)
    let transport = end.transport
    let closes = Observed<TransportClose>()
    transport.open(
      TransportHandlers(
        received: { [weak transport] bytes in
          transport?.write(bytes.map { 255 - $0 })
          transport?.consumed(bytes.count)
        }, writable: {}, closed: { closes.record($0) }))
    #expect(try await result.value.output == "300000 True\n")
    #expect(closes.values == [.peerClosed])
  }

  @Test("a reset is a failure in the system's words, behind what came before it")
  func reset() async throws {
    let (server, address) = try serve()
    var peer: RawSocket? = try RawSocket(to: address)
    peer?.write([1, 2, 3])
    let end = try await end(of: server)
    end.open()
    try await end.waitFor(bytes: 3)
    peer?.resetOnClose()
    peer = nil
    #expect(try await end.waitForClose() == .failed("Connection reset by peer"))
    #expect(end.received == [1, 2, 3])
  }

  // Exit tests came with Swift 6.2. In a process of its own, which the signal would end.
  #if compiler(>=6.2)
    @Test("writing to a peer that is gone neither raises a signal nor closes twice")
    func brokenPipe() async {
      await #expect(processExitsWith: .success) {
        struct Failure: Error {}
        signal(SIGPIPE, SIG_DFL)
        let server = try SocketServer(.ipv4)
        var peer: RawSocket? = try RawSocket(to: SocketAddress(host: .ipv4(0x7f00_0001), port: server.port))
        try await server.accepted.wait { !$0.isEmpty }
        let end = SocketEnd(server.accepted.values[0])
        peer?.resetOnClose()
        peer = nil
        for _ in 0..<50 { end.transport.write([UInt8](repeating: 0, count: 1000)) }
        end.open()
        for _ in 0..<50 { end.transport.write([UInt8](repeating: 0, count: 1000)) }
        guard case .failed = try await end.waitForClose() else { throw Failure() }
        end.transport.write([1])
        end.transport.close()
        let closes = end.happenings.values.filter { if case .closed = $0 { true } else { false } }
        guard closes.count == 1, end.transport.writableBytes == 0, peer == nil else { throw Failure() }
        // A Unix socket has no other word for it than a broken pipe.
        let unix = try SocketServer(.unix)
        let raw = try SocketCalls.make(AF_UNIX, for: "")
        guard SocketCalls.connect(raw, to: try SystemAddress(path: unix.path)) == nil else { throw Failure() }
        try await unix.accepted.wait { !$0.isEmpty }
        close(raw)
        let other = SocketEnd(unix.accepted.values[0])
        other.transport.write([1])
        other.open()
        guard case .failed = try await other.waitForClose() else { throw Failure() }
      }
    }
  #endif

  @Test("a peer that is killed is noticed at once")
  func killed() async throws {
    let (server, address) = try serve()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "python3", "-c",
      "import signal, socket; s = socket.create_connection(('127.0.0.1', \(address.port))); s.send(b'x'); signal.pause()",
    ]
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let end = try await end(of: server)
    end.open()
    try await end.waitFor(bytes: 1)
    kill(process.processIdentifier, SIGKILL)
    #expect(try await end.waitForClose() == .peerClosed)
    process.waitUntilExit()
  }

  @Test("a reset that comes while reading rests is told when it goes on")
  func resetWhilePaused() async throws {
    var options = StreamOptions()
    options.receiveLimit = .bytes(4)
    let server = try SocketServer(.ipv4, options: options)
    let address = SocketAddress(host: .ipv4(0x7f00_0001), port: server.port)
    var peer: RawSocket? = try RawSocket(to: address)
    peer?.write([1, 2, 3, 4, 5, 6])
    let end = try await end(of: server)
    end.open()
    try await end.waitFor(bytes: 4)
    peer?.resetOnClose()
    peer = nil
    #expect(end.close == nil)
    end.transport.consumed(4)
    guard case .failed = try await end.waitForClose() else {
      Issue.record("\(end.happenings.values)")
      return
    }
  }
}
