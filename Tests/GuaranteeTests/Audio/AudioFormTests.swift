import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import TestSupport
import Testing
import Units

/// In which form sound is delivered, and that resampling changes neither its length nor its pitch.
@Suite(.exclusive(.mockKit))
struct AudioFormTests {
  @Test(
    "AUD-1: each frame has the rate, the channels and the sample format that were asked for, and says so",
    arguments: AudioSampleRate.allCases, [1, 2] as [UInt32])
  func form(rate: AudioSampleRate, channels: UInt32) async throws {
    try await AudioScene.run(AudioScene.configuration(rate, channels: channels)) { scene in
      scene.clock.advance(by: .seconds(2))
      let frames = scene.heard.frames
      #expect(frames.count >= 100)
      for frame in frames {
        #expect(frame.format.sampleRate == Double(rate.rawValue))
        #expect(frame.format.channelCount == channels)
        #expect(frame.format.commonFormat == .pcmFormatFloat32 && !frame.format.isInterleaved)
      }
      #expect(scene.heard.faults() == [])
      let status = try #require(scene.stream.audioStatus)
      #expect(status.sampleRate == Int(rate.rawValue) && status.channels == Int(channels))
    }
  }

  private static let conversions: [(from: Int, channels: Int, to: AudioSampleRate, asked: UInt32)] = [
    (44_100, 2, .rate16000, 1), (8000, 1, .rate48000, 2), (16_000, 2, .rate44100, 1), (48_000, 1, .rate16000, 2),
    (48_000, 2, .rate44100, 2), (44_100, 1, .rate48000, 1), (16_000, 1, .rate16000, 1),
  ]

  @Test(
    "AUD-1: sound of any rate keeps its length, by the clock that everybody has, and its pitch to a thousandth in any other",
    arguments: conversions.indices)
  func conversion(index: Int) async throws {
    let (from, channels, to, asked) = Self.conversions[index]
    let tone = SineTone.samples(frequency: 1000, sampleRate: from, count: 4 * from)
    let file = try WAVFile.write(Array(repeating: tone, count: channels), sampleRate: from)
    try await AudioScene.run(
      AudioScene.configuration(to, channels: asked), keepsSamples: true,
      prepare: { $0.services.microphone.setAudioFeed(fileURL: file) }
    ) { scene in
      let samples = try hear(.seconds(3), scene)
      #expect(samples.count == Int(asked))
      for channel in samples {
        let pitch = try #require(ToneMeter.frequency(of: channel, sampleRate: Int(to.rawValue)))
        #expect(abs(pitch - 1000) <= 1, "\(pitch)")
        let level = ToneMeter.level(of: 1000, in: channel, sampleRate: Int(to.rawValue))
        #expect(abs(level - 0.5) < 0.01, "\(level)")
      }
    }
  }

  @Test(
    "AUD-1: the sound of a film, stereo at 44.1 kHz, keeps its length, its pitch and its sides",
    arguments: [(.rate16000, 1), (.rate48000, 2), (.rate44100, 2)] as [(AudioSampleRate, UInt32)])
  func film(to: AudioSampleRate, asked: UInt32) async throws {
    let film = try Self.film()
    let rate = Int(to.rawValue)
    try await AudioScene.run(
      AudioScene.configuration(to, channels: asked), keepsSamples: true,
      prepare: { $0.services.camera.setCameraFeed(fileURL: film) }
    ) { scene in
      let samples = try hear(.seconds(3), scene)
      #expect(scene.stream.audioStatus?.source == .cameraFeed)
      if asked == 1 {
        // Both sides at half their level.
        #expect(abs(ToneMeter.level(of: 1000, in: samples[0], sampleRate: rate) - 0.25) < 0.01)
        #expect(abs(ToneMeter.level(of: 440, in: samples[0], sampleRate: rate) - 0.25) < 0.01)
        let alone = Self.without(440, samples[0], rate)
        let pitch = try #require(ToneMeter.frequency(of: alone, sampleRate: rate))
        #expect(abs(pitch - 1000) <= 1, "\(pitch)")
      } else {
        for (side, (own, other)) in zip(samples, [(1000.0, 440.0), (440.0, 1000.0)]) {
          let pitch = try #require(ToneMeter.frequency(of: side, sampleRate: rate))
          #expect(abs(pitch - own) <= own / 1000, "\(pitch)")
          #expect(abs(ToneMeter.level(of: own, in: side, sampleRate: rate) - 0.5) < 0.02)
          #expect(ToneMeter.level(of: other, in: side, sampleRate: rate) < 0.005)
        }
      }
    }
  }

