import Foundation
import TestSupport

/// The test pattern's flashes and beeps in a recorded file of 360x640 pictures, as `ffmpeg` decodes it.
enum FlashAndBeepFile {
  /// For each flash of a stretch the seconds from it to the beep that goes with it, by the file's stamps; what has no
  /// partner is left out.
  static func distances(in path: String, _ stretch: MediaInspector.Stretch) throws -> [Double] {
    FlashAndBeep.distances(from: try flashes(in: path, stretch), to: try AudioInspector.onsets(path, in: stretch))
  }

  static func expectInStep(_ path: String, from start: Double, seconds: Int = 8, _ when: String) throws {
    FlashAndBeep.expectInStep(
      try distances(in: path, .init(start: start, seconds: Double(seconds))), seconds: seconds, when)
  }

  /// When the light in the picture goes on.
  private static func flashes(in path: String, _ stretch: MediaInspector.Stretch) throws -> [Double] {
    let input = ["-v", "info", "-nostdin"] + stretch.settings + ["-i", path, "-map", "0:v"]
    let output = try CommandLineTool.run(
      "ffmpeg", input + ["-vf", "crop=20:20:50:278,showinfo", "-f", "null", "-"])
    var wasLit = true
    return output.errors.split(separator: "\n").compactMap { line in
      guard let time = AudioInspector.number(after: "pts_time:", in: line),
        let luma = AudioInspector.number(after: "mean:[", in: line)
      else { return nil }
      let isLit = luma > 128
      defer { wasLit = isLit }
      return isLit && !wasLit ? time : nil
    }
  }
}
