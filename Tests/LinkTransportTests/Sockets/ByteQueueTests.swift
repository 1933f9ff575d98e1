import Testing
import Units

@testable import LinkTransport

@Suite("Bytes that wait to be sent")
struct ByteQueueTests {
  @Test("leave whole and in order, however little is taken at a time")
  func portions() {
    var generator = SeededGenerator(seed: 5)
    var queue = ByteQueue()
    var (written, sent): ([UInt8], [UInt8]) = ([], [])
    for round in 0..<300 {
      let piece = (0..<Int.random(in: 0...40, using: &generator)).map { UInt8(truncatingIfNeeded: round &+ $0) }
      let start = Int.random(in: 0...piece.count, using: &generator)
      queue.append(piece, from: start)
      written += piece[start...]
      var budget = Int.random(in: 0...60, using: &generator)
      queue.drain { bytes in
        let count = min(bytes.count, budget, 7)
        sent += bytes[..<count]
        budget -= count
        return count
      }
      #expect(queue.count == written.count - sent.count)
    }
    queue.drain { bytes in
      sent += bytes
      return bytes.count
    }
    #expect(queue.isEmpty && sent == written)
  }
}
