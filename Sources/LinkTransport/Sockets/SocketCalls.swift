import CSockets
import Glibc

/// What a call that doesn't wait comes to.
enum SocketResult: Equatable {
  case bytes(Int)
  /// Nothing now.
  case wouldBlock
  /// The peer sends no more.
  case end
  /// The system's number.
  case failed(Int32)
}

/// The system's calls for sockets, all without waiting and repeated where a signal came between.
enum SocketCalls {
  static func make(_ family: Int32, for subject: String) throws(SocketFailure) -> Int32 {
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(family, Int32(type), 0)
    guard descriptor >= 0 else { throw .system("socket", subject: subject, code: errno) }
    return descriptor
  }

  /// nil once connected; `EINPROGRESS` while it is being done.
  static func connect(_ descriptor: Int32, to address: SystemAddress) -> Int32? {
    address.withPointer { Glibc.connect(descriptor, $0, $1) == 0 ? nil : errno }
  }

  /// What has become of a connect: nil once it is up.
  static func connectError(_ descriptor: Int32) -> Int32? {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &length) == 0 else { return errno }
    return code == 0 ? nil : code
  }

  static func receive(_ descriptor: Int32, into buffer: UnsafeMutableRawBufferPointer) -> SocketResult {
    while true {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
      if count > 0 { return .bytes(count) }
      if count == 0 { return .end }
      let code = errno
      if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
      if code != EINTR { return .failed(code) }
    }
  }

  /// A broken connection is a result and never a SIGPIPE.
  static func send(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> SocketResult {
    while true {
      let count = Glibc.send(
        descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
      if count >= 0 { return .bytes(count) }
      let code = errno
      if code == EAGAIN || code == EWOULDBLOCK { return .wouldBlock }
      if code != EINTR { return .failed(code) }
    }
  }

  /// Says that this side sends no more.
  static func finish(_ descriptor: Int32) { _ = shutdown(descriptor, Int32(SHUT_WR)) }

  /// What was sent and not acknowledged is dropped by the close to come, and the peer sees a reset.
  static func resetOnClose(_ descriptor: Int32) {
    var value = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
  }

  @discardableResult
  static func set(_ option: Int32, level: Int32, of descriptor: Int32, to value: Int32) -> Bool {
    var value = value
    return setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
  }

  static func get(_ option: Int32, level: Int32, of descriptor: Int32) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, level, option, &value, &length) == 0 ? value : nil
  }

  static func localAddress(_ descriptor: Int32) -> SocketAddress? { address(descriptor, getsockname) }

  static func peerAddress(_ descriptor: Int32) -> SocketAddress? { address(descriptor, getpeername) }

  private static func address(
    _ descriptor: Int32, _ call: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32
  ) -> SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let result = withUnsafeMutablePointer(to: &storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { call(descriptor, $0, &length) }
    }
    return result == 0 ? SocketAddress(storage) : nil
  }
}
