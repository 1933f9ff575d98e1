import Glibc
import Synchronization

/// The signals that ask the program to end, as values.
///
/// They are blocked in every thread and taken by `serve` on the main thread, so that no work happens inside a signal
/// handler. The first asks for an orderly end, where the command has one; a second one ends the
/// program at once, the terminal restored. While nobody waits for a signal, already the first does.
final class Interruption: Sendable {
  static let shared = Interruption()

  private static let ending = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
  private static let all = ending + [SIGTSTP, SIGCONT]

  private struct State {
    var signal: Int32?
    var handlers: [@Sendable (Int32) -> Void] = []
  }

  private let state = Mutex(State())

  /// Before any thread is made: threads inherit the mask.
  static func block() {
    var set = mask()
    pthread_sigmask(SIG_BLOCK, &set, nil)
    // A closed pipe is an error of the write that hit it.
    Glibc.signal(SIGPIPE, SIG_IGN)
  }

  private static func mask() -> sigset_t {
    var set = sigset_t()
    sigemptyset(&set)
    for signal in all { sigaddset(&set, signal) }
    return set
  }

  /// Calls back once: at the first ending signal, or at once when it has been.
  func whenRaised(_ handler: @escaping @Sendable (Int32) -> Void) {
    let raised: Int32? = state.withLock { state in
      if state.signal == nil { state.handlers.append(handler) }
      return state.signal
    }
    if let raised { handler(raised) }
  }

  var signal: Int32? { state.withLock { $0.signal } }

  /// Takes signals for ever. On the main thread.
  func serve() -> Never {
    var set = Self.mask()
    while true {
      var signal: Int32 = 0
      guard sigwait(&set, &signal) == 0 else { continue }
      switch signal {
      case SIGTSTP:
        // Stopped by hand: the shell gets the terminal as it was.
        Terminal.restore()
        kill(getpid(), SIGSTOP)
      case SIGCONT: Terminal.resume()
      case _: raise(signal)
      }
    }
  }

  private func raise(_ signal: Int32) {
    let (isFirst, handlers) = state.withLock { state in
      let isFirst = state.signal == nil
      state.signal = state.signal ?? signal
      defer { state.handlers = [] }
      return (isFirst, state.handlers)
    }
    guard isFirst, !handlers.isEmpty else {
      Terminal.restore()
      _exit(ExitStatus.cutOff.rawValue)
    }
    for handler in handlers { handler(signal) }
  }
}
