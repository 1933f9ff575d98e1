import Glibc

@testable import LinkTransport

/// A peer with no code of ours: a plain socket that blocks. For loopback, where nothing it waits for takes long.
final class RawSocket: Sendable {
  let descriptor: Int32

  struct Failure: Error { let code: Int32 }

  init(to address: SocketAddress) throws {
    let system = address.system
    descriptor = socket(system.family, Int32(SOCK_STREAM.rawValue), 0)
    guard system.withPointer({ connect(descriptor, $0, $1) }) == 0 else { throw Failure(code: errno) }
  }

  deinit { Glibc.close(descriptor) }

  func write(_ bytes: [UInt8]) { _ = send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) }

  func finish() { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// Makes the close to come a reset.
  func resetOnClose() { SocketCalls.resetOnClose(descriptor) }
}
