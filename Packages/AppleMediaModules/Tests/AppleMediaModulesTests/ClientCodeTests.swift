import AVFAudio
import CoreMedia
import CoreVideo
import Testing

@Suite("Code that imports Apple's modules by name")
struct ClientCodeTests {
  private func picture() throws -> CMSampleBuffer {
    var pixelBuffer: CVPixelBuffer?
    let attributes: [CFString: Any] = [kCVPixelBufferIOSurfacePropertiesKey: [CFString: Any]()]
    CVPixelBufferCreate(
      kCFAllocatorDefault, 64, 48, kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, attributes as CFDictionary,
      &pixelBuffer)
    let buffer = try #require(pixelBuffer)
    CVPixelBufferLockBaseAddress(buffer, [])
    CVPixelBufferGetBaseAddressOfPlane(buffer, 0)?.assumingMemoryBound(to: UInt8.self).pointee = 99
    CVPixelBufferUnlockBaseAddress(buffer, [])
    let time = CMTime(value: 3, timescale: 2)
    return try CMSampleBuffer(
      imageBuffer: buffer, formatDescription: CMFormatDescription(imageBuffer: buffer),
      sampleTiming: CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: time, decodeTimeStamp: .invalid))
  }

  @Test("A picture's size, time and pixels are read as on a phone")
  func readsPicture() throws {
    let expected = PictureReport(width: 64, height: 48, seconds: 1.5, planes: 2, firstLuma: 99)
    #expect(report(on: try picture()) == expected)
  }

  @Test("The not-sync attachment is read as on a phone")
  func readsAttachment() throws {
    let buffer = try picture()
    #expect(isKeyframe(buffer))
    buffer.sampleAttachments[0][.notSync] = true
    #expect(!isKeyframe(buffer))
  }

  @Test("Sound's format and samples are read, and converted, as on a phone")
  func readsAudio() throws {
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2))
    let buffer = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 4800))
    buffer.frameLength = 4800
    for frame in 0..<4800 { buffer.floatChannelData?[0][frame] = 0.5 }
    #expect(report(on: buffer) == AudioReport(rate: 48_000, channels: 2, frames: 4800, peak: 0.5))
    let short = try #require(forRecognizer(buffer))
    #expect(short.frameLength == 1600)
    #expect(abs(Int(try #require(short.int16ChannelData)[0][800]) - 16_384) < 50)
  }
}
