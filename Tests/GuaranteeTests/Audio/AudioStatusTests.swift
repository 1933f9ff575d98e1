import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import TestSupport
import Testing

/// What is said about sound, and when.
@Suite(.exclusive(.mockKit))
struct AudioStatusTests {
  @Test("AUD-4: mute is readable, and told before the first silent frame")
  func mute() async throws {
    try await AudioScene.run { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.clock.walk(.seconds(1))
      #expect(scene.stream.audioStatus?.isMuted == false)
      #expect(scene.heard.frames.allSatisfy { !$0.isSilent })
      for isMuted in [true, false, true, false] {
        scene.glasses.services.microphone.setMuted(isMuted)
        scene.clock.walk(.milliseconds(310))
        #expect(scene.stream.audioStatus?.isMuted == isMuted)
      }
      let silent = scene.heard.frames.filter(\.isSilent)
      #expect(silent.count > 25)
      #expect(silent.allSatisfy { $0.status?.isMuted == true })
      #expect(health.values.filter { $0.kind == .audioChanged }.map(\.audio?.isMuted) == [true, false, true, false])
      #expect(scene.heard.faults() == [], "time runs on")
      #expect(scene.heard.frames.allSatisfy { $0.missing == 0 })
      #expect(scene.watched.states == [.waitingForDevice, .starting, .streaming])
      withExtendedLifetime(token) {}
    }
  }

  @Test("AUD-4: the source is readable, and each change is told before the first frame of it")
  func source() async throws {
    let tone = SineTone.samples(frequency: 500, sampleRate: 16_000, count: 160_000)
    let file = try WAVFile.write([tone], sampleRate: 16_000)
    try await AudioScene.run { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      let microphone = scene.glasses.services.microphone
      scene.clock.walk(.seconds(1))
      #expect(scene.stream.audioStatus?.source == .cameraFeed)
      microphone.setTone(frequency: 800)
      scene.clock.walk(.milliseconds(500))
      #expect(scene.stream.audioStatus?.source == .tone)
      microphone.setSilence()
      scene.clock.walk(.milliseconds(500))
      #expect(scene.stream.audioStatus?.source == .silence)
      microphone.setAudioFeed(fileURL: file)
      scene.clock.walk(.milliseconds(500))
      #expect(scene.stream.audioStatus?.source == .file)
      microphone.useCameraFeed()
      scene.clock.walk(.milliseconds(500))
      #expect(
        health.values.filter { $0.kind == .audioChanged }.map(\.audio?.source) == [.tone, .silence, .file, .cameraFeed])
      let silent = scene.heard.frames.filter(\.isSilent)
      #expect(silent.count > 20 && silent.allSatisfy { $0.status?.source == .silence })
      withExtendedLifetime(token) {}
    }
  }

  @Test("AUD-4: what travels is readable: Opus where the link is narrow, and frames keep their form")
  func codec() async throws {
    try await AudioScene.run(AudioScene.configuration(.rate44100, channels: 2)) { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.clock.walk(.seconds(2))
      #expect(scene.stream.audioStatus?.codec == .pcm)
      scene.glasses.link.limit(.kilobitsPerSecond(700))
      scene.clock.walk(.seconds(20))
      let status = try #require(scene.stream.audioStatus)
      #expect(status.codec == .opus && status.linkSampleRate == 48_000 && status.sampleRate == 44_100)
      let change = try #require(health.values.first { $0.kind == .audioChanged })
      #expect(change.audio?.codec == .opus && change.oldAudio?.codec == .pcm)
      #expect("\(change)".hasSuffix("44100 Hz, 2 channels, from cameraFeed, opus at 48000 Hz"))
      #expect(scene.heard.frames.allSatisfy { $0.format.sampleRate == 44_100 && $0.format.channelCount == 2 })
      #expect(scene.heard.faults() == [])
      #expect(scene.watched.errors == [])
      withExtendedLifetime(token) {}
    }
  }

  @Test("AUD-4: a gap is told with its length, and figures count it")
  func gap() async throws {
    try await AudioScene.run { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.clock.walk(.seconds(1))
      scene.glasses.link.apply(.drop, to: .unit, .next(0), on: .audio)
      scene.clock.walk(.seconds(1))
      let gap = try #require(health.values.first { $0.kind == .audioGap })
      #expect(gap.count == 320 && gap.length == .milliseconds(20))
      #expect("\(gap)".hasSuffix("audioGap: 0.020 s missing (320 samples)"))
      let audio = try #require(scene.stream.statistics.audio)
      #expect(audio.missingSamples == 320 && audio.lost == 1)
      #expect(audio.samples == UInt64(scene.heard.total - 320))
      #expect(audio.frames == UInt64(scene.heard.frames.count))
      #expect(audio.driftCorrectionPPM == 0)
      let age = try #require(audio.ageP95)
      #expect(age >= .milliseconds(20) && age < .milliseconds(30))
      withExtendedLifetime(token) {}
    }
  }

  @Test("AUD-4: a stream without sound has no status, no figures and no frames of it")
  func without() async throws {
    try await AudioScene.run(StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)) { scene in
      scene.clock.walk(.seconds(2))
      #expect(scene.stream.audioStatus == nil && scene.stream.statistics.audio == nil)
      #expect(scene.heard.frames.isEmpty)
      #expect(scene.stream.state == .streaming)
    }
  }
}
