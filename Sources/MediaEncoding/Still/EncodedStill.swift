import Units

/// How much of a still picture may be lost to make it small.
package enum StillQuality: Hashable, Sendable, CaseIterable {
  case low, medium, high
}

/// A still picture in a file's bytes.
package struct EncodedStill: Hashable, Sendable {
  package var bytes: [UInt8]
  /// As coded, before the orientation is applied.
  package var size: PixelSize

  package init(bytes: [UInt8], size: PixelSize) {
    self.bytes = bytes
    self.size = size
  }
}
