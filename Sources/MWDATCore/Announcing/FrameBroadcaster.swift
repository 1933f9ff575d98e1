import LinkProtocol
import Synchronization

/// An announcer for media: each listener has a lane of its own, so a slow one costs only itself.
///
/// Contract
/// - Each listener hears in order, one call at a time. While it is busy, the newest `limit` values wait for it; an
///   older one is dropped and counted (`statistics`). So it never holds more than `limit` values beside the one it is
///   looking at.
/// - A listener's lane, and the thread under it, goes with its token; what waited is freed.
/// - No call begins after the token was cancelled or released (`CallGate`).
/// - Without listeners `send` does nothing; a maker of values can ask `hasListeners` first, and hears of changes.
package final class FrameBroadcaster<T: Sendable>: Announcer, Sendable {
  /// What happened to `hasListeners` or to the number of listeners.
  package enum ListenersChange: Sendable { case added, removed }

  /// What a listener made of a value that reached it.
  package enum Reception: Sendable {
    case heard
    /// It was of no use to this listener, as something that it depends on was dropped: counts as dropped too.
    case missed
    /// It was not meant for this listener: counts as nothing.
    case passed
    /// The listener has to hear these first, one by one, before what waits for it; this one is among them if it is to be
    /// heard. They wait beyond the limit, and none of them is dropped.
    case replay([T])
  }

  /// Called with a listener's number and how many values it has just lost.
  package typealias DropHandler = @Sendable (_ listener: Int, _ count: Int) -> Void

  private struct State {
    var listeners: [FrameListener<T>] = []
    /// What listeners had that have left.
    var gone = FrameListenerCounts()
    /// How many ever listened; each one's number is its place in that count.
    var listenerCount = 0
    var onListenersChanged: (@Sendable (ListenersChange) -> Void)?
  }

  private let name: String
  private let limit: Int
  private let timekeeper: any Timekeeper
  private let state = Mutex(State())
  private let drops = FrameDropReporter()

  /// - Parameters:
  ///   - name: of the listeners' lanes.
  ///   - limit: how many values may wait for one listener; at least 1.
  package init(name: String, timekeeper: any Timekeeper, limit: Int = 3) {
    self.name = name
    self.timekeeper = timekeeper
    self.limit = max(1, limit)
  }

  deinit {
    for listener in state.withLock({ $0.listeners }) { listener.cancel() }
  }

  package var hasListeners: Bool { state.withLock { !$0.listeners.isEmpty } }

  /// Called after each change, on the thread that listened or cancelled, with no lock held. Two changes at once may
  /// be told in either order: ask `hasListeners` for the outcome.
  package func onListenersChanged(_ handler: (@Sendable (ListenersChange) -> Void)?) {
    let old = state.withLock { state in
      defer { state.onListenersChanged = handler }
      return state.onListenersChanged
    }
    withExtendedLifetime(old) {}
  }

  /// Called each time a listener loses values because it is too slow, with no lock held: on the sender's thread for
  /// what was pushed out, on the listener's for what it could no longer use. So at most as often as values are sent,
  /// for each listener; to tell people, sum up. What waited for a listener that left is counted, but not told.
  package func onDrops(_ handler: DropHandler?) { drops.set(handler) }

  /// All listeners together, those that have left included.
  package var statistics: FrameListenerCounts {
    state.withLock { state in state.listeners.reduce(into: state.gone) { $0.add($1.counts) } }
  }

  /// One for each present listener, oldest first.
  package var listenerStatistics: [(number: Int, counts: FrameListenerCounts)] {
    state.withLock { $0.listeners.map { ($0.number, $0.counts) } }
  }

  package func listen(_ listener: @escaping @Sendable (T) -> Void) -> any AnyListenerToken {
    subscribe { value in
      listener(value)
      return .heard
    }
  }

  /// As `listen`, for a listener that can have no use for a value that reaches it.
  package func subscribe(_ receive: @escaping @Sendable (T) -> Reception) -> any AnyListenerToken {
    let lane = timekeeper.makeLane(name)
    let (entry, changed) = state.withLock { state in
      state.listenerCount += 1
      let entry = FrameListener(
        number: state.listenerCount, limit: limit, lane: lane, drops: drops, receive: receive)
      state.listeners.append(entry)
      return (entry, state.onListenersChanged)
    }
    changed?(.added)
    // Weak: a token kept for ever must not keep a stream's frames and threads.
    let drain: @Sendable (@escaping @Sendable () -> Void) -> Void = { [weak entry] then in
      let completion = DrainCompletion(then)
      entry?.hold(completion)
    }
    return ListenerToken(entry.gate, drain: drain) { [weak self] in
      entry.cancel()
      self?.remove(entry)
    }
  }

  /// Hands the value to each listener's queue. Any thread; never blocks; no allocation while a listener is busy.
  package func send(_ value: T) {
    for listener in state.withLock({ $0.listeners }) { listener.offer(value) }
  }

  /// Calls `then` once, when every listener has heard what was sent to it before, or has left; at once where there are
  /// none. On a listener's lane or the thread that cancels: it may only queue work elsewhere.
  package func drained(_ then: @escaping @Sendable () -> Void) {
    let completion = DrainCompletion(then)
    for listener in state.withLock({ $0.listeners }) { listener.hold(completion) }
  }

  private func remove(_ entry: FrameListener<T>) {
    let (removed, changed) = state.withLock { state in
      let removed = state.listeners.firstIndex { $0 === entry }.map { state.listeners.remove(at: $0) }
      if removed != nil { state.gone.add(entry.counts) }
      return (removed, state.onListenersChanged)
    }
    if removed != nil { changed?(.removed) }
  }
}

