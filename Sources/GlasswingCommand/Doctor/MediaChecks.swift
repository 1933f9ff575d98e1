import Foundation
import GlassesAgent
import LinkProtocol
import MediaEncoding
import MediaEngine
import PortableMedia
import Units

/// Checks of libraries and codecs. Codecs are judged by a frame that goes through them, not by a name in a list.
enum MediaChecks {
  private static let install = "Run make deps in the package, or install"

  static func libraries() -> [DoctorCheck] {
    (MediaLibraries.versions + [HEVCEncoder.library]).map(library)
  }

  static func library(_ version: LibraryVersion) -> DoctorCheck {
    guard !version.isCompatible else { return DoctorCheck(version.name, .ok, version.loaded) }
    return DoctorCheck(
      version.name, .failed, "\(version.loaded) is loaded, but this program was built for \(version.built)",
      remedy: "\(install) \(version.package), and build again.")
  }

  /// Encodes a picture of the test pattern and decodes it again.
  static func codecs(timekeeper: any Timekeeper) -> [DoctorCheck] {
    let size = PixelSize(width: 504, height: 896)
    let picture: CVPixelBuffer
    do throws(SourceError) {
      picture = try PatternSource(size: size).picture(at: .zero).buffer
    } catch {
      return [DoctorCheck("test pattern", .failed, error.text, remedy: "Free some memory.")]
    }
    var checks: [DoctorCheck] = []
    var unit: EncodedPicture?
    checks.append(
      run("HEVC encoder", package: "libx265-dev", timekeeper) { () throws(MediaError) in
        let configuration = HEVCEncoder.Configuration(size: size, frameRate: 30, bitrate: .kilobitsPerSecond(1500))
        let encoder = try HEVCEncoder(configuration)
        unit = try encoder.encode(picture, forcesSync: true)
        encoder.close()
        return unit?.isSync == true ? "one picture, \(unit?.payload.count ?? 0) bytes" : nil
      })
    checks.append(
      run("HEVC decoder", package: "libavcodec-dev", timekeeper) { () throws(MediaError) in
        guard let payload = unit?.payload else { return nil }
        let decoder = try VideoDecoder(codec: .hevc)
        let result = payload.withUnsafeBytes { bytes in
          Result { () throws(MediaError) in try decoder.decode(bytes) }
        }
        guard let decoded = try result.get() else { return nil }
        return "one picture, \(decoded.pixelWidth)x\(decoded.pixelHeight)"
      })
    checks.append(
      run("JPEG encoder", package: "libturbojpeg0-dev", timekeeper) { () throws(MediaError) in
        "one picture, \(try JPEGEncoder.encode(picture).count) bytes"
      })
    checks.append(
      run("HEIC encoder", package: "libheif-dev", timekeeper) { () throws(MediaError) in
        "one picture, \(try HEICEncoder.encode(picture).bytes.count) bytes"
      })
    return checks + audioCodecs(timekeeper: timekeeper)
  }

  /// Encodes a tone, and decodes it where the package does that too.
  private static func audioCodecs(timekeeper: any Timekeeper) -> [DoctorCheck] {
    let format = PCMFormat(sampleRate: OpusEncoder.sampleRate, channels: 2)
    // 1 kHz at half of full scale; what comes out silent is no sound.
    let tone = (0..<OpusEncoder.packetFrames * 10).flatMap { frame in
      let sample = Float(0.5 * sin(2 * .pi * 1000 * Double(frame) / Double(format.sampleRate)))
      return [sample, sample]
    }
    let bitrate: Bitrate = .kilobitsPerSecond(64)
    return [
      run("Opus encoder", package: "libavcodec-dev", timekeeper) { () throws(MediaError) in
        let bytes = try encodeOpus(tone, format, bitrate).reduce(0) { $0 + $1.count }
        return bytes > 0 ? "200 ms of sound, \(bytes) bytes" : nil
      },
      run("Opus decoder", package: "libavcodec-dev", timekeeper) { () throws(MediaError) in
        let packets = try encodeOpus(tone, format, bitrate)
        let decoder = try OpusDecoder(format)
        var last: [Float] = []
        for packet in packets { last = try decoder.decode(packet) }
        return last.contains { abs($0) > 0.25 } ? "200 ms of sound" : nil
      },
      run("AAC encoder", package: "libavcodec-dev", timekeeper) { () throws(MediaError) in
        let encoder = try AudioEncoder(.aac, format, bitrate: bitrate)
        let packets = try encoder.encode(tone) + encoder.finish()
        let bytes = packets.reduce(0) { $0 + $1.bytes.count }
        return bytes > 0 ? "200 ms of sound, \(bytes) bytes" : nil
      },
    ]
  }

  private static func encodeOpus(
    _ samples: [Float], _ format: PCMFormat, _ bitrate: Bitrate
  ) throws(MediaError) -> [[UInt8]] {
    let encoder = try OpusEncoder(format, bitrate: bitrate)
    let count = OpusEncoder.packetFrames * format.channels
    var packets: [[UInt8]] = []
    var start = 0
    while start < samples.count {
      packets.append(try encoder.encode(Array(samples[start..<min(start + count, samples.count)])))
      start += count
    }
    return packets
  }

  /// - Parameter work: what came out, in words; nil when nothing did.
  private static func run(
    _ name: String, package: String, _ timekeeper: any Timekeeper, _ work: () throws(MediaError) -> String?
  ) -> DoctorCheck {
    let begun = timekeeper.now
    do throws(MediaError) {
      guard let found = try work() else {
        return DoctorCheck(name, .failed, "nothing came out", remedy: "\(install) \(package).")
      }
      let time = ProgressLine.decimal((timekeeper.now - begun).milliseconds, places: 1)
      return DoctorCheck(name, .ok, "\(found), \(time) ms")
    } catch {
      return DoctorCheck(name, .failed, error.description, remedy: "\(install) \(package).")
    }
  }
}
