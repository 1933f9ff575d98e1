/// A rate of information, in bits per second.
package struct Bitrate: Comparable, Hashable, Sendable {
  package let bitsPerSecond: Int64

  package init(bitsPerSecond: Int64) { self.bitsPerSecond = bitsPerSecond }

  package static func bitsPerSecond(_ value: Int64) -> Bitrate { Bitrate(bitsPerSecond: value) }
  package static func kilobitsPerSecond(_ value: Int64) -> Bitrate {
    Bitrate(bitsPerSecond: value.multipliedSaturating(by: 1000))
  }

  package static func < (a: Bitrate, b: Bitrate) -> Bool { a.bitsPerSecond < b.bitsPerSecond }

  /// As a fraction of kilobits per second, for figures that people read.
  package var kilobitsPerSecond: Double { Double(bitsPerSecond) / 1000 }
}

/// An amount of bytes.
package struct ByteCount: Comparable, Hashable, Sendable {
  package let bytes: Int

  package init(bytes: Int) { self.bytes = bytes }

  package static func bytes(_ value: Int) -> ByteCount { ByteCount(bytes: value) }
  package static func kibibytes(_ value: Int) -> ByteCount { ByteCount(bytes: value.multipliedSaturating(by: 1024)) }
  package static func mebibytes(_ value: Int) -> ByteCount {
    ByteCount(bytes: value.multipliedSaturating(by: 1_048_576))
  }

  package static func < (a: ByteCount, b: ByteCount) -> Bool { a.bytes < b.bytes }
}

/// A picture's size in pixels.
package struct PixelSize: Hashable, Sendable {
  package let width: Int
  package let height: Int

  package init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }
}
