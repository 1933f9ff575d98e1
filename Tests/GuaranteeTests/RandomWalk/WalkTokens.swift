import MWDATCore
import Synchronization

/// A subscription of a walk: after it has been cancelled, nothing may be heard by it.
final class WalkToken: Sendable {
  private let name: String
  private let judge: WalkJudge
  private let isCancelled = Atomic<Bool>(false)
  private let token = Mutex<(any AnyListenerToken)?>(nil)

  init<Value>(_ name: String, _ announcer: any Announcer<Value>, _ judge: WalkJudge) {
    self.name = name
    self.judge = judge
    keep(announcer.listen { [weak self] _ in self?.heard() })
  }

  init(_ name: String, _ judge: WalkJudge, _ listen: (@escaping @Sendable () -> Void) -> any AnyListenerToken) {
    self.name = name
    self.judge = judge
    keep(listen { [weak self] in self?.heard() })
  }

  private func keep(_ new: any AnyListenerToken) { token.withLock { $0 = new } }

  /// Where threads run, a call that had begun before the cancellation may get here after it.
  private func heard() {
    guard judge.strictness.isExact, isCancelled.load(ordering: .acquiring) else { return }
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
