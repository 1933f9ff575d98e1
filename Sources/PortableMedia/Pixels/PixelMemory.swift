/// A block of memory that holds a picture; freed with the last reference.
///
/// Unchecked, because a pointer isn't Sendable: `base` never changes, the block lives as long as this object, and who
/// may write into it is settled by ``CVBuffer`` (its maker, before it is shared).
final class PixelMemory: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  let byteCount: Int

  /// Nil if the system has no memory.
  init?(byteCount: Int) {
    // Cleared once and not at each reuse: enough that margins never show what else the process held.
    guard let memory = clearedMemory(byteCount: byteCount, alignment: PixelLayout.alignment) else { return nil }
    base = memory
    self.byteCount = byteCount
  }

  deinit { freeMemory(base) }
}
