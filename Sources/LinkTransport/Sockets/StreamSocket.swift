import Glibc
import LinkProtocol
import Synchronization
import Units

/// A connected stream socket as a `ByteTransport` needs it; TCP and Unix sockets share it.
///
/// The reactor's thread reads and delivers, so that what comes keeps its order; writing is done by the caller, and what the
/// kernel does not take is sent by the reactor. All calls on the descriptor are made under the lock and none of them waits,
/// so nobody uses the number of one that is closed.
final class StreamSocket: SocketWatcher {
  fileprivate enum Phase {
    /// Not opened by its owner.
    case created
    /// Opened, without a connection.
    case connecting
    case open
    /// Over for its owner; the peer is still owed bytes or an orderly end.
    case lingering
    case closed
  }

  fileprivate struct State {
    var phase = Phase.created
    var descriptor: Int32
    var token: UInt64?
    /// What the reactor was asked for and has not told.
    var awaited: SocketEvents = []
    var queueLimit = 0

    var waiting = ByteQueue()
    /// A write found room for less than half of the limit, and the owner has not heard of more since.
    var owesRoom = false
    var writeFailure: Int32?
    var hasFinished = false

    var receiveLimit: Int
    var unconsumed = 0
    var isPaused = false
    var hasPeerFinished = false

    var lingerTimer: LaneTimer?
    var spoke: (@Sendable () -> Void)?
    var released: (@Sendable () -> Void)?
  }

  /// What is to be done once the lock has been left.
  private struct Outcome {
    var deliveries: [Courier.Delivery] = []
    var spoke: (@Sendable () -> Void)?
    var released: (@Sendable () -> Void)?
    var timer: LaneTimer?
  }

  /// What a keeper of doors wants to know, once each, on any thread, with nothing locked.
  struct Hooks: Sendable {
    /// The first bytes have come.
    var spoke: (@Sendable () -> Void)?
    /// There is no descriptor any more.
    var released: (@Sendable () -> Void)?
  }

  private let kind: StreamKind
  private let options: StreamOptions
  private let reactor: SocketReactor
  private let courier = Courier()
  private let state: Mutex<State>

  /// - Parameters:
  ///   - descriptor: of an accepted connection, which is owned from here on; nil for one that `connected` will bring.
  ///   - strangerLimit: in place of the options' limit for what is received, until `trust`.
  init(
    _ kind: StreamKind, descriptor: Int32?, options: StreamOptions, reactor: SocketReactor,
    strangerLimit: ByteCount? = nil, hooks: Hooks = Hooks()
  ) {
    self.kind = kind
    self.options = options
    self.reactor = reactor
    state = Mutex(
      State(
        descriptor: descriptor ?? -1, receiveLimit: max(1, (strangerLimit ?? options.receiveLimit).bytes),
        spoke: hooks.spoke, released: hooks.released))
    if let descriptor {
      kind.prepare(descriptor, options)
      state.withLock { $0.queueLimit = kind.queueLimit(descriptor, options) }
    }
  }

  // MARK: - The owner's side, any thread

  /// True for the call that opened it.
  func open(_ handlers: TransportHandlers) -> Bool {
    courier.open(handlers)
    return change { state, outcome in
      guard case .created = state.phase else { return false }
      if state.descriptor >= 0 {
        state.phase = .open
        watch(&state, &outcome)
      } else {
        state.phase = .connecting
      }
      return true
    }
  }

  /// Takes over a connection that has come up; a late one is closed.
  func connected(_ descriptor: Int32) {
    change { state, outcome in
      guard case .connecting = state.phase else {
        Glibc.close(descriptor)
        return
      }
      state.phase = .open
      state.descriptor = descriptor
      state.queueLimit = kind.queueLimit(descriptor, options)
      flush(&state)
      outcome.deliveries.append(.writable)
      watch(&state, &outcome)
    }
  }

  /// No connection has come up.
  func failed(_ failure: SocketFailure) {
    change { state, outcome in
      guard case .connecting = state.phase else { return }
      outcome.deliveries.append(.closed(.failed("\(failure)")))
      release(&state, &outcome)
    }
  }

  func write(_ bytes: [UInt8]) {
    guard !bytes.isEmpty else { return }
    change { state, outcome in
      guard state.takesBytes else { return }
      var taken = 0
      if state.descriptor >= 0, state.waiting.isEmpty {
        taken = bytes.withUnsafeBytes { send($0, state.descriptor, &state.writeFailure) }
        guard state.writeFailure == nil else { return }
      }
      state.waiting.append(bytes, from: taken)
      noteRoom(&state)
      watch(&state, &outcome)
    }
  }

