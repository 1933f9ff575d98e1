import PortableMedia

/// One plane for libyuv: address, stride, and size in its own samples.
struct PlaneBytes {
  let base: UnsafeMutablePointer<UInt8>
  let stride: Int32
  let width: Int32
  let height: Int32

  /// Nil if the buffer has no such plane.
  init?(_ buffer: CVPixelBuffer, _ index: Int) {
    guard let plane = buffer.plane(index) else { return nil }
    base = plane.base.assumingMemoryBound(to: UInt8.self)
    stride = Int32(clamping: plane.bytesPerRow)
    width = Int32(clamping: plane.width)
    height = Int32(clamping: plane.height)
  }

  /// The address of a sample inside the plane.
  func at(x: Int, y: Int, bytesPerSample: Int = 1) -> UnsafeMutablePointer<UInt8> {
    base + y * Int(stride) + x * bytesPerSample
  }
}

/// The three planes of a 4:2:0 picture. Valid while the buffer is referenced.
struct PlanarBytes {
  let y: PlaneBytes
  let u: PlaneBytes
  let v: PlaneBytes

  init(_ buffer: CVPixelBuffer) throws(MediaError) {
    guard let y = PlaneBytes(buffer, 0), let u = PlaneBytes(buffer, 1), let v = PlaneBytes(buffer, 2) else {
      throw MediaError(.pixelFormatNotSupported, while: .converting, "not a picture of three planes")
    }
    self.y = y
    self.u = u
    self.v = v
  }
}

/// The two planes of a bi-planar 4:2:0 picture. Valid while the buffer is referenced.
struct BiPlanarBytes {
  let y: PlaneBytes
  let uv: PlaneBytes

  init(_ buffer: CVPixelBuffer) throws(MediaError) {
    guard let y = PlaneBytes(buffer, 0), let uv = PlaneBytes(buffer, 1) else {
      throw MediaError(.pixelFormatNotSupported, while: .converting, "not a picture of two planes")
    }
    self.y = y
    self.uv = uv
  }
}

extension PlaneBytes {
  /// The only plane of a BGRA picture.
  static func bgra(_ buffer: CVPixelBuffer) throws(MediaError) -> PlaneBytes {
    guard let plane = PlaneBytes(buffer, 0) else {
      throw MediaError(.pixelFormatNotSupported, while: .converting, "a picture without a plane")
    }
    return plane
  }
}

/// Throws unless a libyuv call returned 0. libyuv has no error text; its calls fail on arguments that make no sense.
func checkYUV(_ function: String, _ code: Int32) throws(MediaError) {
  guard code != 0 else { return }
  let library = MediaError.LibraryFailure(function: function, code: code, text: "refused its arguments")
  throw MediaError(.libraryFailure, while: .converting, library: library)
}
