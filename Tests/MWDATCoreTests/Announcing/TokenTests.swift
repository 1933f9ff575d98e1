import LinkProtocol
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Units

@Suite("Tokens", .timeLimit(.minutes(5)))
struct TokenTests {
  let timekeeper = ManualTimekeeper()

  func broadcaster() -> Broadcaster<Int> { Broadcaster(lane: timekeeper.makeLane("test")) }

  @Test("Releasing the last reference ends the subscription, for what is queued already as well")
  func releaseCancels() {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    var token: (any AnyListenerToken)? = announcer.listen { heard.record($0) }
    announcer.send(1)
    timekeeper.settle()
    announcer.send(2)
    withExtendedLifetime(token) {}
    token = nil
    announcer.send(3)
    timekeeper.settle()
    #expect(heard.values == [1])
    #expect(!announcer.hasListeners)
  }

  @Test("A token held twice lives until the second reference goes")
  func sharedToken() {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    var first: (any AnyListenerToken)? = announcer.listen { heard.record($0) }
    var second = first
    first = nil
    announcer.send(1)
    timekeeper.settle()
    #expect(heard.values == [1])
    withExtendedLifetime(second) {}
    second = nil
    #expect(!announcer.hasListeners)
    withExtendedLifetime(first) {}
  }

  @Test("No call begins after cancel() has returned, and cancelling twice is harmless")
  func cancelCancels() async {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    let token = announcer.listen { heard.record($0) }
    announcer.send(1)
    await token.cancel()
    await token.cancel()
    announcer.send(2)
    timekeeper.settle()
    #expect(heard.values.isEmpty)
  }

  @Test("A listener may cancel its own token: no deadlock, and it hears nothing more")
  func cancelInsideCallback() async throws {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    let cancelled = Observed<Void>()
    let slot = Mutex<(any AnyListenerToken)?>(nil)
    let token = announcer.listen { value in
      heard.record(value)
      let own = slot.withLock { $0 }
      Task {
        await own?.cancel()
        cancelled.record(())
      }
    }
    slot.withLock { $0 = token }
    announcer.send(1)
    timekeeper.settle()
    try await cancelled.wait { !$0.isEmpty }
    announcer.send(2)
    timekeeper.settle()
    #expect(heard.values == [1])
  }

  @Test("A listener may release its own token: no deadlock, and it hears nothing more")
  func releaseInsideCallback() {
    let announcer = broadcaster()
    let heard = Observed<Int>()
    let slot = TokenSlot()
    slot.hold(
      announcer.listen { value in
        heard.record(value)
        slot.drop()
      })
    announcer.send(1)
    announcer.send(2)
    timekeeper.settle()
    #expect(heard.values == [1])
  }

  @Test("What a listener's closure holds goes with the cancellation, not with the token")
  func closureIsFreed() async {
    let announcer = broadcaster()
    weak var held: Marker?
    let token: any AnyListenerToken
    do {
      let marker = Marker()
      held = marker
      token = announcer.listen { _ in withExtendedLifetime(marker) {} }
    }
    #expect(held != nil)
    await token.cancel()
    #expect(held == nil)
  }

  @Test("A listener whose closure owns another token of the same announcer can be released")
  func nestedTokens() {
    let announcer = broadcaster()
    let inner = announcer.listen { _ in }
    var outer: (any AnyListenerToken)? = announcer.listen { _ in withExtendedLifetime(inner) {} }
    withExtendedLifetime(outer) {}
    outer = nil
    announcer.send(1)
    timekeeper.settle()
  }
}

final class Marker: Sendable {}

/// Holds a token until it is told to drop it.
final class TokenSlot: Sendable {
  private let token = Mutex<(any AnyListenerToken)?>(nil)

  func hold(_ token: any AnyListenerToken) { self.token.withLock { $0 = token } }

  func drop() {
    let dropped = token.withLock { $0.take() }
    withExtendedLifetime(dropped) {}
  }
}
