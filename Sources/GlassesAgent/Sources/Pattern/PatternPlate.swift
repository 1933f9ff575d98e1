import PortableMedia
import Units

/// The pattern's pictures of one size: the painted background, and memory used again.
final class PatternPlate: Sendable {
  private let painter: PatternPainter
  private let background: CVPixelBuffer
  private let pool: CVPixelBufferPool

  init(size: PixelSize) throws(SourceError) {
    guard (64...8192).contains(size.width), (64...8192).contains(size.height), size.width % 2 == 0, size.height % 2 == 0
    else { throw .sizeNotSupported(size) }
    let format = kCVPixelFormatType_420YpCbCr8Planar
    guard let pool = CVPixelBufferPool(width: size.width, height: size.height, pixelFormat: format),
      let background = pool.makeBuffer(), let canvas = PatternCanvas(background)
    else { throw .outOfMemory }
    painter = PatternPainter(size: size)
    painter.paintBackground(on: canvas)
    self.background = background
    self.pool = pool
  }

  func picture(_ mark: PatternMark) throws(SourceError) -> CVPixelBuffer {
    guard let buffer = pool.makeBuffer(), let canvas = PatternCanvas(buffer) else { throw .outOfMemory }
    for index in 0..<buffer.memoryPlaneCount {
      guard let from = background.plane(index), let to = buffer.plane(index) else { continue }
      // One layout, since both came from one pool.
      to.base.copyMemory(from: from.base, byteCount: from.bytesPerRow * from.height)
    }
    painter.paint(mark, on: canvas)
    return buffer
  }
}

extension PatternCanvas {
  /// Nil unless the buffer is planar. The buffer must outlive the canvas.
  init?(_ buffer: CVPixelBuffer) {
    func plane(_ index: Int) -> Plane? {
      buffer.plane(index).map {
        Plane(
          base: $0.base.assumingMemoryBound(to: UInt8.self), stride: $0.bytesPerRow, width: $0.width, height: $0.height)
      }
    }
    guard let luma = plane(0), let cb = plane(1), let cr = plane(2) else { return nil }
    self.init(luma: luma, cb: cb, cr: cr)
  }
}
