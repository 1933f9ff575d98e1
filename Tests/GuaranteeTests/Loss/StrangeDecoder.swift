import Foundation
import MediaEngine
import TestSupport
import Units

/// The `ffmpeg` command as a decoder that knows nothing of ours.
enum StrangeDecoder {
  /// The digest of each picture of a file's video track, in order, comparable with `PictureDigest`.
  static func pictures(of path: String, size: PixelSize, inputFormat: [String] = []) throws -> [[UInt8]] {
    let raw = try MediaFactory.newPath("yuv")
    defer { try? FileManager.default.removeItem(atPath: raw) }
    // A plain shuffle of the samples' order: `nv12` is what `420v` is called there.
    try CommandLineTool.run(
      "ffmpeg",
      ["-v", "quiet", "-nostdin", "-y"] + inputFormat + ["-i", path]
        + ["-fps_mode", "passthrough", "-pix_fmt", "nv12", "-f", "rawvideo", raw])
    let bytes = Array(try Data(contentsOf: URL(fileURLWithPath: raw)))
    let length = size.width * size.height * 3 / 2
    return stride(from: 0, to: bytes.count - length + 1, by: length).map { start in
      PictureDigest.of(bytes[start..<start + length])
    }
  }

  /// The same of NAL units behind 4-byte lengths, one array for each access unit.
  static func pictures(ofUnits units: [[UInt8]], size: PixelSize) throws -> [[UInt8]] {
    let path = try MediaFactory.newPath("hevc")
    defer { try? FileManager.default.removeItem(atPath: path) }
    try Data(units.flatMap(startCoded)).write(to: URL(fileURLWithPath: path))
    return try pictures(of: path, size: size, inputFormat: ["-f", "hevc"])
  }

  /// As a byte stream (ITU-T H.265, annex B).
  private static func startCoded(_ unit: [UInt8]) -> [UInt8] {
    var bytes = unit
    var offset = 0
    while offset + 4 <= bytes.count {
      let length = bytes[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
      bytes.replaceSubrange(offset..<offset + 4, with: [0, 0, 0, 1])
      offset += 4 + length
    }
    return bytes
  }
}
