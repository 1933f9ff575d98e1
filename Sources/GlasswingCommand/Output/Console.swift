import Glibc
import Synchronization

/// Standard output and standard error, written whole and in order from any thread, with one progress line that is
/// redrawn in place when standard error is a terminal.
final class Console: Sendable {
  static let shared = Console()

  /// True when a person watches standard error.
  let isTerminal = isatty(STDERR_FILENO) == 1
  /// The progress line that stands on the terminal, or nil.
  private let progressLine = Mutex<String?>(nil)

  /// Writes a result to standard output. A reader that went away has seen enough; any other failure is one.
  func result(_ text: String) throws(CommandFailure) {
    let code = progressLine.withLock { line in
      erase(&line)
      return Self.write(text, to: STDOUT_FILENO)
    }
    guard code == 0 || code == EPIPE else {
      throw CommandFailure(subject: "standard output", "can't be written: \(String(cString: strerror(code)))")
    }
  }

  /// Writes a line to standard error.
  func log(_ line: String) {
    progressLine.withLock { shown in
      let redrawn = shown
      erase(&shown)
      Self.write(line + "\n", to: STDERR_FILENO)
      if let redrawn { draw(redrawn, &shown) }
    }
  }

  /// Replaces the progress line. On anything but a terminal it does nothing.
  func progress(_ line: String) {
    guard isTerminal else { return }
    progressLine.withLock { shown in
      erase(&shown)
      draw(line, &shown)
    }
  }

  /// Takes the progress line away.
  func endProgress() {
    progressLine.withLock { shown in erase(&shown) }
  }

  private func draw(_ line: String, _ shown: inout String?) {
    // One column less than there are, so that no terminal breaks the line.
    Self.write(String(line.prefix(max(1, Terminal.columns - 1))), to: STDERR_FILENO)
    shown = line
  }

  private func erase(_ shown: inout String?) {
    guard shown != nil else { return }
    // ECMA-48: carriage return, erase in line.
    Self.write("\r\u{1b}[K", to: STDERR_FILENO)
    shown = nil
  }

  /// - Returns: 0, or the system's error number.
  @discardableResult
  private static func write(_ text: String, to descriptor: Int32) -> Int32 {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0 {
        guard errno == EINTR || errno == EAGAIN else { return errno }
        continue
      }
      bytes = bytes.dropFirst(count)
    }
    return 0
  }
}
