import LinkProtocol
import MediaEngine
import TestSupport
import Testing
import Units

@testable import GlassesAgent

/// The capture of one stream's sound, by hand.
@Suite("The capture of sound")
struct AudioPipelineTests {
  private func expected(_ rig: AudioRig, from position: Int = 0, _ frames: Int) -> [Float] {
    var samples: [Float] = []
    PatternAudio(format: rig.format).read(from: position, frames: frames, into: &samples)
    return samples
  }

  @Test(
    "units of 20 ms, stamped at their first sample, begin with the feed and hold its sound to the bit",
    arguments: [(16_000, 1), (44_100, 2), (48_000, 2)])
  func units(rate: Int, channels: Int) {
    let rig = AudioRig(rate: rate, channels: channels)
    rig.clock.advance(by: .milliseconds(123))
    #expect(rig.units.isEmpty)
    rig.begin()
    let begin = rig.clock.now
    rig.clock.advance(by: .milliseconds(2019))
    #expect(rig.units.count == 100)
    for (number, unit) in rig.units.enumerated() {
      #expect(unit.captured.nanoseconds == (begin + .milliseconds(20 * Int64(number))).nanoseconds)
      #expect(unit.audio.frames == rate / 50)
      #expect(unit.audio.codec == .pcmFloat32 && unit.audio.format == rig.format)
      #expect(unit.source == .feed && !unit.isMuted && !unit.isDiscontinuity)
    }
    #expect(rig.samples == expected(rig, 2 * rate))
    rig.pipeline.stop()
  }

  @Test("a stop sends what was captured up to it, to the sample, and nothing after (AUD-5)")
  func tail() {
    let rig = AudioRig(rate: 48_000)
    rig.begin()
    rig.clock.advance(by: .microseconds(105_500))
    #expect(rig.units.count == 5)
    rig.pipeline.stop()
    rig.pipeline.stop()
    #expect(rig.units.count == 6)
    #expect(rig.units.last?.audio.frames == 264)
    #expect(rig.samples == expected(rig, 5064))
    rig.clock.advance(by: .seconds(1))
    #expect(rig.units.count == 6)
    let idle = AudioRig()
    idle.pipeline.stop()
    idle.begin()
    idle.clock.advance(by: .seconds(1))
    #expect(idle.units.isEmpty)
  }

  @Test("what is late is made up for without loss, up to a second")
  func late() {
    let rig = AudioRig()
    rig.begin(late: .milliseconds(900))
    rig.clock.advance(by: .milliseconds(100))
    #expect(rig.units.count == 50)
    #expect(rig.samples == expected(rig, 16_000))
    #expect(rig.units.first?.captured.nanoseconds == (rig.start - .milliseconds(900)).nanoseconds)
    #expect(!rig.units.contains { $0.isDiscontinuity })
    rig.pipeline.stop()
  }

  @Test("what is later than a second is left out, the next unit says so, and its sound is that of its time")
  func tooLate() {
    let rig = AudioRig()
    rig.begin(late: .milliseconds(2510))
    rig.clock.advance(by: .milliseconds(100))
    #expect(rig.units.map(\.isDiscontinuity) == [true, false, false, false, false])
    #expect(rig.units.first?.captured.nanoseconds == (rig.start - .milliseconds(10)).nanoseconds)
    #expect(rig.samples == expected(rig, from: 40_000, 1600))
    rig.pipeline.stop()
  }

  @Test("a run after a gap says so once")
  func afterGap() {
    let rig = AudioRig(isAfterGap: true)
    rig.begin()
    rig.clock.advance(by: .milliseconds(60))
    #expect(rig.units.map(\.isDiscontinuity) == [true, false, false])
    rig.pipeline.stop()
  }

