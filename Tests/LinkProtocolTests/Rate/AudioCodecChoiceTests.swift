import TestSupport
import Testing
import Units

@testable import LinkProtocol

@Suite("Choice of the sound's codec")
struct AudioCodecChoiceTests {
  /// 512 kbit/s and headers.
  private static let voice = AudioParameters(codec: .pcmFloat32, sampleRate: 16_000, channels: 1)

  private var choice = AudioCodecChoice(Self.voice)
  private var now = Instant(nanoseconds: 0)
  private var changes: [AudioCodecID] = []

  /// 20 looks a second.
  private mutating func hold(_ kilobits: Int64?, for duration: Duration) {
    let end = now + duration
    while now < end {
      let before = choice.codec
      let new = choice.look(estimate: kilobits.map { .kilobitsPerSecond($0) }, at: now)
      if new != before { changes.append(new) }
      now = now + .milliseconds(50)
    }
  }

  @Test("PCM while nothing is known to limit the link, or PCM is a small part of it")
  mutating func unlimited() {
    hold(nil, for: .seconds(3600))
    hold(2200, for: .seconds(60))
    #expect(choice.codec == .pcmFloat32 && changes.isEmpty)
  }

  @Test("Opus when PCM is more than a quarter for half a second, at once when it is more than a half")
  mutating func down() {
    hold(1800, for: .milliseconds(450))
    hold(3000, for: .milliseconds(50))
    hold(1800, for: .milliseconds(450))
    #expect(choice.codec == .pcmFloat32)
    hold(1800, for: .milliseconds(150))
    #expect(choice.codec == .opus)
    var other = AudioCodecChoice(Self.voice)
    #expect(other.look(estimate: .kilobitsPerSecond(900), at: now) == .opus)
  }

  @Test("back after ten calm seconds; between a fifth and a quarter neither way")
  mutating func back() {
    hold(500, for: .seconds(1))
    hold(2300, for: .seconds(60))
    #expect(choice.codec == .opus)
    hold(3000, for: .seconds(9))
    hold(1000, for: .milliseconds(50))
    hold(3000, for: .milliseconds(9900))
    #expect(choice.codec == .opus)
    hold(3000, for: .milliseconds(200))
    #expect(choice.codec == .pcmFloat32)
    hold(2300, for: .seconds(60))
    #expect(changes == [.opus, .pcmFloat32])
  }

  @Test("a link that is limited whenever PCM is tried is tried more and more seldom")
  mutating func seldom() {
    for _ in 0..<3600 {
      let isPCM = choice.codec == .pcmFloat32
      hold(isPCM ? 900 : nil, for: .seconds(1))
    }
    #expect(changes.count <= 20 && choice.codec == .opus, "\(changes.count)")
  }

  @Test("a receiver that understands only one codec gets that one")
  mutating func noChoice() {
    var pcm = AudioCodecChoice(Self.voice, peer: [.audioPCM])
    var opus = AudioCodecChoice(Self.voice, peer: [.audioOpus])
    var neither = AudioCodecChoice(Self.voice, peer: [])
    for estimate in [nil, Bitrate.kilobitsPerSecond(100)] {
      #expect(pcm.look(estimate: estimate, at: now) == .pcmFloat32)
      #expect(opus.look(estimate: estimate, at: now) == .opus)
      #expect(neither.look(estimate: estimate, at: now) == .pcmFloat32)
    }
  }
}

/// What sound takes of a link is taken off what pictures may use.
@Suite("Pictures beside sound")
struct PicturesBesideAudioTests {
  /// 48 kHz stereo PCM is 3.1 Mbit/s; of mono at 16 kHz, 0.5.
  private func bench(_ sound: RateBench.Sound?, limit: Int64?) -> RateBench {
    var bench = RateBench()
    bench.sound = sound
    bench.limit(limit.map { .kilobitsPerSecond($0) })
    return bench
  }

  @Test("on a link that carries both, sound changes nothing for pictures")
  func wide() {
    var bench = bench(.init(bytes: 7680, frames: 960, rate: 48_000), limit: nil)
    bench.run(for: .seconds(30))
    #expect(bench.looks.allSatisfy { $0.target == .kilobitsPerSecond(1500) })
    #expect(bench.steps.isEmpty && bench.rate.limit == nil)
  }

