/// Memory that block buffers refer to; freed, or given back to its maker, with the last reference.
///
/// Unchecked, because a pointer isn't Sendable: `base` is constant and what it points to lives as long as this object.
/// Writing into it is for whoever made the block buffer, before others see it; memory of an array is never written at
/// all.
final class BlockMemory: @unchecked Sendable {
  enum Ending: Sendable {
    /// From the C library.
    case free
    /// The caller keeps owning the memory.
    case none
    case release(@Sendable () -> Void)
    /// Storage of an array, which stays where it is as long as the array is referenced, here, and nobody changes it.
    case array([UInt8])
  }

  let base: UnsafeMutableRawPointer
  let byteCount: Int
  private let ending: Ending

  init(base: UnsafeMutableRawPointer, byteCount: Int, ending: Ending) {
    self.base = base
    self.byteCount = byteCount
    self.ending = ending
  }

  /// Cleared memory of its own; nil if the system has none or for a count out of range.
  convenience init?(byteCount: Int) {
    guard byteCount >= 0, let base = clearedMemory(byteCount: byteCount, alignment: 16) else { return nil }
    self.init(base: base, byteCount: byteCount, ending: .free)
  }

  /// The bytes of an array, without a copy. Nil for an empty one, which has no storage.
  ///
  /// The standard library promises the address for the length of a closure only. That it stays is a property of native
  /// arrays (one heap block, moved on growth alone), relied on here because the alternative copies every picture once
  /// more.
  convenience init?(array: [UInt8]) {
    guard let base = array.withUnsafeBytes({ $0.baseAddress }), !array.isEmpty else { return nil }
    self.init(base: UnsafeMutableRawPointer(mutating: base), byteCount: array.count, ending: .array(array))
  }

  deinit {
    switch ending {
    case .free: freeMemory(base)
    case .release(let release): release()
    case .none, .array: break
    }
  }

  /// False for an array's storage, which others may be reading under value semantics.
  var isWritable: Bool {
    switch ending {
    case .free, .none, .release: true
    case .array: false
    }
  }
}
