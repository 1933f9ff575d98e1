import Synchronization

/// A value that several closures share.
final class Box<Value: Sendable>: Sendable {
  private let guarded: Mutex<Value>

  init(_ value: Value) { guarded = Mutex(value) }

  var value: Value {
    get { guarded.withLock { $0 } }
    set { guarded.withLock { $0 = newValue } }
  }
}
