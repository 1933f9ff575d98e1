import Glibc
import Synchronization

/// The terminal's mode: keys without Return and without echo while `demo` runs, and back on every way out.
enum Terminal {
  /// The mode found at the start, set while keys are being read. A pointer, since the handler of a fatal signal reads
  /// it and may take no lock; written once, before `active` says so.
  nonisolated(unsafe) private static let saved = UnsafeMutablePointer<termios>.allocate(capacity: 1)
  private static let active = Atomic<Bool>(false)
  /// `active` as it was when the process was stopped by hand.
  private static let suspended = Atomic<Bool>(false)

  /// True when keys can be read.
  static var hasKeyboard: Bool { isatty(STDIN_FILENO) == 1 }

  /// How wide standard error's terminal is now; 80 where it doesn't say.
  static var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return TextLayout.width }
    return Int(size.ws_col)
  }

  /// Switches to single keys. Signals from the keyboard (Ctrl-C, Ctrl-Z) stay.
  static func readKeys() {
    guard hasKeyboard, tcgetattr(STDIN_FILENO, saved) == 0 else { return }
    enter()
    atexit { Terminal.restore() }
    // A crash must not leave the shell without echo either. Restoring is one system call, as a handler may do.
    for signal in [SIGABRT, SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGFPE] {
      Glibc.signal(signal) { signal in
        Terminal.restore()
        Glibc.signal(signal, SIG_DFL)
        raise(signal)
      }
    }
  }

  private static func enter() {
    var mode = saved.pointee
    mode.c_lflag &= ~tcflag_t(ICANON | ECHO)
    guard tcsetattr(STDIN_FILENO, TCSANOW, &mode) == 0 else { return }
    active.store(true, ordering: .releasing)
  }

  /// Back to the mode found at the start. Idempotent; any thread, also from a signal handler.
  static func restore() {
    guard active.exchange(false, ordering: .acquiringAndReleasing) else { return }
    suspended.store(true, ordering: .releasing)
    tcsetattr(STDIN_FILENO, TCSANOW, saved)
  }

  /// After the process was stopped by hand and goes on.
  static func resume() {
    guard suspended.exchange(false, ordering: .acquiringAndReleasing) else { return }
    enter()
  }

  /// Calls back for each key until standard input ends, on a thread of the timekeeper's lane that calls it.
  static func forEachKey(_ body: (Character) -> Void) {
    var byte: UInt8 = 0
    while true {
      let count = read(STDIN_FILENO, &byte, 1)
      if count == 1 {
        body(Character(Unicode.Scalar(byte)))
      } else if count == 0 || errno != EINTR {
        return
      }
    }
  }
}
