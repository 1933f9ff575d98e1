import MWDATCamera

/// What the glasses said of a photo, beside its bytes.
public struct PhotoDetails: Codable, Hashable, Sendable {
  /// The format of the file.
  public enum Format: String, Codable, Hashable, Sendable, CaseIterable {
    /// HEIF with an HEVC picture (ISO/IEC 23008-12).
    case heic
    /// JPEG (ITU-T T.81).
    case jpeg
  }

  /// The format of the file.
  public let format: Format
  /// Pixels across, as they lie in the file: before it is turned by `orientation`.
  public let width: Int
  /// Pixels down, as they lie in the file.
  public let height: Int
  /// How the picture is to be turned for viewing, as in Exif: 1 to 8 (CIPA DC-008, tag 0x0112). The file says it too.
  public let orientation: Int
  /// When the picture was captured, in nanoseconds on the host's monotonic clock, which frames' presentation times are
  /// on too.
  public let hostNanoseconds: Int64

  /// `hostNanoseconds` as the media types have it: a photo taken while streaming shows what the frame with this
  /// presentation time shows, or the one before it. `Stream.wallClockTime(of:)` gives the date.
  public var captureTime: CMTime { CMTime(value: hostNanoseconds, timescale: 1_000_000_000) }

  init(_ origin: PhotoOrigin) {
    format =
      switch origin.format {
      case .heic: .heic
      case .jpeg: .jpeg
      }
    width = origin.size.width
    height = origin.size.height
    orientation = Int(origin.orientation)
    hostNanoseconds = origin.captured.nanoseconds
  }
}

extension PhotoData {
  /// What the glasses said of the photo; nil for one that an app made itself.
  public var details: PhotoDetails? { origin.map { PhotoDetails($0) } }
}

extension PhotoCaptureData {
  /// What the glasses said of the photo; nil for one that an app made itself.
  public var details: PhotoDetails? { origin.map { PhotoDetails($0) } }
}