  var writableBytes: Int {
    change { state, outcome in
      let room = noteRoom(&state)
      watch(&state, &outcome)
      return room
    }
  }

  func consumed(_ byteCount: Int) {
    change { state, outcome in
      state.unconsumed = max(0, state.unconsumed.subtractingSaturating(max(0, byteCount)))
      resume(&state, &outcome)
    }
  }

  /// From here on it may receive as much as its options say.
  func trust() {
    change { state, outcome in
      state.receiveLimit = max(1, options.receiveLimit.bytes)
      resume(&state, &outcome)
    }
  }

  func close() {
    change { state, outcome in
      switch state.phase {
      case .created, .connecting, .open:
        outcome.deliveries.append(.closed(.closedHere))
        linger(&state, &outcome)
      case .lingering, .closed: break
      }
    }
  }

  /// Ends it at once, whatever was written: for a peer to whom nothing is owed.
  func abort() {
    change { state, outcome in
      switch state.phase {
      case .created, .connecting, .open:
        outcome.deliveries.append(.closed(.closedHere))
        if state.descriptor >= 0 { SocketCalls.resetOnClose(state.descriptor) }
        release(&state, &outcome)
      case .lingering:
        if state.descriptor >= 0 { SocketCalls.resetOnClose(state.descriptor) }
        release(&state, &outcome)
      case .closed: break
      }
    }
  }

  /// Asks the system about the connection; nil while there is none.
  func ask<Answer>(_ question: (Int32) -> Answer?) -> Answer? {
    state.withLock { $0.descriptor >= 0 ? question($0.descriptor) : nil }
  }

  // MARK: - On the reactor's thread

  func happened(_ events: SocketEvents, scratch: UnsafeMutableRawBufferPointer) {
    change { state, outcome in
      state.awaited = []
      guard state.descriptor >= 0 else { return }
      flush(&state)
      if state.wantsToRead { read(&state, &outcome, scratch) }
      if state.owesRoom, events.contains(.writable) {
        state.owesRoom = false
        // Owed again where there is still less than half: then bytes wait here.
        noteRoom(&state)
        if !state.owesRoom { outcome.deliveries.append(.writable) }
      }
      if case .lingering = state.phase { finishLingering(&state, &outcome) }
      watch(&state, &outcome)
    }
  }

  // MARK: - Under the lock

  private func change<Result>(_ body: (inout State, inout Outcome) -> Result) -> Result {
    let (result, outcome) = state.withLock { state in
      var outcome = Outcome()
      let result = body(&state, &outcome)
      return (result, outcome)
    }
    outcome.timer?.cancel()
    outcome.spoke?()
    for delivery in outcome.deliveries { courier.deliver(delivery) }
    outcome.released?()
    return result
  }

  /// Asks the reactor for what is wanted now.
  private func watch(_ state: inout State, _ outcome: inout Outcome) {
    guard state.descriptor >= 0 else { return }
    var wanted: SocketEvents = []
    if state.wantsToRead { wanted.insert(.readable) }
    if !state.waiting.isEmpty || state.owesRoom { wanted.insert(.writable) }
    guard !wanted.isSubset(of: state.awaited) else { return }
    if let token = state.token {
      reactor.watch(token, state.descriptor, for: wanted)
    } else {
      do {
        state.token = try reactor.add(self, state.descriptor, for: wanted)
      } catch {
        if state.isOwned { outcome.deliveries.append(.closed(.failed("\(error)"))) }
        release(&state, &outcome)
        return
      }
    }
    state.awaited = wanted
  }

  private func resume(_ state: inout State, _ outcome: inout Outcome) {
    guard state.isPaused, state.unconsumed <= state.receiveLimit / 2 else { return }
    state.isPaused = false
    watch(&state, &outcome)
  }

