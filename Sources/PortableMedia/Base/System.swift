#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

// The only calls into the C library of this room.

/// Nanoseconds of the host's monotonic clock.
func monotonicNanoseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  let (product, _) = Int64(time.tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
  return product &+ Int64(time.tv_nsec)
}

/// Writes text for a developer; what can't be written is lost.
func writeToStandardError(_ text: String) {
  var bytes = Array(text.utf8)[...]
  while !bytes.isEmpty {
    let written = bytes.withUnsafeBytes { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    guard written > 0 else { return }
    bytes = bytes.dropFirst(written)
  }
}

/// The most that one block may have: beyond any picture or payload, and below what the sanitizers call an error of the
/// program rather than a lack of memory.
private let maximumBlockLength = 1 << 36

/// Cleared memory at a multiple of `alignment`, or nil if the system has none. (Swift's own `allocate` traps then.)
func clearedMemory(byteCount: Int, alignment: Int) -> UnsafeMutableRawPointer? {
  var memory: UnsafeMutableRawPointer?
  guard byteCount <= maximumBlockLength, posix_memalign(&memory, alignment, max(byteCount, 1)) == 0, let memory else {
    return nil
  }
  memset(memory, 0, byteCount)
  return memory
}

/// Cleared memory that takes no room before it is written, at a multiple of 16; or nil if the system has none.
func untouchedMemory(byteCount: Int) -> UnsafeMutableRawPointer? {
  byteCount > 0 && byteCount <= maximumBlockLength ? calloc(byteCount, 1) : nil
}

/// Gives back memory that the C library's allocator made.
func freeMemory(_ memory: UnsafeMutableRawPointer) { free(memory) }

/// `value` times two to the power of `exponent`.
func scaled(_ value: Double, exponent: Int) -> Double { scalbn(value, exponent) }
