import GlassesAgent
import MediaEncoding
import MediaEngine
import PortableMedia
import Testing
import Units

/// Pictures of the test pattern as an `.hvc1` stream delivers them, encoded once for all tests.
struct EncodedClip: Sendable {
  struct Unit: Sendable {
    let data: CMBlockBuffer
    let isSync: Bool
  }

  static let frameRate = 30
  /// A sync picture every `syncInterval`.
  static let syncInterval = 15

  let size: PixelSize
  let units: [Unit]
  let format: CMFormatDescription
  let parameterSets: [[UInt8]]?

  static let small = Result { try EncodedClip(size: PixelSize(width: 160, height: 128), count: 90) }
  static let large = Result { try EncodedClip(size: PixelSize(width: 320, height: 192), count: 45) }

  init(size: PixelSize, count: Int) throws {
    self.size = size
    let source = try PatternSource(size: size, frameRate: Double(Self.frameRate))
    let encoder = try HEVCEncoder(
      .init(size: size, frameRate: Double(Self.frameRate), bitrate: .kilobitsPerSecond(300)))
    defer { encoder.close() }
    var units: [Unit] = []
    var format: CMFormatDescription?
    var sets: [[UInt8]]?
    for number in 0..<count {
      let picture = try source.picture(at: .seconds(1) * number / Self.frameRate).buffer
      let encoded = try encoder.encode(picture, forcesSync: number % Self.syncInterval == 0)
      if format == nil {
        let first = Self.parameterSets(encoded.payload)
        format = try CMFormatDescription.hevc(parameterSets: first)
        sets = first
      }
      units.append(Unit(data: try #require(CMBlockBuffer(bytes: encoded.payload)), isSync: encoded.isSync))
    }
    self.units = units
    self.format = try #require(format)
    parameterSets = sets
  }

  /// - Parameter time: in seconds; nil for a sample without a stamp.
  func sample(_ number: Int, at time: Double?) throws -> CMSampleBuffer {
    let stamp = time.map { CMTime(value: Int64($0 * 1e9), timescale: 1_000_000_000) } ?? .invalid
    let timing = CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: stamp, decodeTimeStamp: .invalid)
    let data = units[number].data
    let sample = try CMSampleBuffer(
      dataBuffer: data, formatDescription: format, numSamples: 1, sampleTimings: [timing],
      sampleSizes: [CMBlockBufferGetDataLength(data)])
    if !units[number].isSync { sample.sampleAttachments[0][.notSync] = true }
    return sample
  }

  /// All samples at the frame rate, the first at `start`.
  func samples(from start: Double = 100) throws -> [CMSampleBuffer] {
    try units.indices.map { try sample($0, at: start + Double($0) / Double(Self.frameRate)) }
  }

  private static func parameterSets(_ payload: [UInt8]) -> [[UInt8]] {
    var sets: [[UInt8]] = []
    var rest = payload[...]
    while rest.count > 4 {
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      let unit = rest.dropFirst(4).prefix(length)
      if let first = unit.first, (32...34).contains(first >> 1) { sets.append(Array(unit)) }
      rest = rest.dropFirst(4 + length)
    }
    return sets
  }
}

extension CMSampleBuffer {
  /// A decoded picture of no content, of which a recorder and a decoder can make nothing.
  static func decodedPicture() throws -> CMSampleBuffer {
    let picture = try #require(
      CVPixelBuffer(width: 16, height: 16, pixelFormat: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    return try CMSampleBuffer(
      imageBuffer: picture, formatDescription: CMFormatDescription(imageBuffer: picture),
      sampleTiming: CMSampleTimingInfo(
        duration: .invalid, presentationTimeStamp: CMTime(value: 1, timescale: 1), decodeTimeStamp: .invalid))
  }
}
