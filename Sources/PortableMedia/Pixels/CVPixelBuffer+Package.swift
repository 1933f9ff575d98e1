// What the rooms of this package use instead of the C-style calls: no lock to count, no optional to unwrap.

extension CVBuffer {
  /// A new buffer with memory of its own, cleared. Nil for a size or format out of range or without memory.
  package convenience init?(width: Int, height: Int, pixelFormat: OSType) {
    guard let layout = PixelLayout.make(width: width, height: height, format: pixelFormat).0,
      let memory = PixelMemory(byteCount: layout.byteCount)
    else { return nil }
    self.init(layout: layout, memory: memory, pool: nil)
  }

  /// A plane that somebody else holds, for wrapping a decoder's picture without a copy.
  package struct ForeignPlane {
    package var base: UnsafeMutableRawPointer
    package var bytesPerRow: Int

    package init(base: UnsafeMutableRawPointer, bytesPerRow: Int) {
      self.base = base
      self.bytesPerRow = bytesPerRow
    }
  }

  /// Wraps planes that `owner` keeps alive. Nil if their number doesn't fit the format or a row is too short for the
  /// width.
  package convenience init?(
    width: Int, height: Int, pixelFormat: OSType, planes foreign: [ForeignPlane], owner: any AnyObject & Sendable
  ) {
    guard let planes = Self.planes(width: width, height: height, format: pixelFormat, foreign: foreign) else {
      return nil
    }
    let dataSize = planes.reduce(0) { $0 + $1.bytesPerRow * $1.height }
    self.init(
      width: width, height: height, format: pixelFormat, planes: planes, dataSize: dataSize, owner: .object(owner))
  }

  /// Foreign planes with the sizes that the format gives them, checked.
  static func planes(width: Int, height: Int, format: OSType, foreign: [ForeignPlane]) -> [Plane]? {
    guard (1...PixelLayout.maximumEdge).contains(width), (1...PixelLayout.maximumEdge).contains(height),
      let shapes = PixelLayout.shapes(width: width, height: height, format: format), shapes.count == foreign.count
    else { return nil }
    var planes: [Plane] = []
    for (shape, plane) in zip(shapes, foreign) {
      // The upper limit keeps every later product of rows and bytes in range.
      guard (shape.width * shape.bytesPerPixel...1 << 24).contains(plane.bytesPerRow) else { return nil }
      planes.append(
        Plane(base: plane.base, width: shape.width, height: shape.height, bytesPerRow: plane.bytesPerRow))
    }
    return planes
  }

  /// Width in pixels.
  package var pixelWidth: Int { width }
  /// Height in pixels.
  package var pixelHeight: Int { height }
  /// One of the `kCVPixelFormatType` constants.
  package var pixelFormat: OSType { format }
  /// How many planes there are in memory; one for 32BGRA.
  package var memoryPlaneCount: Int { planes.count }

  /// One plane in memory.
  package struct PlaneView {
    /// First byte of the first row. Valid as long as the buffer; written only by the buffer's maker.
    package let base: UnsafeMutableRawPointer
    /// In the plane's own pixels: a Cb/Cr pair counts as one.
    package let width: Int
    /// Rows.
    package let height: Int
    /// Bytes from one row to the next.
    package let bytesPerRow: Int
  }

  /// A plane, without locking. Nil if there is no such plane. Keep the buffer referenced while using it.
  package func plane(_ index: Int) -> PlaneView? {
    guard planes.indices.contains(index) else { return nil }
    let plane = planes[index]
    return PlaneView(base: plane.base, width: plane.width, height: plane.height, bytesPerRow: plane.bytesPerRow)
  }
}
