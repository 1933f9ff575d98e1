import CSockets
import Glibc
import LinkProtocol
import Synchronization

/// What the reactor tells of one descriptor.
protocol SocketWatcher: AnyObject, Sendable {
  /// On the reactor's thread, which must not be kept. What was asked for has come, or the descriptor has failed; it
  /// reports no more until it is asked for again. The buffer is for this call.
  func happened(_ events: SocketEvents, scratch: UnsafeMutableRawBufferPointer)
}

struct SocketEvents: OptionSet, Sendable {
  let rawValue: UInt32

  static let readable = SocketEvents(rawValue: glasswing_readable)
  static let writable = SocketEvents(rawValue: glasswing_writable)
}

/// One thread for all sockets of a process: it waits for them all at once and reads what has come.
///
/// The thread and its descriptor exist while there are sockets, and for an idle while after. Reading is done on it and
/// handed over once, to the link's lane; writing is done by whoever writes.
///
/// Refused: a thread for each socket (a hundred glasses in one process, and strangers who cost a thread each), and the link's
/// lane polling its own socket (a lane waits for work and deadlines, and one wait can't be for both without a wake-up each).
package final class SocketReactor: Sendable {
  package static let shared = SocketReactor()

  private struct State {
    var epoll: Int32 = -1
    var watchers: [UInt64: any SocketWatcher] = [:]
    var nextToken: UInt64 = 1
    var hasThread = false
  }

  /// One read takes no more, so that sockets take turns.
  private static let scratchBytes = 65_536

  /// The clock for what has a deadline.
  let timekeeper: any Timekeeper
  /// Where deadlines fall due.
  let deadlines: any Lane

  private let lane: any Lane
  private let idleMilliseconds: Int32
  private let state = Mutex(State())

  /// - Parameters:
  ///   - name: of the thread.
  ///   - timekeeper: for deadlines only; sockets have real time.
  ///   - idleLimit: how long the thread outlives its last socket, at most.
  package init(
    name: String = "sockets", timekeeper: any Timekeeper = SystemTimekeeper.shared,
    idleLimit: Duration = .seconds(1)
  ) {
    self.timekeeper = timekeeper
    deadlines = timekeeper.makeLane("\(name) due")
    lane = SystemTimekeeper(threadIdleLimit: .milliseconds(100)).makeLane(name)
    idleMilliseconds = Int32(clamping: max(1, idleLimit.nanoseconds / 1_000_000))
  }

  deinit {
    deadlines.end()
    lane.end()
  }

  /// Begins to watch a descriptor; the watcher is held until `remove`.
  func add(
    _ watcher: any SocketWatcher, _ descriptor: Int32, for events: SocketEvents
  ) throws(SocketFailure) -> UInt64 {
    let result: Result<UInt64, SocketFailure> = state.withLock { state in
      if state.epoll < 0 {
        state.epoll = glasswing_epoll_create()
        guard state.epoll >= 0 else { return .failure(.system("epoll_create", subject: "", code: -state.epoll)) }
      }
      let token = state.nextToken
      let code = glasswing_epoll_add(state.epoll, descriptor, events.rawValue, token)
      guard code >= 0 else { return .failure(.system("epoll_ctl", subject: "", code: -code)) }
      state.nextToken &+= 1
      state.watchers[token] = watcher
      // Again with each socket while there is no thread: the one that was asked for may have been refused.
      if !state.hasThread { lane.run { self.loop() } }
      return .success(token)
    }
    return try result.get()
  }

  /// Asks for the next event.
  func watch(_ token: UInt64, _ descriptor: Int32, for events: SocketEvents) {
    state.withLock { state in
      guard state.watchers[token] != nil else { return }
      _ = glasswing_epoll_change(state.epoll, descriptor, events.rawValue, token)
    }
  }

  /// Before the descriptor is closed. An event under way may still be told.
  func remove(_ token: UInt64, _ descriptor: Int32) {
    // The watcher is let go outside the lock.
    let watcher = state.withLock { state in
      if state.watchers[token] != nil { _ = glasswing_epoll_remove(state.epoll, descriptor) }
      return state.watchers.removeValue(forKey: token)
    }
    withExtendedLifetime(watcher) {}
  }

  // MARK: - On the thread

  private func loop() {
    // A second asking finds the first at work, or nothing to do.
    let begins = state.withLock { state in
      guard !state.hasThread, state.epoll >= 0 else { return false }
      state.hasThread = true
      return true
    }
    guard begins else { return }
    let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.scratchBytes, alignment: 16)
    defer { scratch.deallocate() }
    var ready = [glasswing_ready](repeating: glasswing_ready(), count: Int(glasswing_ready_limit))
    while let epoll = current() {
      let count = glasswing_epoll_wait(epoll, &ready, idleMilliseconds)
      for entry in ready.prefix(max(0, Int(count))) {
        let watcher = state.withLock { $0.watchers[entry.token] }
        watcher?.happened(SocketEvents(rawValue: entry.events), scratch: scratch)
      }
      if count == 0 { endIfIdle() }
    }
  }

  /// nil once the thread has nothing left to live for.
  private func current() -> Int32? { state.withLock { $0.hasThread ? $0.epoll : nil } }

  private func endIfIdle() {
    state.withLock { state in
      guard state.watchers.isEmpty else { return }
      close(state.epoll)
      state.epoll = -1
      state.hasThread = false
    }
  }
}
