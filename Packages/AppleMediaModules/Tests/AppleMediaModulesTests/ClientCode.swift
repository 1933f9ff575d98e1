import AVFAudio
import CoreMedia
import CoreVideo
import Foundation

// What an app's file written for a phone looks like; that it compiles, and says what it should, is the test.

struct PictureReport: Equatable {
  var width: Int32
  var height: Int32
  var seconds: Double
  var planes: Int
  var firstLuma: UInt8?
}

func report(on sampleBuffer: CMSampleBuffer) -> PictureReport? {
  guard sampleBuffer.isValid, let description = CMSampleBufferGetFormatDescription(sampleBuffer),
    let pixelBuffer = CMSampleBufferGetImageBuffer(sampleBuffer)
  else { return nil }
  let dimensions = CMVideoFormatDescriptionGetDimensions(description)
  CVPixelBufferLockBaseAddress(pixelBuffer, .readOnly)
  defer { CVPixelBufferUnlockBaseAddress(pixelBuffer, .readOnly) }
  let luma = CVPixelBufferGetBaseAddressOfPlane(pixelBuffer, 0)?.assumingMemoryBound(to: UInt8.self)
  return PictureReport(
    width: dimensions.width, height: dimensions.height,
    seconds: CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(sampleBuffer)),
    planes: CVPixelBufferGetPlaneCount(pixelBuffer), firstLuma: luma?.pointee)
}

func isKeyframe(_ sampleBuffer: CMSampleBuffer) -> Bool {
  let attachments =
    CMSampleBufferGetSampleAttachmentsArray(sampleBuffer, createIfNecessary: false) as? [[CFString: Any]]
  let notSync = attachments?.first?[kCMSampleAttachmentKey_NotSync] as? Bool ?? false
  return !notSync
}

struct AudioReport: Equatable {
  var rate: Double
  var channels: AVAudioChannelCount
  var frames: AVAudioFrameCount
  var peak: Float
}

func report(on buffer: AVAudioPCMBuffer) -> AudioReport? {
  guard let channels = buffer.floatChannelData else { return nil }
  var peak: Float = 0
  for channel in 0..<Int(buffer.format.channelCount) {
    for frame in 0..<Int(buffer.frameLength) { peak = max(peak, abs(channels[channel][frame * buffer.stride])) }
  }
  return AudioReport(
    rate: buffer.format.sampleRate, channels: buffer.format.channelCount, frames: buffer.frameLength, peak: peak)
}

/// Speech recognizers want 16-bit samples at their own rate.
func forRecognizer(_ buffer: AVAudioPCMBuffer) -> AVAudioPCMBuffer? {
  guard
    let format = AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 16_000, channels: 1, interleaved: true),
    let converter = AVAudioConverter(from: buffer.format, to: format),
    let output = AVAudioPCMBuffer(
      pcmFormat: format,
      frameCapacity: AVAudioFrameCount(Double(buffer.frameLength) * 16_000 / buffer.format.sampleRate) + 1)
  else { return nil }
  var isGiven = false
  var error: NSError?
  let status = converter.convert(to: output, error: &error) { _, status in
    guard !isGiven else {
      status.pointee = .endOfStream
      return nil
    }
    isGiven = true
    status.pointee = .haveData
    return buffer
  }
  return status == .error ? nil : output
}
