import CFFmpeg
import CHEIF

/// A system library as it is loaded, and as it was when this package was built.
package struct LibraryVersion: Hashable, Sendable {
  package let name: String
  /// The Debian package that brings it.
  package let package: String
  /// As the library says at run time.
  package let loaded: String
  /// As its headers said.
  package let built: String
  /// Same major version: below that the interface may differ.
  package let isCompatible: Bool

  package init(name: String, package: String, loaded: String, built: String, isCompatible: Bool) {
    self.name = name
    self.package = package
    self.loaded = loaded
    self.built = built
    self.isCompatible = isCompatible
  }
}

package enum MediaLibraries {
  /// The libraries of this room that can say their version.
  package static var versions: [LibraryVersion] {
    [
      ffmpeg("libavformat", "libavformat59", avformat_version(), glasswing_libavformat_version),
      ffmpeg("libavcodec", "libavcodec59", avcodec_version(), glasswing_libavcodec_version),
      ffmpeg("libswresample", "libswresample4", swresample_version(), glasswing_libswresample_version),
      ffmpeg("libswscale", "libswscale6", swscale_version(), glasswing_libswscale_version),
      ffmpeg("libavutil", "libavutil57", avutil_version(), glasswing_libavutil_version),
      heif,
    ]
  }

  /// FFmpeg packs three numbers: 16, 8 and 8 bits.
  private static func ffmpeg(
    _ name: String, _ package: String, _ loaded: UInt32, _ built: UInt32
  ) -> LibraryVersion {
    let text = { (version: UInt32) in "\(version >> 16).\(version >> 8 & 0xff).\(version & 0xff)" }
    return LibraryVersion(
      name: name, package: package, loaded: text(loaded), built: text(built), isCompatible: loaded >> 16 == built >> 16)
  }

  private static var heif: LibraryVersion {
    let loaded = heif_get_version().map { String(cString: $0) } ?? "unknown"
    let built = LIBHEIF_VERSION
    let major = { (version: String) in version.prefix { $0 != "." } }
    return LibraryVersion(
      name: "libheif", package: "libheif1", loaded: loaded, built: built, isCompatible: major(loaded) == major(built))
  }
}
