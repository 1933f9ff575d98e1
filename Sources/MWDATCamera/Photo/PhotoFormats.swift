import Foundation

/// The file format of a photo taken while streaming.
public enum PhotoCaptureFormat: Hashable, Sendable {
  case heic, jpeg
}

/// A photo taken while streaming.
public struct PhotoData: Sendable {
  /// A whole file in `format`, byte by byte what the glasses made.
  public let data: Data
  public let format: PhotoCaptureFormat

  public init(data: Data, format: PhotoCaptureFormat) {
    self.data = data
    self.format = format
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

  public init(imageData: Data, metadata: Data?, timestamp: Date) {
    self.imageData = imageData
    self.metadata = metadata
    self.timestamp = timestamp
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
