import MediaEngine
import PortableMedia
import Units

/// Encoded pictures as the sample buffers that an app's `.hvc1` stream delivers.
enum Samples {
  /// The format that a sync unit's own parameter sets describe.
  static func format(ofSyncUnit payload: [UInt8]) throws(MediaStatusError) -> CMFormatDescription {
    var sets: [[UInt8]] = []
    var position = 0
    // Of our own encoder: NAL units behind 4-byte lengths; types 32 to 34 are VPS, SPS and PPS (H.265, table 7-1).
    while position + 5 <= payload.count {
      let length = payload[position..<position + 4].reduce(0) { $0 << 8 | Int($1) }
      let unit = payload[position + 4..<min(payload.count, position + 4 + length)]
      guard let first = unit.first, (32...34).contains(first >> 1 & 0x3f) else { break }
      sets.append(Array(unit))
      position += 4 + length
    }
    return try CMFormatDescription.hevc(parameterSets: sets)
  }

  /// A sample; the recorder leaves parameter sets inside it out. nil for an empty payload.
  static func sample(
    _ payload: [UInt8], _ format: CMFormatDescription, at time: Duration, isSync: Bool
  ) throws(MediaStatusError) -> CMSampleBuffer? {
    guard let data = CMBlockBuffer(bytes: payload) else { return nil }
    let timing = CMSampleTimingInfo(
      duration: .invalid, presentationTimeStamp: CMTime(value: time.nanoseconds, timescale: 1_000_000_000),
      decodeTimeStamp: .invalid)
    let sample = try CMSampleBuffer(
      dataBuffer: data, formatDescription: format, numSamples: 1, sampleTimings: [timing], sampleSizes: [payload.count])
    if !isSync { sample.sampleAttachments[0][.notSync] = true }
    return sample
  }
}
