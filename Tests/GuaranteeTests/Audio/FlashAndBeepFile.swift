import Foundation
import TestSupport
import Testing

/// The test pattern's flashes and beeps in a recorded file of 360x640 pictures and 16 kHz sound, as `ffmpeg` decodes it.
enum FlashAndBeepFile {
  /// For each flash of a stretch the seconds from it to the beep that goes with it, by the file's stamps; what has no
  /// partner is left out.
  static func distances(in path: String, from start: Double, seconds: Double) throws -> [Double] {
    let flashes = try flashes(in: path, from: start, seconds: seconds)
    let beeps = try beeps(in: path, from: start, seconds: seconds)
    return flashes.compactMap { flash in
      beeps.map { $0 - flash }.min { abs($0) < abs($1) }.flatMap { abs($0) < 0.5 ? $0 : nil }
    }
  }

  /// Decodes a stretch with a filter that tells of each frame; stamps are the file's.
  private static func decode(
    _ path: String, _ start: Double, _ seconds: Double, _ output: [String]
  ) throws -> [Substring] {
    let stretch = ["-ss", "\(start)", "-t", "\(seconds)", "-copyts", "-i", path]
    return try CommandLineTool.run("ffmpeg", ["-v", "info", "-nostdin"] + stretch + output).errors.split(
      separator: "\n")
  }

  /// When the light in the picture goes on.
  private static func flashes(in path: String, from start: Double, seconds: Double) throws -> [Double] {
    let lines = try decode(
      path, start, seconds, ["-map", "0:v", "-vf", "crop=20:20:50:278,showinfo", "-f", "null", "-"])
    var wasLit = true
    return lines.compactMap { line in
      guard let time = number(after: "pts_time:", in: line), let luma = number(after: "mean:[", in: line) else {
        return nil
      }
      let isLit = luma > 128
      defer { wasLit = isLit }
      return isLit && !wasLit ? time : nil
    }
  }

  private static func beeps(in path: String, from start: Double, seconds: Double) throws -> [Double] {
    let samples = try MediaFactory.newPath("f32")
    let lines = try decode(
      path, start, seconds, ["-map", "0:a", "-af", "ashowinfo", "-ar", "16000", "-ac", "1", "-f", "f32le", samples])
    let first = try #require(lines.lazy.compactMap { number(after: "pts_time:", in: $0) }.first)
    let data = try Data(contentsOf: URL(fileURLWithPath: samples))
    var detector = BeepDetector(level: 0.25, sampleRate: 16_000)
    detector.take(data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, at: first)
    return detector.onsets
  }

  private static func number(after name: String, in line: Substring) -> Double? {
    line.range(of: name).flatMap { range in
      Double(line[range.upperBound...].drop { $0 == " " }.prefix { $0.isNumber || $0 == "." || $0 == "-" })
    }
  }
}
