import Synchronization

/// A source of pixel buffers of one size and format that uses memory again when the last reference to a buffer goes.
///
/// Bounded on both sides: at most ``maximumIdleCount`` blocks are kept for reuse, what comes back beyond that is freed
/// at once; and a caller that names a threshold gets ``kCVReturnWouldExceedAllocationThreshold`` in place of a buffer
/// when so many are out. Both are counted. Any thread; nothing waits.
public final class CVPixelBufferPool: Sendable {
  /// What a pool did so far.
  package struct Counters: Hashable, Sendable {
    /// Buffers that needed new memory.
    package var allocated = 0
    /// Buffers that used memory again.
    package var reused = 0
    /// Requests refused because the threshold was reached.
    package var refused = 0
    /// Blocks freed on return because enough were idle already.
    package var freed = 0
    /// Buffers that somebody holds now.
    package var outstanding = 0
    /// Blocks waiting to be used again now.
    package var idle = 0

    package init() {}
  }

  private struct State {
    var idle: [PixelMemory] = []
    var counters = Counters()
  }

  /// How many blocks wait at most: a decoder's references and a few listeners' bounded queues, not a hoarder's past.
  package static let defaultMaximumIdleCount = 8

  let layout: PixelLayout
  let pixelBufferAttributes: [String: PropertyValue]
  let poolAttributes: [String: PropertyValue]
  package let maximumIdleCount: Int
  private let state = Mutex(State())

  init(
    layout: PixelLayout, poolAttributes: [String: PropertyValue] = [:],
    pixelBufferAttributes: [String: PropertyValue] = [:], maximumIdleCount: Int = defaultMaximumIdleCount
  ) {
    self.layout = layout
    self.poolAttributes = poolAttributes
    self.pixelBufferAttributes = pixelBufferAttributes
    self.maximumIdleCount = max(0, maximumIdleCount)
  }

  /// A pool for buffers of one kind. Nil for a size or format out of range.
  package convenience init?(
    width: Int, height: Int, pixelFormat: OSType, maximumIdleCount: Int = defaultMaximumIdleCount
  ) {
    guard let layout = PixelLayout.make(width: width, height: height, format: pixelFormat).0 else { return nil }
    self.init(layout: layout, maximumIdleCount: maximumIdleCount)
  }

  /// What the pool did so far, and holds now.
  package var counters: Counters {
    state.withLock { state in
      var counters = state.counters
      counters.idle = state.idle.count
      return counters
    }
  }

  /// A buffer whose pixels hold whatever was there before; nil without memory, or when `threshold` buffers are out.
  package func makeBuffer(threshold: Int? = nil) -> CVPixelBuffer? { make(threshold: threshold).0 }

  func make(threshold: Int?) -> (CVPixelBuffer?, CVReturn) {
    enum Found {
      case memory(PixelMemory)
      case none
      case refused
    }
    let found: Found = state.withLock { state in
      if let threshold, state.counters.outstanding >= threshold {
        state.counters.refused += 1
        return .refused
      }
      state.counters.outstanding += 1
      guard let memory = state.idle.popLast() else { return .none }
      state.counters.reused += 1
      return .memory(memory)
    }
    switch found {
    case .refused: return (nil, kCVReturnWouldExceedAllocationThreshold)
    case .memory(let memory): return (CVBuffer(layout: layout, memory: memory, pool: self), kCVReturnSuccess)
    case .none:
      // Allocated outside the lock: clearing a big picture takes a while.
      guard let memory = PixelMemory(byteCount: layout.byteCount) else {
        state.withLock { $0.counters.outstanding -= 1 }
        return (nil, kCVReturnAllocationFailed)
      }
      state.withLock { $0.counters.allocated += 1 }
      return (CVBuffer(layout: layout, memory: memory, pool: self), kCVReturnSuccess)
    }
  }

  /// Takes back the memory of a buffer that nobody refers to any more.
  func recycle(_ memory: PixelMemory) {
    state.withLock { state in
      state.counters.outstanding -= 1
      if state.idle.count < maximumIdleCount {
        state.idle.append(memory)
      } else {
        state.counters.freed += 1
      }
    }
  }

  /// Frees what is idle.
  func flush() {
    let freed = state.withLock { state in
      state.counters.freed += state.idle.count
      defer { state.idle = [] }
      return state.idle
    }
    // Freed as `freed` goes, after the lock was left.
    _ = freed
  }
}
