import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import TestSupport
import Testing

@Suite("Announcers of states and errors", .timeLimit(.minutes(5)))
struct BroadcasterTests {
  let timekeeper = ManualTimekeeper()

  func broadcaster() -> Broadcaster<Int> { Broadcaster(lane: timekeeper.makeLane("test")) }

  @Test("Listeners hear everything in order, and never on the thread that sends")
  func order() {
    let announcer = broadcaster()
    let heard = Observed<String>()
    let a = announcer.listen { heard.record("a\($0)") }
    let b = announcer.listen { heard.record("b\($0)") }
    for value in 1...3 { announcer.send(value) }
    #expect(heard.values.isEmpty)
    timekeeper.settle()
    #expect(heard.values == ["a1", "b1", "a2", "b2", "a3", "b3"])
    withExtendedLifetime((a, b)) {}
  }

  @Test("Nothing older than the subscription is heard, not even what is queued still (Q1b)")
  func noReplay() {
    let announcer = broadcaster()
    let early = announcer.listen { _ in }
    let heard = Observed<Int>()
    announcer.send(1)
    let late = announcer.listen { heard.record($0) }
    announcer.send(2)
    timekeeper.settle()
    #expect(heard.values == [2])
    withExtendedLifetime((early, late)) {}
  }

  @Test("A replayed value comes first and to that listener alone")
  func replay() {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    let other = Observed<Int>()
    let a = announcer.listen { other.record($0) }
    let b = announcer.listen(replaying: 7) { heard.record($0) }
    announcer.send(8)
    timekeeper.settle()
    #expect(heard.values == [7, 8])
    #expect(other.values == [8])
    withExtendedLifetime((a, b)) {}
  }

  @Test("A stream has the replayed value, then all that is sent, and ends with finish()")
  func stream() async {
    let announcer = broadcaster()
    let stream = announcer.stream(replaying: 0)
    let plain = announcer.stream()
    announcer.send(1)
    announcer.send(2)
    announcer.finish()
    announcer.send(3)
    timekeeper.settle()
    #expect(await Array(collecting: stream) == [0, 1, 2])
    #expect(await Array(collecting: plain) == [1, 2])
  }

  @Test("A stream made after finish() is over at once")
  func streamAfterFinish() async {
    let announcer = broadcaster()
    announcer.finish()
    #expect(await Array(collecting: announcer.stream()).isEmpty)
  }

  @Test("A stream that nobody reads any more is forgotten")
  func abandonedStream() {
    let announcer = broadcaster()
    var stream: AsyncStream<Int>? = announcer.stream()
    #expect(announcer.hasListeners)
    withExtendedLifetime(stream) {}
    stream = nil
    #expect(!announcer.hasListeners)
  }

  @Test("A task's cancellation ends its stream and the subscription under it")
  func cancelledTask() async throws {
    let announcer = broadcaster()
    let stream = announcer.stream()
    let task = Task { for await _ in stream {} }
    task.cancel()
    await task.value
    #expect(!announcer.hasListeners)
  }

  @Test("While many threads send and subscribe, each listener hears each sender's values in order")
  func concurrency() async throws {
    let timekeeper = SystemTimekeeper()
    let announcer = Broadcaster<(sender: Int, value: Int)>(lane: timekeeper.makeLane("test"))
    let heard = Mutex<[Int: [Int]]>([:])
    let count = Observed<Int>()
    let token = announcer.listen { item in
      let total = heard.withLock { heard in
        heard[item.sender, default: []].append(item.value)
        return heard.values.reduce(0) { $0 + $1.count }
      }
      if total == 2000 { count.record(total) }
    }
    await withTaskGroup(of: Void.self) { group in
      for sender in 0..<4 {
        group.addTask { for value in 0..<500 { announcer.send((sender, value)) } }
      }
    }
    try await count.wait { !$0.isEmpty }
    for sender in 0..<4 { #expect(heard.withLock { $0[sender] } == Array(0..<500)) }
    await token.cancel()
  }
}

extension Array {
  /// All elements of a stream that ends.
  init(collecting stream: AsyncStream<Element>) async where Element: Sendable {
    self = []
    for await element in stream { append(element) }
  }
}
