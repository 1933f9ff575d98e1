import MWDATCamera
import Units

/// A compressed sample on its way to the file. Holds the sample's own memory; nothing is copied before the muxer does.
struct RecordingUnit: Sendable {
  let data: CMBlockBuffer
  let format: CMFormatDescription
  /// On the host's clock as a rule; on any base when an app appends its own samples. nil when the sample has none.
  let presentation: Instant?
  /// nil when the sample has none.
  let duration: Duration?
  let isSync: Bool

  var size: Int { CMBlockBufferGetDataLength(data) }

  /// - Throws: `needsCompressedVideo`, `unreadableSample`.
  init(_ sample: CMSampleBuffer) throws(RecorderError) {
    guard let format = CMSampleBufferGetFormatDescription(sample) else {
      throw .unreadableSample(reason: "it has no format description")
    }
    guard let data = CMSampleBufferGetDataBuffer(sample) else {
      throw .needsCompressedVideo(found: "decoded video; ask the stream for .hvc1")
    }
    let type = CMFormatDescriptionGetMediaSubType(format)
    guard type == kCMVideoCodecType_HEVC else {
      throw .needsCompressedVideo(found: "\"\(Self.text(type))\"")
    }
    self.data = data
    self.format = format
    presentation = Self.instant(CMSampleBufferGetPresentationTimeStamp(sample))
    duration = Self.instant(CMSampleBufferGetDuration(sample)).map { .nanoseconds($0.nanoseconds) }
    isSync = Self.isSync(sample)
  }

  /// VPS, SPS, PPS.
  func parameterSets() throws(RecorderError) -> [[UInt8]] {
    let sets = format.parameterSetUnits
    guard !sets.isEmpty else { throw .unreadableSample(reason: "its format description has no parameter sets") }
    return sets
  }

  private static func isSync(_ sample: CMSampleBuffer) -> Bool {
    let attachments = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[String: Any]]
    let notSync = attachments?.first?[kCMSampleAttachmentKey_NotSync as String] as? Bool
    return !(notSync ?? false)
  }

  static func instant(_ time: CMTime) -> Instant? {
    guard time.isNumeric else { return nil }
    let nanoseconds = CMTimeConvertScale(time, timescale: 1_000_000_000, method: .default)
    return nanoseconds.isNumeric ? Instant(nanoseconds: nanoseconds.value) : nil
  }

  private static func text(_ code: FourCharCode) -> String {
    let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: code >> $0) }
    return String(decoding: bytes, as: UTF8.self)
  }
}
