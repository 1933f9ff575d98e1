import Units

/// A binary min-heap of payloads by deadline; equal deadlines leave in the order in which they came.
///
/// Inlinable, as lanes look at it for each piece of work: unspecialised, each look allocates.
package struct DeadlineHeap<Payload> {
  @usableFromInline struct Entry {
    @usableFromInline let deadline: Instant
    @usableFromInline let order: UInt64
    @usableFromInline let payload: Payload

    @inlinable init(deadline: Instant, order: UInt64, payload: Payload) {
      self.deadline = deadline
      self.order = order
      self.payload = payload
    }

    @inlinable func precedes(_ other: Entry) -> Bool {
      deadline != other.deadline ? deadline < other.deadline : order < other.order
    }
  }

  @usableFromInline var entries: [Entry] = []
  @usableFromInline var nextOrder: UInt64 = 0

  @inlinable package init() {}

  @inlinable package var isEmpty: Bool { entries.isEmpty }
  @inlinable package var count: Int { entries.count }

  /// The earliest deadline, or nil when nothing waits.
  @inlinable package var earliest: Instant? { entries.first?.deadline }

  @inlinable package mutating func insert(_ payload: Payload, at deadline: Instant) {
    entries.append(Entry(deadline: deadline, order: nextOrder, payload: payload))
    nextOrder &+= 1
    siftUp(entries.count - 1)
  }

  /// Removes and returns the earliest payload whose deadline is not after `now`.
  @inlinable package mutating func popDue(at now: Instant) -> Payload? {
    guard let first = entries.first, first.deadline <= now else { return nil }
    let last = entries.removeLast()
    if !entries.isEmpty {
      entries[0] = last
      siftDown(0)
    }
    return first.payload
  }

  /// Removes and returns the earliest payload if it meets the condition, whatever its deadline.
  @inlinable package mutating func popFirst(where condition: (Payload) -> Bool) -> Payload? {
    guard let first = entries.first, condition(first.payload) else { return nil }
    return popDue(at: first.deadline)
  }

  /// Removes what meets the condition, in no order, and returns it, so that it is released where the caller likes.
  @inlinable package mutating func remove(where condition: (Payload) -> Bool) -> [Payload] {
    let removed = entries.map(\.payload).filter(condition)
    guard !removed.isEmpty else { return [] }
    entries.removeAll { condition($0.payload) }
    // An array that is sorted is a heap.
    entries.sort { $0.precedes($1) }
    return removed
  }

  @inlinable mutating func siftUp(_ start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard entries[child].precedes(entries[parent]) else { return }
      entries.swapAt(child, parent)
      child = parent
    }
  }

  @inlinable mutating func siftDown(_ start: Int) {
    var parent = start
    while true {
      let left = 2 * parent + 1
      guard left < entries.count else { return }
      let right = left + 1
      let child = right < entries.count && entries[right].precedes(entries[left]) ? right : left
      guard entries[child].precedes(entries[parent]) else { return }
      entries.swapAt(child, parent)
      parent = child
    }
  }
}

extension DeadlineHeap.Entry: Sendable where Payload: Sendable {}
extension DeadlineHeap: Sendable where Payload: Sendable {}
