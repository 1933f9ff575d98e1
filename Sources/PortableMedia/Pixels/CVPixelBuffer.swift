import Synchronization

/// A picture in memory.
///
/// Made by one thread, which writes its pixels before it lets anybody else see it; from then on it is read-only, may be
/// used from any thread at once, and stays valid as long as it is referenced. Its memory goes back to its pool, if it
/// has one, with the last reference.
///
/// Pixels are reached between ``CVPixelBufferLockBaseAddress(_:_:)`` and ``CVPixelBufferUnlockBaseAddress(_:_:)`` only:
/// outside of them the addresses are nil, as they are for a camera's buffers on a phone. Locks nest and don't exclude
/// each other.
///
/// Unchecked Sendable for the plane addresses alone: they are constants, what they point to is kept by `owner`, and
/// writing is ruled by the contract above. All else is constant or behind a mutex.
public final class CVBuffer: @unchecked Sendable {
  /// A plane as clients see it.
  struct Plane {
    let base: UnsafeMutableRawPointer
    let width: Int
    let height: Int
    let bytesPerRow: Int
  }

  private struct Locks {
    var readOnly = 0
    var readWrite = 0
  }

  let width: Int
  let height: Int
  let format: OSType
  let planes: [Plane]
  /// Bytes from the first plane's first row to the last plane's last.
  let dataSize: Int
  let isPlanar: Bool
  let attachments = AttachmentTable()
  private let owner: Owner
  private let locks = Mutex(Locks())

  /// What keeps the pixels alive, and what happens when the buffer goes.
  enum Owner: Sendable {
    case memory(PixelMemory)
    case pool(CVPixelBufferPool, PixelMemory)
    case object(any AnyObject & Sendable)
    case release(@Sendable () -> Void)
  }

  init(layout: PixelLayout, memory: PixelMemory, pool: CVPixelBufferPool?) {
    width = layout.width
    height = layout.height
    format = layout.format
    isPlanar = layout.isPlanar
    planes = layout.planes.map {
      Plane(base: memory.base + $0.offset, width: $0.width, height: $0.height, bytesPerRow: $0.bytesPerRow)
    }
    dataSize = layout.byteCount
    owner = if let pool { .pool(pool, memory) } else { .memory(memory) }
  }

  init(width: Int, height: Int, format: OSType, planes: [Plane], dataSize: Int, owner: Owner) {
    self.width = width
    self.height = height
    self.format = format
    self.planes = planes
    self.dataSize = dataSize
    self.owner = owner
    isPlanar = format != kCVPixelFormatType_32BGRA
  }

  deinit {
    switch owner {
    case .memory, .object: break
    case .pool(let pool, let memory): pool.recycle(memory)
    case .release(let release): release()
    }
  }

  /// True while somebody holds a lock.
  var isLocked: Bool { locks.withLock { $0.readOnly + $0.readWrite > 0 } }

  func lock(readOnly: Bool) {
    locks.withLock { if readOnly { $0.readOnly += 1 } else { $0.readWrite += 1 } }
  }

  /// False if there is no lock of that kind to give back.
  func unlock(readOnly: Bool) -> Bool {
    locks.withLock { locks in
      if readOnly {
        guard locks.readOnly > 0 else { return false }
        locks.readOnly -= 1
      } else {
        guard locks.readWrite > 0 else { return false }
        locks.readWrite -= 1
      }
      return true
    }
  }
}

/// An image in memory; here always pixels.
public typealias CVImageBuffer = CVBuffer
/// A picture in memory.
public typealias CVPixelBuffer = CVImageBuffer