/// What one listener has had so far, or several together.
package struct FrameListenerCounts: Hashable, Sendable {
  /// Values that it heard, the one included that it is looking at.
  package var delivered = 0
  /// Values that a newer one pushed out before the listener was free, that were of no use for lack of such a one, or
  /// that waited when it left.
  package var dropped = 0

  package init() {}

  fileprivate mutating func add(_ other: FrameListenerCounts) {
    delivered += other.delivered
    dropped += other.dropped
  }
}

/// Whom to tell of drops; shared by a broadcaster and its listeners, which must not keep each other.
private final class FrameDropReporter: Sendable {
  private let handler = Mutex<(@Sendable (Int, Int) -> Void)?>(nil)

  func set(_ new: (@Sendable (Int, Int) -> Void)?) {
    let old = handler.withLock { handler in
      defer { handler = new }
      return handler
    }
    withExtendedLifetime(old) {}
  }

  func tell(listener: Int, count: Int) { handler.withLock { $0 }?(listener, count) }
}

/// Released by each listener when it has nothing left to hear: also by a lane that ends and lets its work go.
private final class DrainCompletion: Sendable {
  private let then: @Sendable () -> Void

  init(_ then: @escaping @Sendable () -> Void) { self.then = then }

  deinit { then() }
}

/// One listener of a `FrameBroadcaster`: its lane and what waits for it.
private final class FrameListener<T: Sendable>: Sendable {
  typealias Reception = FrameBroadcaster<T>.Reception

  private struct Mailbox {
    /// Oldest first; `limit` at most.
    var waiting: [T] = []
    /// To be heard before: newest first.
    var replayed: [T] = []
    /// A drain is queued on the lane or runs there.
    var isDraining = false
    var isCancelled = false
    var counts = FrameListenerCounts()
  }

  let number: Int
  let gate = CallGate()
  private let limit: Int
  private let lane: any Lane
  private let drops: FrameDropReporter
  private let receive: @Sendable (T) -> Reception
  private let mailbox: Mutex<Mailbox>

  init(
    number: Int, limit: Int, lane: any Lane, drops: FrameDropReporter, receive: @escaping @Sendable (T) -> Reception
  ) {
    self.number = number
    self.limit = limit
    self.lane = lane
    self.drops = drops
    self.receive = receive
    var mailbox = Mailbox()
    mailbox.waiting.reserveCapacity(limit)
    self.mailbox = Mutex(mailbox)
  }

  var counts: FrameListenerCounts { mailbox.withLock { $0.counts } }

  func offer(_ value: T) {
    let (dropped, starts): (T?, Bool) = mailbox.withLock { mailbox in
      guard !mailbox.isCancelled else { return (nil, false) }
      var dropped: T?
      if mailbox.waiting.count >= limit {
        dropped = mailbox.waiting.removeFirst()
        mailbox.counts.dropped += 1
      }
      mailbox.waiting.append(value)
      defer { mailbox.isDraining = true }
      return (dropped, !mailbox.isDraining)
    }
    if dropped != nil { drops.tell(listener: number, count: 1) }
    // Freed here, outside the lock: the last reference may return a buffer to its pool.
    withExtendedLifetime(dropped) {}
    if starts { lane.run { self.drain() } }
  }

  /// Keeps the completion until what waits now has been heard. Work of a lane runs in order, and one turn takes all that
  /// waits.
  func hold(_ completion: DrainCompletion) { lane.run { withExtendedLifetime(completion) {} } }

  func cancel() {
    gate.close()
    let dropped = mailbox.withLock { mailbox in
      mailbox.isCancelled = true
      mailbox.counts.dropped += mailbox.waiting.count
      defer { (mailbox.waiting, mailbox.replayed) = ([], []) }
      return (mailbox.waiting, mailbox.replayed)
    }
    withExtendedLifetime(dropped) {}
    lane.end()
  }

  private func drain() {
    // The value is taken inside the gate: one that was taken is heard.
    while let outcome = gate.call({ next().map { receive($0) } }), let reception = outcome {
      switch reception {
      case .heard: break
      case .missed:
        mailbox.withLock { mailbox in
          mailbox.counts.delivered -= 1
          mailbox.counts.dropped += 1
        }
        drops.tell(listener: number, count: 1)
      case .passed:
        mailbox.withLock { $0.counts.delivered -= 1 }
      case .replay(let values):
        mailbox.withLock { mailbox in
          mailbox.counts.delivered -= 1
          if !mailbox.isCancelled { mailbox.replayed = values.reversed() }
        }
      }
    }
  }

  private func next() -> T? {
    mailbox.withLock { mailbox in
      // Empty for good once cancelled.
      guard !mailbox.waiting.isEmpty || !mailbox.replayed.isEmpty else {
        mailbox.isDraining = false
        return nil
      }
      // Taken back when it turns out that the listener did not hear it: one that blocks for ever has heard it.
      mailbox.counts.delivered += 1
      return mailbox.replayed.popLast() ?? mailbox.waiting.removeFirst()
    }
  }
}
