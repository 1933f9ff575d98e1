import CSockets
import Glibc
import LinkProtocol
import Synchronization
import Units

/// A socket that accepts; TCP and Unix listeners share it.
final class ListeningSocket: SocketWatcher {
  private struct State {
    var descriptor: Int32
    var token: UInt64?
    var accepted: (@Sendable (Int32, sockaddr_storage) -> Void)?
    var timer: LaneTimer?
    var pauses = 0
  }

  private enum Next {
    case accepted(Int32, sockaddr_storage, @Sendable (Int32, sockaddr_storage) -> Void)
    /// One came and was gone.
    case again
    case none
  }

  /// Connections that wait in the kernel to be accepted; a flood above it meets silence, which a client takes for loss and
  /// tries again after a second. So it is more than comes while the thread is busy.
  private static let backlog: Int32 = 1024
  /// Accepted in one go, so that a flood leaves the thread to other sockets.
  private static let acceptsAtOnce = 16
  /// How long accepting rests when the process or the host has no descriptor or memory to spare.
  private static let pause: Duration = .milliseconds(100)

  private let reactor: SocketReactor
  private let state: Mutex<State>

  /// Owns the descriptor, which is bound, from here on.
  init(_ descriptor: Int32, subject: String, reactor: SocketReactor) throws(SocketFailure) {
    self.reactor = reactor
    state = Mutex(State(descriptor: descriptor))
    guard listen(descriptor, Self.backlog) == 0 else {
      let code = errno
      stop()
      throw .system("listen", subject: subject, code: code)
    }
  }

  deinit { stop() }

  /// Begins to accept. Once. What comes is owned by the handler, which is called on the reactor's thread.
  func start(_ accepted: @escaping @Sendable (Int32, sockaddr_storage) -> Void) throws(SocketFailure) {
    let result: Result<Void, SocketFailure> = state.withLock { state in
      guard state.descriptor >= 0, state.token == nil else { return .success(()) }
      do throws(SocketFailure) {
        state.token = try reactor.add(Watcher(self), state.descriptor, for: .readable)
        state.accepted = accepted
        return .success(())
      } catch {
        return .failure(error)
      }
    }
    try result.get()
  }

  /// No connection is accepted after it has returned; one that was is still handed over. Idempotent.
  func stop() {
    let (handler, timer) = state.withLock { state in
      if state.descriptor >= 0 {
        if let token = state.token { reactor.remove(token, state.descriptor) }
        close(state.descriptor)
        state.descriptor = -1
      }
      return (state.accepted.take(), state.timer.take())
    }
    timer?.cancel()
    withExtendedLifetime(handler) {}
  }

  /// How often accepting had to rest for want of a descriptor or of memory.
  var pauses: Int { state.withLock { $0.pauses } }

  func ask<Answer>(_ question: (Int32) -> Answer?) -> Answer? {
    state.withLock { $0.descriptor >= 0 ? question($0.descriptor) : nil }
  }

  func happened(_ events: SocketEvents, scratch: UnsafeMutableRawBufferPointer) {
    for _ in 0..<Self.acceptsAtOnce {
      switch next() {
      case .accepted(let descriptor, let peer, let handler): handler(descriptor, peer)
      case .again: break
      case .none: return
      }
    }
    listenOn()
  }

  private func next() -> Next {
    state.withLock { state in
      guard let handler = state.accepted, state.descriptor >= 0, let token = state.token else { return .none }
      var peer = sockaddr_storage()
      var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
      let result = glasswing_accept(state.descriptor, &peer, &length)
      if result >= 0 { return .accepted(result, peer, handler) }
      switch -result {
      case EAGAIN:
        reactor.watch(token, state.descriptor, for: .readable)
        return .none
      case EMFILE, ENFILE, ENOBUFS, ENOMEM:
        // The connection stays in the kernel's queue and would be reported without end.
        state.pauses += 1
        state.timer = reactor.deadlines.run(at: reactor.timekeeper.now + Self.pause) { [weak self] in self?.listenOn() }
        return .none
      default:
        // The connection's own mishap (accept(2), "Error handling"): the next one may do better.
        return .again
      }
    }
  }

  private func listenOn() {
    state.withLock { state in
      guard let token = state.token, state.descriptor >= 0 else { return }
      reactor.watch(token, state.descriptor, for: .readable)
    }
  }
}

extension ListeningSocket {
  /// The reactor holds this one, so that a listener that is released stops.
  private final class Watcher: SocketWatcher {
    private weak let listener: ListeningSocket?

    init(_ listener: ListeningSocket) { self.listener = listener }

    func happened(_ events: SocketEvents, scratch: UnsafeMutableRawBufferPointer) {
      listener?.happened(events, scratch: scratch)
    }
  }
}
