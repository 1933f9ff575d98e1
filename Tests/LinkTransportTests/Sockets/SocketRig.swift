import Foundation
import LinkProtocol
import Synchronization
import TestSupport
import Testing
import Units

@testable import LinkTransport

/// What the tests of stream sockets run over.
enum SocketKind: CaseIterable, Sendable {
  case ipv4, ipv6, unix
}

enum Happening: Equatable, Sendable {
  case received([UInt8])
  case writable
  case closed(TransportClose)
}

/// One end of a connection and what it was told.
final class SocketEnd: Sendable {
  let transport: any ByteTransport
  let happenings = Observed<Happening>()

  init(_ transport: any ByteTransport) { self.transport = transport }

  func open() { transport.open(recording) }

  var recording: TransportHandlers {
    TransportHandlers(
      received: { [happenings] in happenings.record(.received($0)) },
      writable: { [happenings] in happenings.record(.writable) },
      closed: { [happenings] in happenings.record(.closed($0)) })
  }

  var received: [UInt8] { happenings.values.received }
  var close: TransportClose? { happenings.values.close }

  func waitForClose() async throws -> TransportClose {
    try await happenings.wait("close") { $0.close != nil }
    return try #require(close)
  }

  func waitFor(bytes: Int) async throws {
    try await happenings.wait("\(bytes) bytes") { $0.received.count >= bytes }
  }
}

extension [Happening] {
  var received: [UInt8] { flatMap { if case .received(let bytes) = $0 { bytes } else { [UInt8]() } } }
  var close: TransportClose? {
    for case .closed(let cause) in self { return cause }
    return nil
  }
}

/// A listener of any kind, and what it accepted, unopened.
final class SocketServer: Sendable {
  let kind: SocketKind
  let accepted = Observed<any ByteTransport>()
  private let tcp: TCPListener?
  private let unix: UnixListener?
  private let options: StreamOptions
  private let reactor: SocketReactor

  init(_ kind: SocketKind, options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared) throws {
    self.kind = kind
    self.options = options
    self.reactor = reactor
    switch kind {
    case .ipv4, .ipv6:
      let listener = try TCPListener(
        on: HostPort(host: kind == .ipv4 ? "127.0.0.1" : "::1", port: 0), options: options, reactor: reactor)
      try listener.start { [accepted] transport, _ in accepted.record(transport) }
      (tcp, unix) = (listener, nil)
    case .unix:
      let listener = try UnixListener(on: Self.path(), options: options, reactor: reactor)
      try listener.start { [accepted] in accepted.record($0) }
      (tcp, unix) = (nil, listener)
    }
  }

  static func path() -> String {
    FileManager.default.temporaryDirectory.appendingPathComponent("gw-\(UUID().uuidString.prefix(8)).socket").path
  }

  func stop() {
    tcp?.stop()
    unix?.stop()
  }

  /// Not opened.
  func client() -> any ByteTransport {
    if let unix { return UnixTransport(to: unix.path, options: options, reactor: reactor) }
    return TCPTransport(to: tcp?.addresses ?? [], options: options, reactor: reactor)
  }

  var path: String { unix?.path ?? "" }
  var port: UInt16 { tcp?.addresses.first?.port ?? 0 }
}

/// The two ends of a connection; the client's is opened.
struct JoinedSockets {
  let client: SocketEnd
  let server: SocketEnd

  init(_ kind: SocketKind, options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared) async throws {
    let listener = try SocketServer(kind, options: options, reactor: reactor)
    defer { listener.stop() }
    client = SocketEnd(listener.client())
    client.open()
    try await listener.accepted.wait("connection") { $0.count == 1 }
    server = SocketEnd(listener.accepted.values[0])
    try await client.happenings.wait("client up") { !$0.isEmpty }
  }
}

/// Bytes by their place, so that a lost, repeated or exchanged one shows.
enum PlacedBytes {
  static func bytes(_ range: Range<Int>) -> [UInt8] { range.map(byte) }
  static func byte(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place &* 31 &+ place >> 8) }
}

/// Reads what `PlacedBytes` wrote, without keeping it.
final class PlacedReader: Sendable {
  private struct State {
    var count = 0
    var isIntact = true
  }

  private let state = Mutex(State())
  let totals = Observed<Int>()

  var count: Int { state.withLock { $0.count } }
  var isIntact: Bool { state.withLock { $0.isIntact } }

  func read(_ bytes: [UInt8]) {
    let total = state.withLock { state in
      for (offset, byte) in bytes.enumerated() where byte != PlacedBytes.byte(state.count + offset) {
        state.isIntact = false
      }
      state.count += bytes.count
      return state.count
    }
    totals.record(total)
  }
}

/// Writes `PlacedBytes` whenever there is room, and never more.
final class PlacedWriter: Sendable {
  private let transport: any ByteTransport
  private let total: Int
  private let written = Mutex(0)

  init(_ transport: any ByteTransport, total: Int) {
    self.transport = transport
    self.total = total
  }

  var count: Int { written.withLock { $0 } }

  func go() {
    written.withLock { written in
      while written < total {
        let count = min(transport.writableBytes, 4096, total - written)
        guard count > 0 else { return }
        transport.write(PlacedBytes.bytes(written..<(written + count)))
        written += count
      }
    }
  }
}