  private func read(_ state: inout State, _ outcome: inout Outcome, _ scratch: UnsafeMutableRawBufferPointer) {
    let isOwned = state.isOwned
    let room = isOwned ? min(scratch.count, state.receiveLimit - state.unconsumed) : scratch.count
    guard room > 0 else { return }
    let buffer = UnsafeMutableRawBufferPointer(rebasing: scratch[..<room])
    switch SocketCalls.receive(state.descriptor, into: buffer) {
    case .bytes(let count):
      kind.hasRead(state.descriptor)
      // After the end for the owner bytes are read only so that the kernel does not answer them with a reset, which
      // would take from the peer what it has not read.
      guard isOwned else { return }
      outcome.deliveries.append(.received(Array(buffer[..<count])))
      state.unconsumed += count
      state.isPaused = state.unconsumed >= state.receiveLimit
      outcome.spoke = state.spoke.take()
    case .wouldBlock: break
    case .end:
      state.hasPeerFinished = true
      guard isOwned else { return }
      outcome.deliveries.append(.closed(state.writeFailure.map { .failed(Self.text(of: $0)) } ?? .peerClosed))
      linger(&state, &outcome)
    case .failed(let code):
      if isOwned { outcome.deliveries.append(.closed(.failed(Self.text(of: state.writeFailure ?? code)))) }
      release(&state, &outcome)
    }
  }

  private func flush(_ state: inout State) {
    guard !state.waiting.isEmpty else { return }
    // Taken out, since a closure can't have two parts of one value at a time.
    var waiting = ByteQueue()
    swap(&waiting, &state.waiting)
    waiting.drain { send($0, state.descriptor, &state.writeFailure) }
    if state.writeFailure == nil { swap(&waiting, &state.waiting) }
  }

  /// How many the kernel took. A failure is told by the reading side, behind what the peer sent before.
  private func send(_ bytes: UnsafeRawBufferPointer, _ descriptor: Int32, _ failure: inout Int32?) -> Int {
    guard failure == nil else { return 0 }
    switch SocketCalls.send(descriptor, bytes) {
    case .bytes(let count): return count
    case .wouldBlock, .end: return 0
    case .failed(let code):
      failure = code
      // Whatever it was, reading comes to an end.
      _ = shutdown(descriptor, Int32(SHUT_RDWR))
      return 0
    }
  }

  @discardableResult
  private func noteRoom(_ state: inout State) -> Int {
    guard state.takesBytes, state.descriptor >= 0 else { return 0 }
    let queued = kind.queued(state.descriptor) ?? 0
    let room = max(0, state.queueLimit - queued - state.waiting.count)
    if room < state.queueLimit / 2 { state.owesRoom = true }
    return room
  }

  /// The owner is done with it.
  private func linger(_ state: inout State, _ outcome: inout Outcome) {
    state.phase = .lingering
    state.owesRoom = false
    guard state.descriptor >= 0 else { return release(&state, &outcome) }
    finishLingering(&state, &outcome)
    guard case .lingering = state.phase else { return }
    state.lingerTimer = reactor.deadlines.run(at: reactor.timekeeper.now + options.lingerLimit) { [weak self] in
      self?.lingerLimitReached()
    }
    watch(&state, &outcome)
  }

  private func finishLingering(_ state: inout State, _ outcome: inout Outcome) {
    guard state.waiting.isEmpty else { return }
    if !state.hasFinished, state.writeFailure == nil {
      SocketCalls.finish(state.descriptor)
      state.hasFinished = true
    }
    if state.hasPeerFinished || state.writeFailure != nil { release(&state, &outcome) }
  }

  private func lingerLimitReached() {
    change { state, outcome in
      guard case .lingering = state.phase else { return }
      // What the peer would miss is no orderly end.
      if !state.waiting.isEmpty { SocketCalls.resetOnClose(state.descriptor) }
      release(&state, &outcome)
    }
  }

  private func release(_ state: inout State, _ outcome: inout Outcome) {
    state.phase = .closed
    if state.descriptor >= 0 {
      if let token = state.token { reactor.remove(token, state.descriptor) }
      Glibc.close(state.descriptor)
      state.descriptor = -1
    }
    state.token = nil
    state.awaited = []
    state.owesRoom = false
    state.waiting.removeAll()
    state.spoke = nil
    outcome.timer = state.lingerTimer.take()
    outcome.released = state.released.take()
  }

  private static func text(of code: Int32) -> String { String(cString: strerror(code)) }
}

extension StreamSocket.State {
  fileprivate var isOwned: Bool {
    switch phase {
    case .created, .connecting, .open: true
    case .lingering, .closed: false
    }
  }

  fileprivate var takesBytes: Bool { isOwned && writeFailure == nil }

  fileprivate var wantsToRead: Bool {
    switch phase {
    case .open: !isPaused
    case .lingering: !hasPeerFinished
    case .created, .connecting, .closed: false
    }
  }
}
