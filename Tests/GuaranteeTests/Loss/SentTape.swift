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
    let starts = entries.indices.filter { $0 == 0 || entries[$0].isSync }
    return try zip(starts, starts.dropFirst() + [entries.count]).flatMap { start, end in
      try ReferenceDecodes.shared.digests(of: entries[start..<end].map(\.unit.payload))
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

/// What a decoder makes of groups of pictures, each decoded once in a process: replayed streams send the same ones again
/// and again.
private final class ReferenceDecodes: Sendable {
  static let shared = ReferenceDecodes()

  private struct Group {
    var payloads: [[UInt8]]
    var digests: [[UInt8]]
  }

  /// By the bytes of the first unit: the longest group that began with it. A few hundred units in all.
  private let groups = Mutex<[[UInt8]: Group]>([:])

  /// - Parameter payloads: of one group, from its sync unit on, or of the beginning of one.
  func digests(of payloads: [[UInt8]]) throws -> [[UInt8]] {
    guard let first = payloads.first else { return [] }
    if let known = groups.withLock({ $0[first] }), known.payloads.starts(with: payloads) {
      return Array(known.digests.prefix(payloads.count))
    }
    let decoder = try VideoDecoder(codec: .hevc, verifiesPictureHashes: true)
    let digests = try payloads.map { payload in
      let picture = try payload.withUnsafeBytes { try decoder.decode($0) }
      return picture.map { PictureDigest.of($0) } ?? []
    }
    groups.withLock { $0[first] = Group(payloads: payloads, digests: digests) }
    return digests
  }
}

/// What tells pictures apart within one process: a hash over the pixels of all planes, without what pads the rows.
enum PictureDigest {
  static func of(_ picture: CVPixelBuffer) -> [UInt8] {
    CVPixelBufferLockBaseAddress(picture, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(picture, .readOnly) }
    var hasher = Hasher()
    for plane in 0..<CVPixelBufferGetPlaneCount(picture) {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(picture, plane) else { continue }
      let stride = CVPixelBufferGetBytesPerRowOfPlane(picture, plane)
      // The second plane of `420v` has two bytes a pixel at half the width.
      let length = CVPixelBufferGetWidthOfPlane(picture, plane) * (plane == 0 ? 1 : 2)
      for row in 0..<CVPixelBufferGetHeightOfPlane(picture, plane) {
        hasher.combine(bytes: UnsafeRawBufferPointer(start: base + row * stride, count: length))
      }
    }
    return digest(hasher)
  }

  /// Of pixels that stand without padding, plane after plane.
  static func of(_ pixels: some Collection<UInt8>) -> [UInt8] {
    var hasher = Hasher()
    _ = pixels.withContiguousStorageIfAvailable { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return digest(hasher)
  }

  private static func digest(_ hasher: Hasher) -> [UInt8] {
    withUnsafeBytes(of: hasher.finalize()) { Array($0) }
  }
}
