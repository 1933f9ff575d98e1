import MWDATCamera
import Testing

@testable import Glasswing

@Suite("Silence in the place of missing sound")
struct GapFillerTests {
  private func frame(_ nanoseconds: Int64, missing: Int, rate: Int = 44_100) throws -> AudioFrame {
    let buffer = try #require(AVAudioPCMBuffer(sampleRate: rate, channels: 2, interleaved: [0.5, 0.25]))
    return AudioFrame(
      pcmBuffer: buffer, presentationTimeStamp: CMTime(value: nanoseconds, timescale: 1_000_000_000),
      missingBefore: missing, followsGap: missing > 0)
  }

  @Test("A frame that nothing is missing before is handed on as it is")
  func nothing() throws {
    var filler = GapFiller()
    let frame = try frame(1, missing: 0)
    let filled = filler.fill(before: frame)
    #expect(filled.count == 1 && filled[0].pcmBuffer === frame.pcmBuffer)
  }

  @Test("Silence of 20 ms each and a rest ends where the frame begins", arguments: [1, 881, 882, 883, 44_100])
  func filled(missing: Int) throws {
    var filler = GapFiller()
    let frames = filler.fill(before: try frame(20_000_000_000, missing: missing))
    #expect(frames.dropLast().reduce(0) { $0 + Int($1.pcmBuffer.frameLength) } == missing)
    #expect(frames.dropLast().allSatisfy { $0.isFilled && $0.pcmBuffer.frameLength <= 882 && !$0.isDiscontinuity })
    #expect(frames.last.map { !$0.isFilled && !$0.isDiscontinuity && $0.missingSamples == 0 } == true)
    for (before, after) in zip(frames, frames.dropFirst()) {
      let step = CMTimeGetSeconds(CMTimeSubtract(after.presentationTimeStamp, before.presentationTimeStamp))
      #expect(abs(step - Double(before.pcmBuffer.frameLength) / 44_100) < 0.000_001)
    }
    for frame in frames.dropLast() {
      let samples = try #require(frame.pcmBuffer.floatChannelData)
      #expect((0..<Int(frame.pcmBuffer.frameLength)).allSatisfy { samples[0][$0] == 0 && samples[1][$0] == 0 })
    }
  }

  @Test("Ten seconds are filled, and what is longer stays a gap that is marked")
  func longest() throws {
    var filler = GapFiller()
    let filled = filler.fill(before: try frame(20_000_000_000, missing: 441_000))
    #expect(filled.count == 501)
    let marked = filler.fill(before: try frame(20_000_000_000, missing: 441_001))
    #expect(marked.count == 1 && marked[0].isDiscontinuity && marked[0].missingSamples == 441_001)
    let endless = filler.fill(before: try frame(0, missing: .max))
    #expect(endless.count == 1)
  }
}