  @Test("pictures fill what sound leaves, and neither is late (AUD-3)", arguments: [1000, 1500] as [Int64])
  func share(rate: Int64) {
    var bench = bench(.init(bytes: 1280, frames: 320, rate: 16_000), limit: rate)
    bench.run(for: .seconds(10))
    let before = bench.deliveredAudio
    bench.run(for: .seconds(50))
    #expect(bench.deliveredAudio - before >= 2450)
    #expect(bench.pair.glasses.statistics.droppedAudioUnits == 0)
    #expect(bench.audioDelay(0.95) < .milliseconds(120), "\(bench.audioDelay(0.95))")
    #expect(bench.delay(0.5) < .milliseconds(150), "\(bench.delay(0.5))")
    #expect(bench.pair.glasses.statistics.videoOverflows <= 6)
    let left = Double(rate) - 530
    #expect(bench.meanEstimate(since: 10) > left * 0.75 && bench.meanEstimate(since: 10) < left * 1.15)
  }

  @Test("sound that begins on a link known to be full makes pictures give way at once (AUD-3)")
  func begins() {
    var bench = bench(nil, limit: 1300)
    bench.run(for: .seconds(20))
    let overflows = bench.pair.glasses.statistics.videoOverflows
    let alone = bench.rate.target
    bench.sound = .init(bytes: 1280, frames: 320, rate: 16_000)
    bench.run(for: .milliseconds(200))
    #expect(bench.rate.target.kilobitsPerSecond < alone.kilobitsPerSecond - 400, "\(bench.rate.target)")
    bench.run(for: .seconds(10))
    #expect(bench.pair.glasses.statistics.videoOverflows <= overflows + 1)
    bench.sound = nil
    bench.run(for: .seconds(1))
    #expect(bench.rate.target >= .kilobitsPerSecond(900), "\(bench.rate.target)")
  }

  @Test("sound that is more than the link carries is found out, though no picture gets through")
  func starved() {
    var bench = bench(.init(bytes: 7680, frames: 960, rate: 48_000), limit: 2000)
    bench.run(for: .seconds(5))
    let limit = bench.rate.limit ?? .bitsPerSecond(.max)
    #expect(limit > .kilobitsPerSecond(1200) && limit < .kilobitsPerSecond(2200), "\(limit)")
  }

  @Test(
    "sound goes over to Opus before pictures are a second late, and then there is room for both (AUD-3)",
    arguments: [1000, 2000, 4000] as [Int64])
  func givesWay(limit: Int64) {
    var bench = bench(nil, limit: limit)
    bench.run(for: .seconds(5))
    bench.sound = .init(bytes: 7680, frames: 960, rate: 48_000)
    bench.choice = AudioCodecChoice(AudioParameters(codec: .pcmFloat32, sampleRate: 48_000, channels: 2))
    bench.run(for: .seconds(9))
    #expect(bench.choice?.codec == .opus)
    #expect(bench.delay(1) < .seconds(1), "\(bench.delay(1))")
    #expect(bench.audioDelay(1) < .milliseconds(700), "\(bench.audioDelay(1))")
    #expect(bench.rate.target.kilobitsPerSecond > Double(min(limit, 2000)) * 0.5, "\(bench.rate.target)")
    #expect(bench.audioDelay(0.5) < .milliseconds(100))
  }

  @Test(
    "on a link of which nothing is known, sound that it can't carry goes over to Opus before a picture is a second late (AUD-3)",
    arguments: [1000, 1300, 2000, 3000] as [Int64])
  func coldStart(limit: Int64) {
    var bench = bench(.init(bytes: 7680, frames: 960, rate: 48_000), limit: limit)
    bench.choice = AudioCodecChoice(AudioParameters(codec: .pcmFloat32, sampleRate: 48_000, channels: 2))
    bench.run(for: .milliseconds(400))
    if limit <= 2000 { #expect(bench.choice?.codec == .opus) }
    bench.run(for: .seconds(8))
    #expect(bench.choice?.codec == .opus)
    #expect(bench.delay(1) < .seconds(1), "\(bench.delay(1))")
    #expect(bench.audioDelay(1) < .milliseconds(500), "\(bench.audioDelay(1))")
    #expect(bench.audioDelay(0.5) < .milliseconds(100), "\(bench.audioDelay(0.5))")
  }

  @Test("a link that stands still for a moment, or is wide enough for both, keeps PCM and its rate")
  func hiccup() {
    for pause in [60, 110, 150, 190] as [Int64] {
      var bench = bench(.init(bytes: 7680, frames: 960, rate: 48_000), limit: 20_000)
      bench.choice = AudioCodecChoice(AudioParameters(codec: .pcmFloat32, sampleRate: 48_000, channels: 2))
      for pictures in 20..<28 as Range<Int64> {
        bench.run(for: .milliseconds(33 * pictures))
        // One write that takes so long.
        bench.limit(.bitsPerSecond(4112 * 8 * 1000 / pause))
        bench.run(for: .milliseconds(10))
        bench.limit(.kilobitsPerSecond(20_000))
      }
      #expect(bench.choice?.codec == .pcmFloat32, "after \(pause) ms")
      #expect(bench.rate.limit == nil)
    }
  }
}
