import PortableMedia
import Testing

@testable import Glasswing

@Suite("The HEVC decoder for sample buffers")
struct HEVCDecoderTests {
  private let clip: EncodedClip

  init() throws { clip = try EncodedClip.small.get() }

  @Test("Every sample gives its picture at once, in 420v at the stream's size")
  func everySample() throws {
    let decoder = try HEVCDecoder()
    for sample in try clip.samples() {
      let picture = try #require(try decoder.decode(sample))
      #expect(CVPixelBufferGetPixelFormatType(picture) == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
      #expect(CVPixelBufferGetWidth(picture) == clip.size.width)
      #expect(CVPixelBufferGetHeight(picture) == clip.size.height)
    }
  }

  @Test("As a sample buffer, the picture keeps the sample's time")
  func sampleBuffer() throws {
    let decoder = try HEVCDecoder()
    let decoded = try #require(try decoder.decodeToSampleBuffer(try clip.sample(0, at: 12.5)))
    #expect(CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(decoded)) == 12.5)
    #expect(CMSampleBufferGetImageBuffer(decoded) != nil)
  }

  @Test("LOSS-1: after a missing sample nothing that depends on it comes out, until the next sync sample")
  func loss() throws {
    let decoder = try HEVCDecoder()
    let samples = try clip.samples()
    for sample in samples[0..<5] { _ = try decoder.decode(sample) }
    var refused = 0
    for sample in samples[6..<15] {
      do throws(HEVCDecoderError) {
        _ = try decoder.decode(sample)
        Issue.record("a picture came out that depends on one that is missing")
      } catch {
        refused += 1
        #expect(error.severity == .recoverable)
        #expect(error.advice == .wait)
      }
    }
    #expect(refused == 9)
    #expect(try decoder.decode(samples[15]) != nil)
  }

  @Test("At the beginning only a sync sample can be decoded")
  func needsSync() throws {
    let decoder = try HEVCDecoder()
    #expect(throws: HEVCDecoderError.needsSync) { _ = try decoder.decode(try clip.sample(1, at: 0)) }
    #expect(try decoder.decode(try clip.sample(0, at: 0)) != nil)
    decoder.reset()
    #expect(throws: HEVCDecoderError.needsSync) { _ = try decoder.decode(try clip.sample(1, at: 0)) }
  }

  @Test("A decoded sample is refused by name")
  func decodedSample() throws {
    let decoder = try HEVCDecoder()
    let sample = try CMSampleBuffer.decodedPicture()
    #expect(throws: HEVCDecoderError.notCompressedVideo) { _ = try decoder.decode(sample) }
  }
}
