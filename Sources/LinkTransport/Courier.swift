import LinkProtocol
import Synchronization

/// Calls one end's handlers, one call at a time and in order, with no lock held: a second thread that has something to
/// deliver leaves it to the first.
final class Courier: Sendable {
  enum Delivery: Sendable {
    case received([UInt8])
    case writable
    case closed(TransportClose)
  }

  private struct State {
    var handlers: TransportHandlers?
    var waiting: [Delivery] = []
    var isDelivering = false
    var isClosed = false
  }

  private let state = Mutex(State())

  func open(_ handlers: TransportHandlers) {
    let isFirst = state.withLock { state in
      guard state.handlers == nil, !state.isDelivering else { return false }
      state.handlers = handlers
      return true
    }
    if isFirst { drain() }
  }

  func deliver(_ delivery: Delivery) {
    let isTaken = state.withLock { state in
      guard !state.isClosed else { return false }
      if case .closed = delivery { state.isClosed = true }
      state.waiting.append(delivery)
      return true
    }
    if isTaken { drain() }
  }

  private func drain() {
    while let (handlers, delivery) = next() {
      switch delivery {
      case .received(let bytes): handlers.received(bytes)
      case .writable: handlers.writable()
      case .closed(let cause): handlers.closed(cause)
      }
      state.withLock { state in
        state.isDelivering = false
        // Nothing follows: what the handlers hold is let go.
        if case .closed = delivery { state.handlers = nil }
      }
    }
  }

  private func next() -> (TransportHandlers, Delivery)? {
    state.withLock { state in
      guard !state.isDelivering, let handlers = state.handlers, !state.waiting.isEmpty else { return nil }
      state.isDelivering = true
      return (handlers, state.waiting.removeFirst())
    }
  }
}
