import PortableMedia
import Synchronization
import Units

/// Pixel buffers for pictures that come one after the other: memory is used again once the last reference is gone.
///
/// Keeps a pool for each of the last few sizes and formats, at most `maximumKinds`; the least recently used one goes first
/// (its buffers stay valid). How many blocks a pool keeps idle is the pool's own bound. Any thread.
package final class PicturePools: Sendable {
  private struct Kind: Hashable {
    let width: Int
    let height: Int
    let format: OSType
  }

  /// A source at its own size, its rotated and its scaled form, and the output.
  private static let maximumKinds = 4

  private let pools = Mutex<[(kind: Kind, pool: CVPixelBufferPool)]>([])

  package init() {}

  /// A buffer to be filled, its pixels undefined. Throws `.sizeNotSupported` or `.outOfMemory`.
  package func picture(width: Int, height: Int, format: OSType) throws(MediaError) -> CVPixelBuffer {
    let kind = Kind(width: width, height: height, format: format)
    let pool = pools.withLock { pools -> CVPixelBufferPool? in
      if let index = pools.firstIndex(where: { $0.kind == kind }) {
        // Usually in front already.
        if index > 0 { pools.insert(pools.remove(at: index), at: 0) }
        return pools[0].pool
      }
      guard let pool = CVPixelBufferPool(width: width, height: height, pixelFormat: format) else { return nil }
      if pools.count == Self.maximumKinds { pools.removeLast() }
      pools.insert((kind, pool), at: 0)
      return pool
    }
    guard let pool else { throw MediaError(.sizeNotSupported, while: .converting, "\(width)x\(height)") }
    guard let picture = pool.makeBuffer() else {
      throw MediaError(.outOfMemory, while: .converting, "a picture of \(width)x\(height)")
    }
    return picture
  }
}
