import PortableMedia
import Testing

@Suite("Audio times")
struct AudioTimeTests {
  @Test("A time knows which of its halves it has")
  func halves() {
    let host = AVAudioTime(hostTime: 5)
    #expect(host.isHostTimeValid && !host.isSampleTimeValid && host.hostTime == 5)
    let sample = AVAudioTime(sampleTime: 7, atRate: 16_000)
    #expect(!sample.isHostTimeValid && sample.isSampleTimeValid && sample.sampleTime == 7)
    #expect(sample.sampleRate == 16_000)
  }

  @Test("Host times are nanoseconds")
  func seconds() {
    #expect(AVAudioTime.hostTime(forSeconds: 1.5) == 1_500_000_000)
    #expect(AVAudioTime.seconds(forHostTime: 2_500_000_000) == 2.5)
    #expect(AVAudioTime.hostTime(forSeconds: -1) == 0)
    #expect(AVAudioTime.hostTime(forSeconds: .nan) == 0)
    #expect(AVAudioTime.hostTime(forSeconds: .infinity) == .max)
  }

  @Test("An anchor gives a position its host time, and a host time its position")
  func extrapolation() throws {
    let anchor = AVAudioTime(hostTime: 10_000_000_000, sampleTime: 48_000, atRate: 48_000)
    let later = try #require(AVAudioTime(sampleTime: 72_000, atRate: 48_000).extrapolateTime(fromAnchor: anchor))
    #expect(later.hostTime == 10_500_000_000)
    let earlier = try #require(AVAudioTime(sampleTime: 0, atRate: 48_000).extrapolateTime(fromAnchor: anchor))
    #expect(earlier.hostTime == 9_000_000_000)
    let placed = try #require(AVAudioTime(hostTime: 9_750_000_000).extrapolateTime(fromAnchor: anchor))
    #expect(placed.sampleTime == 36_000 && placed.sampleRate == 48_000)
  }

  @Test("What can't be extrapolated is nil")
  func impossible() {
    let anchor = AVAudioTime(hostTime: 0, sampleTime: 0, atRate: 48_000)
    #expect(AVAudioTime(sampleTime: -1, atRate: 48_000).extrapolateTime(fromAnchor: anchor) == nil)
    #expect(AVAudioTime(sampleTime: .max, atRate: .leastNonzeroMagnitude).extrapolateTime(fromAnchor: anchor) == nil)
    #expect(AVAudioTime(sampleTime: 1, atRate: 0).extrapolateTime(fromAnchor: anchor) == nil)
    #expect(AVAudioTime(hostTime: 1).extrapolateTime(fromAnchor: AVAudioTime(hostTime: 1)) == nil)
    let end = AVAudioTime(hostTime: 0, sampleTime: .max, atRate: 1e9)
    #expect(AVAudioTime(hostTime: .max / 4).extrapolateTime(fromAnchor: end) == nil)
  }
}
