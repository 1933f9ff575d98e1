import Foundation

/// When a file's first tracks of pictures and of sound begin and end, as `ffprobe` has it, in seconds.
package struct TrackTimes: Sendable {
  package struct Track: Sendable {
    /// When packets begin, in file order.
    package var stamps: [Double] = []
    /// What packets say of themselves, in file order; empty unless asked for.
    package var hashes: [String] = []
    /// When the track ends.
    package var end = 0.0

    /// From the first packet's beginning to the end.
    package var length: Double { end - (stamps.first ?? 0) }
    package var isRising: Bool { zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 } }
  }

  package private(set) var video = Track()
  package private(set) var audio = Track()

  /// - Parameters:
  ///   - start: where packets are looked at from; of a long file, all would take long.
  ///   - withHashes: of the packets' bytes.
  package init(_ path: String, from start: Double = 0, withHashes: Bool = false) throws {
    let packets = "packet=codec_type,pts_time,duration_time" + (withHashes ? ",data_hash" : "")
    let entries = "\(packets):stream=codec_type,duration:stream_tags=DURATION"
    let interval =
      (start > 0 ? ["-read_intervals", "\(start)%"] : []) + (withHashes ? ["-show_data_hash", "CRC32"] : [])
    for line in try MediaInspector.probe(path, interval + ["-show_entries", entries, "-of", "csv"]) {
      let fields = line.split(separator: ",").map(String.init)
      guard fields.count >= 3 else { continue }
      let track: WritableKeyPath<TrackTimes, Track> = fields[1] == "video" ? \.video : \.audio
      if fields[0] == "packet", let stamp = Double(fields[2]) {
        self[keyPath: track].stamps.append(stamp)
        if withHashes, let hash = fields.last { self[keyPath: track].hashes.append(hash) }
        // The length of some packets is not known to ffprobe.
        let length = fields.count > 3 ? Double(fields[3]) ?? 0 : 0
        self[keyPath: track].end = max(self[keyPath: track].end, stamp + length)
      } else if fields[0] == "stream" {
        // What the file itself says, which knows a last packet that is cut; Matroska has it as a tag.
        let ends = fields.dropFirst(2).compactMap(Self.seconds)
        self[keyPath: track].end = ends.max() ?? self[keyPath: track].end
      }
    }
  }

  /// `2.5` and `00:00:02.500000000`.
  private static func seconds(_ text: String) -> Double? {
    let parts = text.split(separator: ":").map { Double($0) }
    return parts.contains(nil) ? nil : parts.compactMap { $0 }.reduce(0) { $0 * 60 + $1 }
  }
}
