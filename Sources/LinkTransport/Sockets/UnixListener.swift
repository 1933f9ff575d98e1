import Glibc
import LinkProtocol
import Synchronization

/// Accepts connections on a Unix socket that only its owner may open (mode 0600). Stops when it is released, and takes its
/// file along.
package final class UnixListener: Sendable {
  package let path: String

  private struct Identity: Equatable {
    let device: UInt64
    let number: UInt64
  }

  private let socket: ListeningSocket
  /// The file as it was made here: another one at the path is not ours to remove.
  private let identity: Identity?
  private let options: StreamOptions
  private let reactor: SocketReactor

  /// Binds, so that clients may connect; `start` accepts them.
  ///
  /// A socket that an ended process has left at the path is removed: one on which nobody answers. Throws
  /// `alreadyServed` where somebody does, `pathTaken` where there is another kind of file.
  package init(
    on path: String, options: StreamOptions = StreamOptions(), reactor: SocketReactor = .shared
  ) throws(SocketFailure) {
    let address = try SystemAddress(path: path)
    self.path = path
    self.options = options
    self.reactor = reactor
    socket = try Self.whileAlone(with: path) { () throws(SocketFailure) in
      try Self.removeStale(path, address)
      return try Self.bind(address, reactor: reactor)
    }
    identity = Self.identity(of: path)
  }

  deinit { stop() }

  /// Begins to accept. Once. The handler is called on the reactor's thread and must not keep it; a transport that it lets
  /// go of is closed.
  package func start(_ accepted: @escaping @Sendable (UnixTransport) -> Void) throws(SocketFailure) {
    try socket.start { [options, reactor] descriptor, _ in
      accepted(UnixTransport(accepted: descriptor, options: options, reactor: reactor))
    }
  }

  /// No connection is accepted after it has returned; one that was is still handed over. Idempotent. What was accepted goes
  /// on.
  package func stop() {
    // Before the socket is closed: afterwards the path may be another process's.
    let isOurs = socket.ask { _ in identity != nil && Self.identity(of: path) == identity } ?? false
    if isOurs { unlink(path) }
    socket.stop()
  }

  /// One process at a time looks at the path, removes what is stale and binds: else two could each remove what the other has
  /// just bound. The folder is locked, so that no other file is left behind.
  private static func whileAlone<Result>(
    with path: String, _ body: () throws(SocketFailure) -> Result
  ) throws(SocketFailure) -> Result {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system("open", subject: folder, code: errno) }
    defer { close(descriptor) }
    // Where a file system knows no locks nobody else is assumed.
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK else { throw .alreadyServed(path) }
    return try body()
  }

  private static func removeStale(_ path: String, _ address: SystemAddress) throws(SocketFailure) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return }
    guard status.st_mode & S_IFMT == S_IFSOCK else { throw .pathTaken(path) }
    let probe = try SocketCalls.make(AF_UNIX, for: path)
    defer { close(probe) }
    // Refused: nobody has it open. Anything else, as a queue that is full, is an answer.
    guard SocketCalls.connect(probe, to: address) == ECONNREFUSED else { throw .alreadyServed(path) }
    unlink(path)
  }

  private static func bind(_ address: SystemAddress, reactor: SocketReactor) throws(SocketFailure) -> ListeningSocket {
    let descriptor = try SocketCalls.make(AF_UNIX, for: address.text)
    // The file gets the descriptor's mode: at no moment is it open to others, and the process's mask is left alone.
    guard fchmod(descriptor, 0o600) == 0, address.withPointer({ Glibc.bind(descriptor, $0, $1) }) == 0 else {
      let code = errno
      close(descriptor)
      throw .system("bind", subject: address.text, code: code)
    }
    return try ListeningSocket(descriptor, subject: address.text, reactor: reactor)
  }

  private static func identity(of path: String) -> Identity? {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    return Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
  }
}
