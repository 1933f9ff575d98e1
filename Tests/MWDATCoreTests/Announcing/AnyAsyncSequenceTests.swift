import MWDATCore
import Testing

@Suite("Sequences with their type hidden")
struct AnyAsyncSequenceTests {
  struct Numbers: AsyncSequence, Sendable {
    struct Failed: Error {}
    let count: Int
    let fails: Bool

    struct Iterator: AsyncIteratorProtocol {
      var left: Int
      let fails: Bool
      mutating func next() async throws -> Int? {
        guard left > 0 else {
          if fails { throw Failed() }
          return nil
        }
        left -= 1
        return left
      }
    }

    func makeAsyncIterator() -> Iterator { Iterator(left: count, fails: fails) }
  }

  @Test("They yield what the sequence inside yields, and each iterator starts afresh")
  func passesThrough() async {
    let sequence = Numbers(count: 3, fails: false).eraseToAnySequence()
    for _ in 1...2 {
      var seen: [Int] = []
      for await number in sequence { seen.append(number) }
      #expect(seen == [2, 1, 0])
    }
  }

  @Test("An error inside ends them")
  func errorEnds() async {
    var seen: [Int] = []
    for await number in AnyAsyncSequence(Numbers(count: 2, fails: true)) { seen.append(number) }
    #expect(seen == [1, 0])
  }

  @Test("Their iterator has a name and can be stepped")
  func iterator() async {
    var iterator: AnyAsyncSequence<Int>.AnyAsyncIterator = Numbers(count: 1, fails: false).eraseToAnySequence()
      .makeAsyncIterator()
    #expect(await iterator.next() == 0)
    #expect(await iterator.next() == nil)
  }
}
