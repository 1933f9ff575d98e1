import Glibc
import Units

/// Why something with a socket did not work.
package enum SocketFailure: Error, Hashable, Sendable {
  /// A system call failed.
  ///
  /// - Parameters:
  ///   - call: its name.
  ///   - subject: the address or path it was for; may be empty.
  ///   - code: the system's number (`errno`).
  case system(_ call: String, subject: String, code: Int32)
  /// A name has no address; with the resolver's text.
  case unknownHost(String, text: String)
  /// There was nothing to connect to.
  case noAddress
  /// Nobody answered in time.
  case timedOut(after: Duration)
  /// No address answered: each that was tried, and why not.
  case unreachable([ConnectFailure])
  /// The path of a Unix socket has more bytes than the system takes.
  case pathTooLong(String, limit: Int)
  /// There is a file at the path of a Unix socket that is not a socket.
  case pathTaken(String)
  /// Somebody serves the path of a Unix socket, or is about to.
  case alreadyServed(String)
}

/// An address that could not be connected to.
package struct ConnectFailure: Error, Hashable, Sendable {
  package let address: String
  package let cause: SocketFailure

  package init(address: String, cause: SocketFailure) {
    self.address = address
    self.cause = cause
  }
}

extension SocketFailure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .system(let call, let subject, let code):
      // The library's text is a thread's own or constant (since version 2.32).
      (subject.isEmpty ? call : "\(call) \(subject)") + ": " + String(cString: strerror(code))
    case .unknownHost(let name, let text): "\(name): \(text)"
    case .noAddress: "no address to connect to"
    case .timedOut(let limit): "no answer within \(Self.text(of: limit)) s"
    case .unreachable(let failures): failures.map(\.description).joined(separator: "; ")
    case .pathTooLong(let path, let limit): "\(path): longer than the \(limit) bytes that a socket's path may have"
    case .pathTaken(let path): "\(path): there is a file that is not a socket"
    case .alreadyServed(let path): "\(path): another process serves it"
    }
  }

  private static func text(of limit: Duration) -> String {
    let milliseconds = limit.nanoseconds / 1_000_000
    return milliseconds.isMultiple(of: 1000) ? "\(milliseconds / 1000)" : "\(Double(milliseconds) / 1000)"
  }
}

extension ConnectFailure: CustomStringConvertible {
  package var description: String {
    switch cause {
    // Names the address itself.
    case .system(_, let subject, _) where subject == address: "\(cause)"
    default: "\(address): \(cause)"
    }
  }
}
