import CX265
import MediaEngine

extension HEVCEncoder {
  /// libx265 as it is loaded. Another build number would not have linked: it is part of the symbols' names.
  package static var library: LibraryVersion {
    let loaded = glasswing_x265_version().map { String(cString: $0) } ?? "unknown"
    return LibraryVersion(
      name: "libx265", package: "libx265-199", loaded: loaded, built: "build \(X265_BUILD)", isCompatible: true)
  }
}