  @Test("the sound follows the feed where that jumps, begins anew, or is replaced, to the sample")
  func follows() {
    let rig = AudioRig(rate: 48_000)
    let opening = rig.feedClock.begin(.pattern, at: rig.clock.now)
    rig.clock.advance(by: .milliseconds(130))
    rig.feedClock.move(opening, to: .milliseconds(500), at: rig.clock.now, cycle: .milliseconds(600))
    rig.clock.advance(by: .milliseconds(170))
    rig.feedClock.end(at: rig.clock.now)
    rig.clock.advance(by: .milliseconds(30))
    _ = rig.feedClock.begin(.pattern, at: rig.clock.now)
    rig.clock.advance(by: .milliseconds(70))
    let wanted =
      expected(rig, 6240) + expected(rig, from: 24_000, 4800) + expected(rig, 3360)
      + [Float](repeating: 0, count: 1440) + expected(rig, 3360)
    #expect(rig.samples == wanted)
    #expect(Set(rig.units.map(\.source)) == [.feed])
    rig.pipeline.stop()
  }

  @Test("feeds that follow each other within one block are all followed")
  func manyFeeds() throws {
    let rig = AudioRig()
    for kind in [MediaFactory.Kind.h264, .hevc, .bFrames, .sixtyFrames] {
      rig.begin(.file(path: try MediaFactory.path(kind)))
      rig.clock.advance(by: .milliseconds(3))
    }
    rig.begin()
    rig.clock.advance(by: .milliseconds(28))
    #expect(rig.samples == [Float](repeating: 0, count: 192) + expected(rig, 448))
    rig.pipeline.stop()
  }

  @Test(
    "with a clock that is out of step, samples come so much faster and hold the sound of their time (SYNC-2)",
    arguments: [300.0, -300])
  func skew(partsPerMillion: Double) throws {
    let rig = AudioRig(rate: 48_000, deviceClock: DeviceClock(offset: .seconds(3), partsPerMillion: 0))
    rig.microphone.clockSkew = partsPerMillion
    rig.begin()
    rig.clock.advance(by: .seconds(20))
    rig.pipeline.stop()
    #expect(abs(Double(rig.samples.count) - 960_000 * (1 + partsPerMillion / 1e6)) < 2)
    var detector = BeepDetector(level: 0.25, sampleRate: 48_000)
    for unit in rig.units {
      #expect(unit.audio.frames <= 960)
      detector.take(unit.samples, at: Double(unit.captured.nanoseconds) / 1e9 - 4)
    }
    #expect(detector.onsets.count == 20)
    for (second, onset) in detector.onsets.enumerated() { #expect(abs(onset - Double(second)) < 0.001) }
  }

  @Test("glasses whose clock runs fast stamp by it, and their samples come by it")
  func deviceClock() {
    let rig = AudioRig(deviceClock: DeviceClock(offset: .seconds(100), partsPerMillion: 200))
    rig.begin()
    rig.clock.advance(by: .seconds(10))
    rig.pipeline.stop()
    let stamps = rig.units.map(\.captured)
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { abs(($1 - $0).nanoseconds - 20_000_000) <= 2 })
    #expect(abs(rig.samples.count - 160_032) <= 1)
  }

  @Test("a microphone that is muted gives silence from that sample on; time runs on, and it is told with the block")
  func muted() {
    let rig = AudioRig()
    rig.begin()
    rig.clock.advance(by: .milliseconds(50))
    rig.microphone.setMuted(true)
    rig.clock.advance(by: .milliseconds(100))
    rig.microphone.setMuted(false)
    rig.clock.advance(by: .milliseconds(50))
    let all = expected(rig, 3200)
    #expect(rig.samples == Array(all[..<800]) + [Float](repeating: 0, count: 1600) + Array(all[2400...]))
    #expect(rig.units.map(\.isMuted) == (0..<10).map { (2...6).contains($0) })
    rig.pipeline.stop()
  }

