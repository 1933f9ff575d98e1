import Foundation
import LinkProtocol
import Units

/// What the glasses said of a photo. (Glasswing makes it public as `details`.)
package struct PhotoOrigin: Hashable, Sendable {
  package var format: PhotoCaptureFormat
  /// Of the pixels as they lie in the file.
  package var size: PixelSize
  /// As in Exif, 1 to 8 (CIPA DC-008, tag 0x0112).
  package var orientation: UInt8
  package var captured: Instant

  init(_ facts: PhotoFacts, captured: Instant) {
    format = PhotoCaptureFormat(facts.format)
    size = facts.size
    orientation = facts.orientation
    self.captured = captured
  }
}

/// The file format of a photo taken while streaming.
public enum PhotoCaptureFormat: Hashable, Sendable {
  case heic, jpeg
}

/// A photo taken while streaming.
public struct PhotoData: Sendable {
  /// A whole file in `format`, byte by byte what the glasses made.
  public let data: Data
  public let format: PhotoCaptureFormat
  /// Nil for one that an app made itself.
  package let origin: PhotoOrigin?

  public init(data: Data, format: PhotoCaptureFormat) {
    self.init(data: data, format: format, origin: nil)
  }

  init(data: Data, format: PhotoCaptureFormat, origin: PhotoOrigin?) {
    self.data = data
    self.format = format
    self.origin = origin
  }
}

/// The size of a standalone photo.
public enum PhotoResolution: String, CaseIterable, Sendable {
  /// 480 pixels on the shorter side.
  case small
  /// 720 pixels on the shorter side.
  case medium
  /// 1080 pixels on the shorter side.
  case large
  /// All the sensor has: 4032 by 3024 pixels on glasses.
  case full
}

/// How far a standalone photo may be compressed.
public enum PhotoQuality: String, CaseIterable, Sendable {
  case low, medium, high
}

/// A standalone photo.
public struct PhotoCaptureData: Sendable {
  /// A whole JPEG or HEIC file, byte by byte what the glasses made.
  public let imageData: Data
  /// What the glasses said of the photo outside the file, if anything.
  public let metadata: Data?
  /// When the last byte was received, by the wall clock.
  public let timestamp: Date
  /// Nil for one that an app made itself.
  package let origin: PhotoOrigin?

  public init(imageData: Data, metadata: Data?, timestamp: Date) {
    self.init(imageData: imageData, metadata: metadata, timestamp: timestamp, origin: nil)
  }

  init(imageData: Data, metadata: Data?, timestamp: Date, origin: PhotoOrigin?) {
    self.imageData = imageData
    self.metadata = metadata
    self.timestamp = timestamp
    self.origin = origin
  }
}

/// How much of a standalone photo has arrived.
public struct PhotoTransferProgress: Sendable {
  public let bytesReceived: UInt64
  public let totalBytes: UInt64

  package init(bytesReceived: UInt64, totalBytes: UInt64) {
    self.bytesReceived = bytesReceived
    self.totalBytes = totalBytes
  }

  /// From 0 to 1; 0 while the total isn't known.
  public var fraction: Double {
    totalBytes == 0 ? 0 : min(1, Double(bytesReceived) / Double(totalBytes))
  }
}

extension PhotoFormat {
  init(_ format: PhotoCaptureFormat) {
    self =
      switch format {
      case .heic: .heic
      case .jpeg: .jpeg
      }
  }
}

extension PhotoCaptureFormat {
  init(_ format: PhotoFormat) {
    self =
      switch format {
      case .heic: .heic
      case .jpeg: .jpeg
      }
  }
}
