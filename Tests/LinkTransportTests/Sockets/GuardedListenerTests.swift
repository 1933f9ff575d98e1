import Foundation
import LinkProtocol
import Synchronization
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("A door with strangers before it", .exclusive(.mockKit))
struct GuardedListenerTests {
  private static let loopback = HostPort(host: "127.0.0.1", port: 0)

  @Test("who does not say who they are by the deadline has to go; who does stays")
  func deadline() async throws {
    let timekeeper = ManualTimekeeper()
    let reactor = SocketReactor(timekeeper: timekeeper)
    let door = GuardedListener(try TCPListener(on: Self.loopback, reactor: reactor), reactor: reactor)
    let guests = Observed<GuardedListener.Guest>()
    try door.start { guests.record($0) }
    let (silent, client) = (SocketEnd(TCPTransport(to: door.addresses)), SocketEnd(TCPTransport(to: door.addresses)))
    silent.open()
    try await guests.wait { $0.count == 1 }
    client.open()
    try await guests.wait { $0.count == 2 }
    let ends = guests.values.map { SocketEnd($0.transport) }
    for end in ends { end.open() }
    #expect(door.unauthenticated == 2)
    #expect(guests.values[1].authenticated())
    #expect(door.unauthenticated == 1)
    timekeeper.advance(by: .seconds(5))
    #expect(ends[0].close == .closedHere && ends[1].close == nil)
    guard case .failed = try await silent.waitForClose() else {
      Issue.record("\(silent.happenings.values)")
      return
    }
    #expect(!guests.values[0].authenticated())
    client.transport.write([1])
    try await ends[1].waitFor(bytes: 1)
    #expect(door.counts == Admission.Counts(arrived: 2, authenticated: 1, expired: 1, most: 2))
  }

  @Test("a stranger's bytes are bounded until it is known")
  func bounded() async throws {
    let door = GuardedListener(try TCPListener(on: Self.loopback))
    let guests = Observed<GuardedListener.Guest>()
    try door.start { guests.record($0) }
    let client = TCPTransport(to: door.addresses)
    let writer = PlacedWriter(client, total: 300_000)
    client.open(
      TransportHandlers(received: { _ in }, writable: { [weak writer] in writer?.go() }, closed: { _ in }))
    let guest = try await guests.first()
    let reader = PlacedReader()
    guest.transport.open(TransportHandlers(received: { reader.read($0) }, writable: {}, closed: { _ in }))
    try await reader.totals.wait { ($0.last ?? 0) >= 16 * 1024 }
    #expect(reader.count == 16 * 1024)
    #expect(guest.authenticated())
    guest.transport.consumed(16 * 1024)
    try await reader.totals.wait { ($0.last ?? 0) >= 256 * 1024 }
    #expect(reader.isIntact)
    withExtendedLifetime(client) {}
  }

  // Exit tests came with Swift 6.2. One of its own, for its memory.
  #if compiler(>=6.2)
    @Test("a thousand connections that never speak hold 64 places, little memory, and harm no client")
    func thousand() async {
      await #expect(processExitsWith: .success) {
        struct Failure: Error { let what: String }
        let door = GuardedListener(try TCPListener(on: HostPort(host: "127.0.0.1", port: 0)))
        let house = House()
        try door.start { house.receive($0) }
        func client() async throws -> SocketEnd {
          let end = SocketEnd(TCPTransport(to: door.addresses))
          end.open()
          end.transport.write(House.password)
          try await end.waitFor(bytes: House.password.count)
          return end
        }
        let early = try await client()
        let port = door.addresses[0].port
        let (before, sockets) = (residentBytes(), socketCount())
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [
          "python3", "-c",
          """
          import os, socket, sys
          all = [socket.create_connection(("127.0.0.1", \(port))) for _ in range(1000)]
          os.write(1, b"!")
          sys.stdin.read()
          """,
        ]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard output.fileHandleForReading.availableData == Data("!".utf8) else { throw Failure(what: "python3") }
        let late = try await client()
        let grown = residentBytes() - before
        guard door.counts.most <= 64, door.unauthenticated <= 64 else { throw Failure(what: "\(door.counts)") }
        guard door.counts.arrived >= 1000 else { throw Failure(what: "\(door.counts)") }
        guard grown <= 8 * 1_048_576 || ThreadSanitizer.isOn else { throw Failure(what: "\(grown) bytes more") }
        // The strangers', both ends of the late client, and a pair by which Foundation watches its child.
        guard socketCount() - sockets <= 64 + 2 + 2 else {
          throw Failure(what: "\(socketCount() - sockets) sockets more")
        }
        // Both clients are served.
        for client in [early, late] { client.transport.write([1, 2, 3]) }
        for client in [early, late] { try await client.waitFor(bytes: House.password.count + 3) }
        input.fileHandleForWriting.closeFile()
        process.waitUntilExit()
        print("thousand strangers: \(grown / 1024) KiB more, \(door.counts)")
      }
    }
  #endif
}

/// Keeps guests until they leave; takes for known who says the word, and says back what it hears.
private final class House: Sendable {
  static let password: [UInt8] = Array("open sesame".utf8)

  private let guests = Mutex<[ObjectIdentifier: GuardedListener.Guest]>([:])

  func receive(_ guest: GuardedListener.Guest) {
    guests.withLock { $0[ObjectIdentifier(guest)] = guest }
    guest.transport.open(
      TransportHandlers(
        received: { [weak guest] bytes in
          guard let guest else { return }
          if bytes == Self.password, !guest.authenticated() { return }
          guest.transport.consumed(bytes.count)
          guest.transport.write(bytes)
        }, writable: {},
        closed: { [weak guest, weak self] _ in
          guard let guest else { return }
          self?.guests.withLock { $0[ObjectIdentifier(guest)] = nil }
        }))
  }
}

private func residentBytes() -> Int {
  let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
  return (text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}

/// Of this process; whoever started it may have left it some.
private func socketCount() -> Int {
  let folder = "/proc/self/fd"
  let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  return names.count {
    (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)"))?.hasPrefix("socket:") == true
  }
}
