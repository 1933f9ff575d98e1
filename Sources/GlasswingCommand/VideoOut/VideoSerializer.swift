import Glasswing
import MWDATCamera
import MediaEngine
import Units

/// Turns a stream's frames into the bytes of a format, one after the other, into a target.
///
/// Used by one thread at a time. After an error it must not be used again.
struct VideoSerializer {
  /// Why a frame can't be written. What the target itself refuses is in its `failureCode`.
  struct Failure: Error {
    let words: String
  }

  private let format: VideoOutFormat
  private let frameRate: Int
  private let target: VideoOutTarget
  /// Set by the first decoded picture.
  private var pictures: PictureBytes?
  /// Set by the first sync unit of `nut`.
  private var container: NUTWriter?
  private var hasBegun = false
  private var buffer: [UInt8] = []

  /// - Parameter frameRate: pictures a second, for what names a rate in front.
  init(_ format: VideoOutFormat, frameRate: Int, target: VideoOutTarget) {
    self.format = format
    self.frameRate = frameRate
    self.target = target
  }

  /// - Returns: whether the frame was written: not before the first sync unit.
  mutating func write(_ sample: CMSampleBuffer) throws(Failure) -> Bool {
    do throws(MediaError) {
      switch format {
      case .i420, .y4m: return try writePicture(sample)
      case .hevc, .nut: return try writeUnit(sample)
      }
    } catch {
      throw Failure(words: error.description)
    }
  }

  /// What a format has behind its last frame.
  mutating func finish() {
    // A target that no longer takes anything has said so before.
    try? container?.finish()
    container = nil
  }

  private mutating func writePicture(_ sample: CMSampleBuffer) throws(MediaError) -> Bool {
    guard let picture = CMSampleBufferGetImageBuffer(sample) else { return false }
    let size = PixelSize(width: CVPixelBufferGetWidth(picture), height: CVPixelBufferGetHeight(picture))
    let pictures = self.pictures ?? PictureBytes(size: size)
    self.pictures = pictures
    buffer.removeAll(keepingCapacity: true)
    if format == .y4m {
      if !hasBegun { buffer += pictures.y4mHeader(rate: frameRate).utf8 }
      buffer += PictureBytes.y4mFrameHeader.utf8
    }
    try pictures.append(picture, to: &buffer)
    hasBegun = true
    return target.write(buffer) == 0
  }

  private mutating func writeUnit(_ sample: CMSampleBuffer) throws(MediaError) -> Bool {
    guard let data = CMSampleBufferGetDataBuffer(sample), let format = CMSampleBufferGetFormatDescription(sample) else {
      return false
    }
    let sets = format.parameterSetUnits
    let result = data.withContiguousStorage { bytes in
      Result { () throws(MediaError) in try AnnexB.bytes(of: bytes, parameterSets: sets) }
    }
    let unit = try result.get()
    guard hasBegun || unit.isSync else { return false }
    guard self.format == .nut else {
      hasBegun = true
      return target.write(unit.bytes) == 0
    }
    if container == nil { container = try makeContainer(sets) }
    hasBegun = true
    try container?.append(
      unit.bytes, isSync: unit.isSync, presentation: CMSampleBufferGetPresentationTimeStamp(sample).hostInstant)
    return target.failureCode == nil
  }

  private func makeContainer(_ sets: [[UInt8]]) throws(MediaError) -> NUTWriter {
    try NUTWriter(
      target: target, configuration: try HEVCConfiguration(parameterSets: sets),
      frameInterval: .seconds(1) / max(1, frameRate))
  }
}
