import LinkProtocol
import MWDATCore
import Synchronization
import TestSupport
import Testing

/// A token of somebody else's making, which tells when it is cancelled and when it goes.
private final class TellingToken: AnyListenerToken {
  let number: Int
  let log: Observed<String>

  init(_ number: Int, _ log: Observed<String>) {
    self.number = number
    self.log = log
  }

  deinit { log.record("released \(number)") }

  func cancel() async { log.record("cancelled \(number)") }
}

@Suite("Token bags", .timeLimit(.minutes(5)))
struct TokenBagTests {
  let log = Observed<String>()

  @Test("clear() drops tokens in the order of insertion")
  func clearInOrder() {
    let bag = ListenerTokenBag()
    for number in 1...4 { bag.insert(TellingToken(number, log)) }
    #expect(log.values.isEmpty)
    bag.clear()
    #expect(log.values == (1...4).map { "released \($0)" })
  }

  @Test("clear() does nothing to a token that is held elsewhere")
  func clearLeavesShared() async {
    let timekeeper = ManualTimekeeper()
    let announcer = Broadcaster<Int>(lane: timekeeper.makeLane("test"))
    let heard = Observed<Int>()
    let bag = ListenerTokenBag()
    let token = announcer.listen { heard.record($0) }
    token.store(in: bag)
    bag.clear()
    announcer.send(1)
    timekeeper.settle()
    #expect(heard.values == [1])
    await token.cancel()
  }

  @Test("A bag keeps subscriptions alive, and dropping it ends them in the order of insertion")
  func dropping() {
    var bag: ListenerTokenBag? = ListenerTokenBag()
    for number in 1...3 { bag?.insert(TellingToken(number, log)) }
    withExtendedLifetime(bag) {}
    bag = nil
    #expect(log.values == (1...3).map { "released \($0)" })
  }

  @Test("cancelAll() awaits each cancellation in the order of insertion, then empties the bag")
  func cancelAll() async {
    let bag = ListenerTokenBag()
    for number in 1...3 { bag.insert(TellingToken(number, log)) }
    await bag.cancelAll()
    #expect(log.values == (1...3).map { "cancelled \($0)" } + (1...3).map { "released \($0)" })
    await bag.cancelAll()
    #expect(log.values.count == 6)
  }

  @Test("After cancelAll() no listener is subscribed, even when its token is held elsewhere")
  func cancelAllReachesShared() async {
    let timekeeper = ManualTimekeeper()
    let announcer = Broadcaster<Int>(lane: timekeeper.makeLane("test"))
    let bag = ListenerTokenBag()
    let token = announcer.listen { _ in }
    bag.insert(token)
    await bag.cancelAll()
    #expect(!announcer.hasListeners)
    withExtendedLifetime(token) {}
  }

  @Test("cancelAll() on an empty bag does nothing, and nil is not inserted")
  func empty() async {
    let bag = ListenerTokenBag()
    bag.insert(nil)
    await bag.cancelAll()
    bag.clear()
  }

  @Test("What is inserted during cancelAll() stays")
  func insertDuringCancelAll() async {
    final class Inserting: AnyListenerToken {
      let bag: ListenerTokenBag
      let next: TellingToken
      init(_ bag: ListenerTokenBag, _ next: TellingToken) {
        self.bag = bag
        self.next = next
      }
      func cancel() async { bag.insert(next) }
    }
    let bag = ListenerTokenBag()
    bag.insert(Inserting(bag, TellingToken(7, log)))
    await bag.cancelAll()
    #expect(log.values.isEmpty)
    bag.clear()
    #expect(log.values == ["released 7"])
  }

  @Test("A bag may be filled, cleared and cancelled from many tasks at once")
  func concurrency() async {
    let timekeeper = ManualTimekeeper()
    let announcer = Broadcaster<Int>(lane: timekeeper.makeLane("test"))
    let bag = ListenerTokenBag()
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<100 {
            announcer.listen { _ in }.store(in: bag)
            if round % 10 == task { bag.clear() }
            if round % 25 == task { await bag.cancelAll() }
          }
        }
      }
    }
    bag.clear()
    #expect(!announcer.hasListeners)
  }
}
