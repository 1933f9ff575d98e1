import Synchronization

/// What streams that are made from now on begin with, for the whole process.
///
/// An object, not a global mutex: the optimizer of Swift 6.3 gives a global mutex around a large constant zeros for an
/// initial value.
final class StreamDefaults: Sendable {
  static let shared = StreamDefaults()

  private let value = Mutex(StreamMachine.Limits())
  private let verifies = Atomic<Bool>(false)

  var limits: StreamMachine.Limits {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }

  var verifiesPictures: Bool {
    get { verifies.load(ordering: .relaxed) }
    set { verifies.store(newValue, ordering: .relaxed) }
  }
}
