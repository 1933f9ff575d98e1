import LinkProtocol
import MWDATMockDevice
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// What the glasses sent, unit by unit, before any link could harm it, and what a decode without losses makes of it.
final class SentTape: Sendable {
  struct Entry: Sendable {
    let unit: AccessUnit
    /// On the clock of the kit: when the unit left, which under a clock by hand is when it was captured.
    let time: Instant

    var isSync: Bool { unit.flags.contains(.sync) }
  }

  private let kept = Mutex<[Entry]>([])

  /// Begins with the next stream.
  init(_ glasses: SimulatedGlasses, _ clock: any Timekeeper) {
    glasses.agent.observeUnits { [weak self] unit in
      self?.kept.withLock { $0.append(Entry(unit: unit, time: clock.now)) }
    }
  }

  var entries: [Entry] { kept.withLock { $0 } }

  /// The digest of each picture by its place on the tape. Where the encoder wrote hashes, they vouch for the reference.
  static func reference(_ entries: [Entry]) throws -> [[UInt8]] {
    let decoder = try VideoDecoder(codec: .hevc, verifiesPictureHashes: true)
    return try entries.map { entry in
      let picture = try entry.unit.payload.withUnsafeBytes { try decoder.decode($0) }
      return try picture.map(PictureDigest.of) ?? []
    }
  }

  /// The entry that a presentation time belongs to: the nearest, if it is no further than half an interval of 24 a
  /// second.
  static func index(of time: Instant, in entries: [Entry]) -> Int? {
    func distance(_ index: Int) -> Duration {
      let span = entries[index].time - time
      return span < .zero ? .zero - span : span
    }
    guard let nearest = entries.indices.min(by: { distance($0) < distance($1) }),
      distance(nearest) <= .milliseconds(20)
    else { return nil }
    return nearest
  }
}

/// SHA-256 over the pixels of all planes, without what pads the rows.
enum PictureDigest {
  static func of(_ picture: CVPixelBuffer) throws -> [UInt8] {
    CVPixelBufferLockBaseAddress(picture, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(picture, .readOnly) }
    var pixels: [UInt8] = []
    for plane in 0..<CVPixelBufferGetPlaneCount(picture) {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(picture, plane) else { continue }
      let stride = CVPixelBufferGetBytesPerRowOfPlane(picture, plane)
      // The second plane of `420v` has two bytes a pixel at half the width.
      let length = CVPixelBufferGetWidthOfPlane(picture, plane) * (plane == 0 ? 1 : 2)
      for row in 0..<CVPixelBufferGetHeightOfPlane(picture, plane) {
        pixels.append(contentsOf: UnsafeRawBufferPointer(start: base + row * stride, count: length))
      }
    }
    return try sha256(pixels)
  }
}