  @Test(
    "AUD-1: sound that comes as Opus, at 48 kHz whatever was asked for, keeps its length and its pitch to a thousandth",
    arguments: [(.rate44100, 2), (.rate16000, 1)] as [(AudioSampleRate, UInt32)])
  func fromOpus(to: AudioSampleRate, asked: UInt32) async throws {
    let rate = Int(to.rawValue)
    try await AudioScene.run(
      AudioScene.configuration(to, channels: asked), keepsSamples: true,
      prepare: { $0.services.microphone.setTone(frequency: 1000, level: -6) }
    ) { scene in
      let (clock, stream) = (scene.clock, scene.stream)
      scene.glasses.link.limit(.kilobitsPerSecond(300))
      clock.walk(.seconds(10), until: { stream.audioStatus?.codec == .opus })
      scene.glasses.link.limit(nil)
      clock.walk(.seconds(1))
      let (begin, frames, total) = (clock.now, scene.heard.frames.count, scene.heard.total)
      // Before a wrong pitch can be made right: the correction of the rate moves by a fifth of a thousandth a second.
      clock.walk(.seconds(2))
      let status = try #require(stream.audioStatus)
      #expect(status.codec == .opus && status.linkSampleRate == 48_000 && status.sampleRate == rate)
      let expected = Int((clock.now - begin).seconds * Double(rate))
      #expect(abs(scene.heard.total - total - expected) <= rate / 50, "\(scene.heard.total - total), not \(expected)")
      let heard = scene.heard.frames.dropFirst(frames)
      #expect(heard.allSatisfy { $0.missing == 0 && !$0.isDiscontinuity } && scene.heard.faults() == [])
      for channel in 0..<Int(asked) {
        let samples = heard.flatMap { $0.samples[channel] }
        let pitch = try #require(ToneMeter.frequency(of: samples, sampleRate: rate))
        #expect(abs(pitch - 1000) <= 1, "\(pitch)")
        let level = ToneMeter.level(of: 1000, in: samples, sampleRate: rate)
        #expect(abs(level - 0.5) < 0.02, "\(level)")
      }
    }
  }

  /// Lets so much time pass, stops, and returns each channel's samples. How many there must be is known from the clock's
  /// hands alone: sound begins with the stream and ends with the stop, both to a frame of 20 ms.
  private func hear(_ time: Duration, _ scene: AudioScene) throws -> [[Float]] {
    let begin = scene.clock.now
    let heardAtBegin = scene.heard.total
    scene.clock.advance(by: time)
    let end = scene.clock.now
    scene.camera.stop()
    scene.clock.advance(by: .milliseconds(200))
    let rate = scene.heard.frames.first?.format.sampleRate ?? 0
    let frame = Int(rate) / 50
    let heard = scene.heard.total - heardAtBegin
    let expected = Int((end - begin).seconds * rate)
    #expect(abs(heard - expected) <= frame, "\(heard), not \(expected)")
    #expect(heardAtBegin <= frame, "\(heardAtBegin)")
    #expect(scene.heard.frames.allSatisfy { $0.missing == 0 })
    #expect(scene.heard.faults() == [])
    let first = try #require(scene.heard.frames.first)
    #expect(first.start <= begin && first.start >= begin - .milliseconds(20))
    let last = try #require(scene.heard.end)
    #expect(last <= end + .microseconds(1) && last >= end - .milliseconds(20))
    // Without the first hundredth, where a filter has nothing before it.
    return scene.heard.samples.map { Array($0.dropFirst(Int(rate) / 100)) }
  }

  /// Four seconds of grey pictures, few of them, with 1 kHz on the left and 440 Hz on the right.
  private static func film() throws -> URL {
    let path = try MediaFactory.newPath("mp4")
    let sources = [
      "color=c=gray:s=160x120:r=5:d=4", "sine=frequency=1000:sample_rate=44100:duration=4",
      "sine=frequency=440:sample_rate=44100:duration=4",
    ]
    try CommandLineTool.run(
      "ffmpeg",
      ["-v", "error", "-nostdin", "-y"] + sources.flatMap { ["-f", "lavfi", "-i", $0] } + [
        // The source's sines are an eighth of full scale.
        "-filter_complex", "[1:a][2:a]join=inputs=2:channel_layout=stereo,volume=4[a]", "-map", "0:v", "-map", "[a]",
        "-c:v", "libx264", "-preset", "ultrafast", "-c:a", "aac", "-b:a", "192k", path,
      ])
    return URL(fileURLWithPath: path)
  }

  /// A tone's Fourier sum taken off.
  private static func without(_ frequency: Double, _ samples: [Float], _ rate: Int) -> [Float] {
    let step = 2 * .pi * frequency / Double(rate)
    var (cosine, sine) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
      cosine += Double(sample) * cos(step * Double(index))
      sine += Double(sample) * sin(step * Double(index))
    }
    let scale = 2 / Double(samples.count)
    return samples.enumerated().map { index, sample in
      sample - Float(scale * (cosine * cos(step * Double(index)) + sine * sin(step * Double(index))))
    }
  }
}
