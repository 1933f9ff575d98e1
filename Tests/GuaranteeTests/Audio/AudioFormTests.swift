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
    "AUD-1: sound of any rate keeps its length to a sample and its pitch to a thousandth in any other",
    arguments: conversions.indices)
  func conversion(index: Int) async throws {
    let (from, channels, to, asked) = Self.conversions[index]
    let tone = SineTone.samples(frequency: 1000, sampleRate: from, count: 12 * from)
    let file = try WAVFile.write(Array(repeating: tone, count: channels), sampleRate: from)
    try await AudioScene.run(
      AudioScene.configuration(to, channels: asked), keepsSamples: true,
      prepare: { $0.services.microphone.setAudioFeed(fileURL: file) }
    ) { scene in
      let rate = Int(to.rawValue)
      scene.clock.advance(by: .seconds(10))
      #expect(scene.heard.faults() == [])
      let frames = scene.heard.frames
      let end = try #require(scene.heard.end)
      let length = end - frames[0].start
      #expect(length >= .seconds(10) && frames.allSatisfy { $0.missing == 0 })
      #expect(abs(length.seconds * Double(rate) - Double(scene.heard.total)) <= 1)
      #expect(scene.heard.samples.count == Int(asked))
      for channel in scene.heard.samples {
        // Without the first hundredth, where a filter has nothing before it.
        let pitch = try #require(ToneMeter.frequency(of: Array(channel.dropFirst(rate / 100)), sampleRate: rate))
        #expect(abs(pitch - 1000) <= 1, "\(pitch)")
        #expect(abs(ToneMeter.level(of: 1000, in: Array(channel.suffix(rate)), sampleRate: rate) - 0.5) < 0.01)
      }
    }
  }

  @Test("AUD-1: stereo keeps its sides", arguments: [44_100, 48_000])
  func sides(from: Int) async throws {
    let left = SineTone.samples(frequency: 1000, sampleRate: from, count: 4 * from)
    let right = SineTone.samples(frequency: 440, sampleRate: from, count: 4 * from)
    let file = try WAVFile.write([left, right], sampleRate: from)
    try await AudioScene.run(
      AudioScene.configuration(.rate48000, channels: 2), keepsSamples: true,
      prepare: { $0.services.microphone.setAudioFeed(fileURL: file) }
    ) { scene in
      scene.clock.advance(by: .seconds(3))
      let samples = scene.heard.samples.map { Array($0.suffix(96_000)) }
      #expect(ToneMeter.level(of: 1000, in: samples[0], sampleRate: 48_000) > 0.45)
      #expect(ToneMeter.level(of: 440, in: samples[0], sampleRate: 48_000) < 0.001)
      #expect(ToneMeter.level(of: 440, in: samples[1], sampleRate: 48_000) > 0.45)
      #expect(ToneMeter.level(of: 1000, in: samples[1], sampleRate: 48_000) < 0.001)
    }
  }
}