  @Test("injected samples are heard bit for bit at the nearest sample to their time; the last call wins")
  func injection() throws {
    let rig = AudioRig(rate: 44_100, channels: 2)
    var generator = SeededGenerator(seed: 11)
    func noise(_ frames: Int) -> PCMBlock {
      PCMBlock(
        format: rig.format, samples: (0..<frames * 2).map { _ in Float.random(in: -1...1, using: &generator) })
    }
    rig.begin()
    let (first, second, third) = (noise(3000), noise(500), noise(2000))
    let begin = rig.clock.now
    try rig.microphone.inject(first, at: begin + .milliseconds(33))
    try rig.microphone.inject(second, at: begin + .milliseconds(50) + .nanoseconds(9000))
    rig.clock.advance(by: .milliseconds(110))
    try rig.microphone.inject(third, at: rig.clock.now)
    rig.clock.advance(by: .milliseconds(90))
    var wanted = expected(rig, 8820)
    // 33 ms are 1455.3 samples, 50.009 ms 2205.4, 110 ms 4851.
    wanted.replaceSubrange(1455 * 2..<4455 * 2, with: first.samples)
    wanted.replaceSubrange(2205 * 2..<2705 * 2, with: second.samples)
    wanted.replaceSubrange(4851 * 2..<6851 * 2, with: third.samples)
    #expect(rig.samples == wanted)
    #expect(rig.units.map(\.source) == (0..<10).map { (1...7).contains($0) ? .injected : .feed })
    #expect(rig.microphone.pendingInjections == .zero)
    rig.pipeline.stop()
  }

  @Test("what began before the stream is heard from its beginning on, what comes after the stop by nobody")
  func injectionAround() throws {
    let rig = AudioRig()
    rig.microphone.setSource(.silence)
    let block = PCMBlock(format: rig.format, samples: (0..<1600).map { Float($0) })
    try rig.microphone.inject(block, at: rig.clock.now)
    rig.clock.advance(by: .milliseconds(60))
    rig.begin()
    rig.clock.advance(by: .milliseconds(50))
    rig.pipeline.stop()
    #expect(rig.samples == (960..<1600).map { Float($0) } + [Float](repeating: 0, count: 160))
  }

  @Test("a source that is set is heard with the block that is being captured, from its beginning, and is told")
  func sources() {
    let rig = AudioRig(rate: 48_000)
    rig.microphone.setSource(.silence)
    rig.begin()
    rig.clock.advance(by: .milliseconds(30))
    rig.microphone.setSource(.tone(frequency: 1000, level: -6))
    rig.clock.advance(by: .milliseconds(50))
    rig.microphone.setSource(.feed)
    rig.clock.advance(by: .milliseconds(20))
    #expect(rig.units.map(\.source) == [.silence, .tone, .tone, .tone, .feed])
    var tone: [Float] = []
    ToneAudio(frequency: 1000, level: -6, format: rig.format).read(from: 0, frames: 2880, into: &tone)
    #expect(rig.samples == [Float](repeating: 0, count: 960) + tone + expected(rig, from: 3840, 960))
    rig.pipeline.stop()
  }

  @Test("a file that can't be played ends the capture, once, in words about the file")
  func failure() throws {
    let rig = AudioRig()
    rig.begin()
    rig.clock.advance(by: .milliseconds(50))
    rig.microphone.setSource(.file(path: "/nowhere/sound.wav"))
    rig.clock.advance(by: .seconds(1))
    #expect(rig.failures.count == 1)
    #expect(try #require(rig.failures.first).contains("/nowhere/sound.wav"))
    #expect(rig.units.count == 2)
    rig.pipeline.stop()
    #expect(rig.units.count == 2)
  }

  @Test("half an hour of sound costs seconds, and ends where it must")
  func halfAnHour() {
    let rig = AudioRig()
    rig.begin()
    rig.clock.advance(by: .seconds(1800))
    rig.pipeline.stop()
    #expect(rig.units.count == 90_000)
    #expect(rig.units.last.map { $0.captured.nanoseconds } == (rig.start + .milliseconds(1_799_980)).nanoseconds)
    #expect(rig.units.last?.samples == expected(rig, from: 15_680, 320))
  }
}
