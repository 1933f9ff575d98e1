import MWDATCore
import Synchronization

/// A subscription of a walk: after it has been cancelled, nothing may be heard by it.
final class WalkToken: Sendable {
  private let name: String
  private let judge: WalkJudge
  private let isJudged: Bool
  private let isCancelled = Atomic<Bool>(false)
  private let token = Mutex<(any AnyListenerToken)?>(nil)

  init<Value>(_ name: String, _ announcer: any Announcer<Value>, _ judge: WalkJudge) {
    self.name = name
    self.judge = judge
    isJudged = judge.strictness.isExact
    keep(announcer.listen { [weak self] _ in self?.heard() })
  }

  /// Of what belongs to `Wearables`, which is on real threads while the kit is disabled: a call that had begun there
  /// before the cancellation may get here after it. (By threads that goes for all.)
  init(_ name: String, _ judge: WalkJudge, _ listen: (@escaping @Sendable () -> Void) -> any AnyListenerToken) {
    self.name = name
    self.judge = judge
    isJudged = false
    keep(listen { [weak self] in self?.heard() })
  }

  private func keep(_ new: any AnyListenerToken) { token.withLock { $0 = new } }

  private func heard() {
    guard isJudged, isCancelled.load(ordering: .acquiring) else { return }
    judge.report(["a listener of \(name) was called after its token was cancelled"])
  }

  func cancel() async {
    let token = token.withLock { $0 }
    await token?.cancel()
    isCancelled.store(true, ordering: .releasing)
  }

  /// Cancels by letting go.
  func release() {
    let released = token.withLock { $0.take() }
    // The last reference goes with this scope's end, before the flag is set.
    drop(released)
    isCancelled.store(true, ordering: .releasing)
  }

  private func drop(_ token: consuming (any AnyListenerToken)?) {}
}
