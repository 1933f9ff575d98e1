import Foundation
import Synchronization

/// A generated film whose pictures come at a rate of one's choice, evenly or not, and say their number.
///
/// H.264, 160x120: ten upright bars of 16 pixels, the n-th bright where bit n of the picture's number is set. The number is
/// so robust that it survives scaling and strong compression.
package struct RateFeed: Hashable, Sendable, CustomStringConvertible {
  /// How pictures lie in time.
  package enum Spacing: Hashable, Sendable {
    case even
    /// Each up to a quarter of an interval off its place, at random.
    case jittered
    /// One and a half intervals and a half one in turn.
    case uneven
  }

  package let numerator: Int
  package let denominator: Int
  package let spacing: Spacing

  package init(_ numerator: Int, over denominator: Int = 1, _ spacing: Spacing = .even) {
    self.numerator = numerator
    self.denominator = denominator
    self.spacing = spacing
  }

  /// Pictures a second, on average.
  package var rate: Double { Double(numerator) / Double(denominator) }

  package var description: String { "\(numerator)/\(denominator) \(spacing)" }

  /// What it shows lasts at least so many seconds.
  package static let seconds = 4

  /// The file, made when first asked for.
  package func path() throws -> String {
    try Self.made.withLock { made in
      if let path = made[self] { return path }
      let path = try MediaFactory.newPath("mp4")
      try make(path)
      made[self] = path
      return path
    }
  }

  /// The number that a picture shows; nil when it shows none.
  ///
  /// - Parameters:
  ///   - luma: of a column of the picture's middle row.
  ///   - width: of the picture, whose whole width the film fills.
  package static func number(width: Int, luma: (Int) -> UInt8) -> Int? {
    var number = 0
    for bit in 0..<bars {
      switch luma((2 * bit + 1) * width / (2 * bars)) {
      case 140...: number |= 1 << bit
      case ...100: break
      default: return nil
      }
    }
    return number
  }

  private static let bars = 10
  private static let made = Mutex<[RateFeed: String]>([:])

  private func make(_ path: String) throws {
    let interval = "\(denominator)/\(numerator)"
    let time =
      switch spacing {
      case .even: "N"
      case .jittered: "(N+0.5*(random(1)-0.5))"
      case .uneven: "(N+0.5*bitand(N\\,1))"
      }
    let picture = "geq=lum='if(bitand(N,pow(2,floor(X/16))),200,40)':cb=128:cr=128"
    let count = Self.seconds * numerator / denominator + 2
    let source =
      "nullsrc=s=160x120:r=\(numerator)/\(denominator),trim=end_frame=\(count),format=yuv420p,\(picture),"
      + "settb=1/90000,setpts=\(time)*\(interval)/TB"
    try CommandLineTool.run(
      "ffmpeg",
      [
        "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source, "-an", "-c:v", "libx264", "-preset", "ultrafast",
        "-tune", "zerolatency", "-pix_fmt", "yuv420p", "-threads", "1", "-fps_mode", "vfr", "-enc_time_base", "1/90000",
        "-video_track_timescale", "90000", path,
      ])
  }
}
