import LinkProtocol
import PortableMedia
import Units

/// Makes sample buffers of decoded pictures; the format description is made anew only when the pictures change form.
struct PictureSampleFactory: Sendable {
  private var format: CMVideoFormatDescription?

  init() {}

  mutating func makeSample(
    _ picture: CVPixelBuffer, presentation: Instant
  ) throws(MediaStatusError) -> CMSampleBuffer {
    let format: CMVideoFormatDescription
    if let known = self.format, CMVideoFormatDescriptionMatchesImageBuffer(known, imageBuffer: picture) {
      format = known
    } else {
      format = try CMVideoFormatDescription(imageBuffer: picture)
      self.format = format
    }
    return try CMSampleBuffer(
      imageBuffer: picture, formatDescription: format, sampleTiming: CMSampleTimingInfo(presentation))
  }
}

/// Makes sample buffers of HEVC access units without copying them; the format description is made anew only when the
/// parameter sets change.
struct UnitSampleFactory: Sendable {
  /// The bytes before the picture of the last unit that had parameter sets.
  private var header: ArraySlice<UInt8> = []
  private var format: CMVideoFormatDescription?

  init() {}

  /// Keeps the parameter sets, if the unit has some. Throws when they can't be read.
  mutating func note(_ unit: AccessUnit, _ layout: AccessUnitLayout) throws(MediaStatusError) {
    let new = unit.payload[..<layout.pictureStart]
    guard !layout.parameterSets.isEmpty, format == nil || new != header else { return }
    format = try CMFormatDescription.hevc(parameterSets: layout.parameterSets.map { Array(unit.payload[$0]) })
    // A copy of its own: a slice would keep the whole unit.
    header = ArraySlice(Array(new))
  }

  /// Nil when no parameter sets have come.
  func makeSample(
    _ received: ReceivedUnit, _ layout: AccessUnitLayout
  ) throws(MediaStatusError) -> CMSampleBuffer? {
    guard let format, let data = CMBlockBuffer(bytes: received.unit.payload, offset: layout.pictureStart) else {
      return nil
    }
    let sample = try CMSampleBuffer(
      dataBuffer: data, formatDescription: format, numSamples: 1,
      sampleTimings: [CMSampleTimingInfo(received.presentation)],
      sampleSizes: [received.unit.payload.count - layout.pictureStart])
    if !received.unit.flags.contains(.sync) {
      sample.sampleAttachments[0][.notSync] = true
      sample.sampleAttachments[0][.dependsOnOthers] = true
    }
    return sample
  }
}

extension CMSampleTimingInfo {
  /// A picture shown at a time on the host's clock, for as long as none follows.
  init(_ presentation: Instant) {
    self.init(
      duration: .invalid, presentationTimeStamp: CMTime(value: presentation.nanoseconds, timescale: 1_000_000_000),
      decodeTimeStamp: .invalid)
  }
}
