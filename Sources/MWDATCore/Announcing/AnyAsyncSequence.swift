/// An asynchronous sequence whose type doesn't show. An error of the sequence inside ends it.
public struct AnyAsyncSequence<Element>: AsyncSequence, Sendable {
  /// Walks the sequence inside.
  public struct AnyAsyncIterator: AsyncIteratorProtocol {
    fileprivate let advance: () async -> Element?

    /// The next element; nil when there is none, now and ever after.
    public mutating func next() async -> Element? { await advance() }
  }

  private let makeIterator: @Sendable () -> AnyAsyncIterator

  /// Hides the type of `sequence`.
  public init<S>(_ sequence: S) where S: AsyncSequence & Sendable, S.Element == Element {
    makeIterator = {
      var iterator = sequence.makeAsyncIterator()
      return AnyAsyncIterator { try? await iterator.next() }
    }
  }

  /// An iterator of the sequence inside.
  public func makeAsyncIterator() -> AnyAsyncIterator { makeIterator() }
}

extension AsyncSequence where Self: Sendable {
  /// This sequence with its type hidden.
  public func eraseToAnySequence() -> AnyAsyncSequence<Element> { AnyAsyncSequence(self) }
}
