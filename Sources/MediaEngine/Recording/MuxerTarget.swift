/// Where a muxer's bytes go. Called by one thread at a time.
package protocol MuxerTarget: AnyObject {
  /// What to call it in errors.
  var path: String { get }
  /// Whether it can be gone back in.
  var isSeekable: Bool { get }

  /// All bytes at the current position. The system's error number, or 0.
  func write(_ bytes: UnsafeRawBufferPointer) -> Int32
  /// Moves the position; the new one, or the negated error number.
  func seek(to offset: Int64, from origin: Int32) -> Int64
  /// What was written so far is whole as it stands.
  func markWhole()
  /// The last write failed: takes away what stands behind the last whole part, where that can be done.
  func cutToWhole()
}
