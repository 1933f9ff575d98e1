import Foundation
import Testing

@testable import Trust

/// Longest wait for a byte of another process, which may stand in line for a processor.
private let patience = 30

/// A socket on this machine whose calls block, but not for ever.
final class TestSocket {
  private var descriptor: Int32

  init(_ descriptor: Int32) throws {
    try #require(descriptor >= 0, "errno \(errno)")
    self.descriptor = descriptor
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  convenience init(connectingTo port: UInt16) throws {
    try self.init(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in.loopback(port)
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0, "errno \(errno)")
  }

  deinit { close() }

  func close() {
    if descriptor >= 0 { Glibc.close(descriptor) }
    descriptor = -1
  }

  func send(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      try #require(count > 0, "errno \(errno)")
      rest = rest.dropFirst(count)
    }
  }

  /// Nil at the end, and when nothing came in time.
  func receive() -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 4096)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    return count > 0 ? Array(bytes[..<count]) : nil
  }

  /// Carries bytes to and from an engine until it is over, its events are enough, or the peer has gone.
  func pump(_ engine: TLSEngine, until isEnough: ([TLSEvent]) -> Bool) throws -> [TLSEvent] {
    var events: [TLSEvent] = []
    while !engine.isOver, !isEnough(events), let bytes = receive() {
      let output = engine.receive(bytes)
      events += output.events
      if !output.bytes.isEmpty { try? send(output.bytes) }
    }
    return events
  }
}

/// A port of this machine's.
final class Listener {
  private let descriptor: Int32
  let port: UInt16

  var address: String { "127.0.0.1:\(port)" }

  init() throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    self.descriptor = descriptor
    var address = sockaddr_in.loopback(0)
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && listen(descriptor, 1) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    port = UInt16(bigEndian: address.sin_port)
    try #require(result, "errno \(errno)")
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { Glibc.close(descriptor) }

  func accept() throws -> TestSocket { try TestSocket(Glibc.accept(descriptor, nil, nil)) }
}

extension sockaddr_in {
  fileprivate static func loopback(_ port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    return address
  }
}

/// A running `openssl`, whose standard input stays open until its output is asked for.
final class OpenSSLProcess {
  private let process = Process()
  private let input = Pipe()
  private let outputPipe = Pipe()

  init(_ arguments: [String]) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["timeout", "\(patience)", "openssl"] + arguments
    process.standardInput = input
    process.standardOutput = outputPipe
    process.standardError = FileHandle.nullDevice
    try process.run()
  }

  deinit { if process.isRunning { process.terminate() } }

  func say(_ text: String) { try? input.fileHandleForWriting.write(contentsOf: Data(text.utf8)) }

  /// Its next line that is so.
  func line(_ isWanted: (String) -> Bool) throws -> String {
    var line: [UInt8] = []
    while let byte = try outputPipe.fileHandleForReading.read(upToCount: 1)?.first {
      if byte == UInt8(ascii: "\n") {
        let text = String(decoding: line, as: UTF8.self)
        if isWanted(text) { return text }
        line = []
      } else {
        line.append(byte)
      }
    }
    throw TestFailure(description: "openssl ended")
  }

  /// All that it still writes, until it ends.
  func output() throws -> String {
    let data = try outputPipe.fileHandleForReading.readToEnd() ?? Data()
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }
}

struct TestFailure: Error, CustomStringConvertible { let description: String }
