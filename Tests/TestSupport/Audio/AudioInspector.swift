import Foundation

/// Strangers' opinions on a file's sound: what `ffprobe` and `ffmpeg` make of it.
package enum AudioInspector {
  /// A field of the first sound track, such as `codec_name`; nil without one.
  package static func field(_ name: String, _ path: String) throws -> String? {
    try MediaInspector.probe(path, ["-select_streams", "a:0", "-show_entries", "stream=\(name)"]).first
  }

  /// Presentation time stamps of the sound's packets, in seconds, in file order.
  package static func stamps(_ path: String) throws -> [Double] {
    try MediaInspector.probe(path, ["-select_streams", "a:0", "-show_entries", "packet=pts_time"]).compactMap {
      Double($0)
    }
  }

  /// When decoded sound begins and ends, in seconds.
  package static func decodedSpan(_ path: String) throws -> (start: Double, end: Double) {
    let rate = try field("sample_rate", path).flatMap { Double($0) } ?? 48_000
    let text = try MediaInspector.probe(
      path, ["-select_streams", "a:0", "-show_entries", "frame=pts_time,nb_samples", "-of", "csv=p=0"])
    let frames = text.compactMap { line -> (start: Double, end: Double)? in
      let fields = line.split(separator: ",").compactMap { Double($0) }
      return fields.count == 2 ? (fields[0], fields[0] + fields[1] / rate) : nil
    }
    return (frames.first?.start ?? .nan, frames.last?.end ?? .nan)
  }

  /// All samples of the first sound track from its first on, interleaved, as ffmpeg decodes them.
  package static func samples(_ path: String, rate: Int, channels: Int = 1) throws -> [Float] {
    try decoded(path, ["-v", "error"], ["-ac", "\(channels)", "-ar", "\(rate)"]).samples
  }

  /// When each beep of 1 kHz begins, in seconds of the file's time; gaps of the stamps are gaps here.
  ///
  /// - Parameter stretch: else the whole file.
  package static func onsets(
    _ path: String, level: Double = 0.25, in stretch: MediaInspector.Stretch? = nil
  ) throws -> [Double] {
    let rate = 16_000
    // Frames are put at their stamps, with silence between them; ffmpeg else begins to count at the file's earliest.
    let filter = "aresample=\(rate):async=1:min_hard_comp=0.001,ashowinfo"
    let (samples, report) = try decoded(
      path, ["-v", "info"] + (stretch?.settings ?? ["-copyts"]), ["-af", filter, "-ac", "1"])
    let first = report.split(separator: "\n").lazy.compactMap { number(after: "pts_time:", in: $0) }.first
    var detector = BeepDetector(level: level, sampleRate: rate)
    detector.take(samples, at: first ?? 0)
    return detector.onsets
  }

  /// The number that follows a name in what a program wrote.
  package static func number(after name: String, in line: Substring) -> Double? {
    line.range(of: name).flatMap { range in
      Double(line[range.upperBound...].drop { $0 == " " }.prefix { $0.isNumber || $0 == "." || $0 == "-" })
    }
  }

  private static func decoded(
    _ path: String, _ input: [String], _ settings: [String]
  ) throws -> (samples: [Float], report: String) {
    let raw = try MediaFactory.newPath("f32")
    let arguments = ["-nostdin", "-y"] + input + ["-i", path, "-map", "0:a:0"] + settings
    let report = try CommandLineTool.run("ffmpeg", arguments + ["-f", "f32le", "-c:a", "pcm_f32le", raw]).errors
    let data = try Data(contentsOf: URL(fileURLWithPath: raw))
    try FileManager.default.removeItem(atPath: raw)
    return (data.withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }, report)
  }
}
