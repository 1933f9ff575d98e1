import AVFAudio
import CoreMedia
import CoreVideo

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
