import Glasswing
import Units

/// The figures that a person watching a stream wants, in one line of at most 79 columns.
struct ProgressLine: Equatable {
  var elapsed: Duration = .zero
  var frames: UInt64 = 0
  var framesPerSecond: Double = 0
  var bitsPerSecond: Int64 = 0
  var ageP50: Duration?
  var ageP95: Duration?
  var drops: UInt64 = 0
  /// How loud the sound is, in decibels below full scale; nil where there is none. Left out where it doesn't fit.
  var level: Double?
  /// What goes on besides, such as `REC 3s`; cut off where it doesn't fit.
  var note = ""

  /// One column less than a terminal has, so that no terminal breaks the line.
  static let width = TextLayout.width - 1

  /// `0:04.2  101 frames  24.0 fps  812 kbit/s  age 7.2/13 ms  0 dropped  -21 dB`
  var text: String {
    var parts = [Self.clock(elapsed), "\(frames) frames"]
    parts.append(Self.decimal(framesPerSecond, places: 1) + " fps")
    parts.append("\(bitsPerSecond / 1000) kbit/s")
    if let ageP50, let ageP95 { parts.append("age \(Self.age(ageP50))/\(Self.age(ageP95)) ms") }
    parts.append("\(drops) dropped")
    let note = note.isEmpty ? [] : [note]
    if let level {
      let whole = (parts + [Self.decimal(level, places: 0) + " dB"] + note).joined(separator: "  ")
      if whole.count <= Self.width { return whole }
    }
    parts += note
    return String(parts.joined(separator: "  ").prefix(Self.width))
  }

  /// Minutes, seconds and tenths; hours when there are any.
  static func clock(_ duration: Duration) -> String {
    let tenths = max(0, duration.nanoseconds / 100_000_000)
    let seconds = tenths / 10
    let padded = { (value: Int64) in value < 10 ? "0\(value)" : "\(value)" }
    let end = "\(padded(seconds % 60)).\(tenths % 10)"
    guard seconds >= 3600 else { return "\(seconds / 60):\(end)" }
    return "\(seconds / 3600):\(padded(seconds / 60 % 60)):\(end)"
  }

  private static func age(_ duration: Duration) -> String {
    let milliseconds = duration.milliseconds
    return decimal(milliseconds, places: milliseconds < 10 ? 1 : 0)
  }

  /// Without Foundation's formatting, which follows the locale.
  static func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "-" }
    var scale = 1.0
    for _ in 0..<places { scale *= 10 }
    let scaled = Int64((abs(value) * scale).rounded())
    let whole = scaled / Int64(scale)
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(whole)" }
    let digits = String(scaled % Int64(scale))
    return "\(sign)\(whole)." + String(repeating: "0", count: places - digits.count) + digits
  }
}

extension ProgressLine {
  init(_ statistics: StreamStatistics, elapsed: Duration, note: String = "") {
    self.init(
      elapsed: elapsed, frames: statistics.frames, framesPerSecond: statistics.framesPerSecond,
      bitsPerSecond: statistics.bitsPerSecond, ageP50: statistics.ageP50, ageP95: statistics.ageP95,
      drops: statistics.drops.total, note: note)
  }
}
