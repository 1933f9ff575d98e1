/// A first-in-first-out queue with constant-time ends on average.
///
/// Inlinable, as each picture goes through several: unspecialised, a call from another module allocates. For the same
/// reason closures go in inside a struct, since a generic container wraps bare ones.
package struct FIFO<Element> {
  @usableFromInline var elements: [Element?] = []
  @usableFromInline var start = 0

  @inlinable package init() {}

  @inlinable package var count: Int { elements.count - start }
  @inlinable package var isEmpty: Bool { count == 0 }
  @inlinable package var first: Element? { start < elements.count ? elements[start] : nil }

  @inlinable package var last: Element? { start < elements.count ? elements[elements.count - 1] : nil }

  @inlinable package mutating func append(_ element: Element) { elements.append(element) }

  @inlinable package mutating func popFirst() -> Element? {
    guard start < elements.count else { return nil }
    let element = elements[start]
    elements[start] = nil
    start += 1
    // Moved to the front once half of it is empty, so that each element is moved about once.
    if start > 16, start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    } else if start == elements.count {
      elements.removeAll(keepingCapacity: true)
      start = 0
    }
    return element
  }

  /// Puts another element in the first one's place; nil takes the first one out.
  @inlinable package mutating func replaceFirst(with element: Element?) {
    guard start < elements.count else { return }
    if let element {
      elements[start] = element
    } else {
      _ = popFirst()
    }
  }

  @inlinable package mutating func removeAll() {
    elements.removeAll()
    start = 0
  }

  /// In the order in which they will leave.
  @inlinable package var waiting: [Element] { elements[start...].compactMap { $0 } }

  @inlinable package mutating func replaceAll(with elements: [Element]) {
    self.elements = elements
    start = 0
  }
}

extension FIFO: Sendable where Element: Sendable {}
