import Foundation
import Glasswing
import GlasswingTesting
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// What mock glasses can be made to hear.
@Suite("The simulated microphone", .exclusive(.mockKit))
struct MicrophoneTests {
  private static let mono = AudioCodec.pcm(sampleRate: .rate16000, numberOfChannels: 1)
  private static let stereo = AudioCodec.pcm(sampleRate: .rate48000, numberOfChannels: 2)

  private func noise(_ count: Int, seed: UInt64) -> [Float] {
    var generator = SeededGenerator(seed: seed)
    return (0..<count).map { _ in Float.random(in: -1...1, using: &generator) }
  }

  // MARK: - Feeds

  @Test("MOCK-2: a film's own sound is heard in step with its pictures, round after round")
  func film() async throws {
    let feed = URL(fileURLWithPath: try FlashFilm.path())
    try await withGlassesByHand(feed: feed) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let heard = try await HeardStream.start(in: session, Self.mono, video: .raw, clock)
      let watch = FlashAndBeep(heard.stream, light: .middle)
      try await watch.expectInStep(clock, seconds: 10, "in three rounds")
      await watch.end()
      #expect(heard.stream.audioStatus?.source == .cameraFeed)
      #expect(heard.watched.errors.isEmpty)
      session.stop()
    }
  }

  @Test("MOCK-2: a WAV is heard bit for bit, from its beginning with the first picture on, over and over")
  func wav() async throws {
    let content = noise(20_000, seed: 4)
    let file = try WAVFile.write([content], sampleRate: 16_000)
    try await withGlassesByHand { glasses, clock in
      try await glasses.services.microphone.setAudioFeed(validating: file)
      let session = try startedSession(with: glasses, clock)
      let heard = try await HeardStream.start(in: session, Self.mono, clock)
      clock.advance(by: .seconds(4))
      let samples = heard.samples()
      #expect(samples.count >= 63_000)
      #expect(samples == (0..<samples.count).map { content[$0 % content.count] })
      let picture = try #require(heard.watched.frames.values.first).presentation
      let first = try #require(heard.sounds.first).presentation
      #expect(abs(first.nanoseconds - picture.value) <= 1_000_000)
      #expect(heard.stream.audioStatus?.source == .file)
      session.stop()
    }
  }

  @Test("MOCK-2: sound that can't be played is told by the checked call, and ends a stream by an error with the cause")
  func unplayable() async throws {
    try await withGlassesByHand { glasses, clock in
      let silent = URL(fileURLWithPath: try MediaFactory.path(.h264))
      for file in [URL(fileURLWithPath: "/nowhere/sound.wav"), silent] {
        do throws(AudioFeedError) {
          try await glasses.services.microphone.setAudioFeed(validating: file)
          Issue.record("\(file.path) was taken")
        } catch {
          guard case .notPlayable(let path, let reason) = error else { throw error }
          #expect(path == file.path && reason.contains(file.path))
        }
      }
      let session = try startedSession(with: glasses, clock)
      glasses.services.microphone.setAudioFeed(fileURL: silent)
      let health = Observed<StreamHealthEvent>()
      let camera = try #require(
        try session.addCamera(
          config: StreamConfiguration(videoCodec: .hvc1, audioCodec: Self.mono, resolution: .low, frameRate: 30)))
      let watched = WatchedStream(camera.stream)
      let token = camera.stream.healthPublisher.listen { health.record($0) }
      camera.stream.start()
      for _ in 0..<10_000 where watched.states.last != .stopped {
        clock.advance(by: .microseconds(200))
        await Task.yield()
      }
      #expect(watched.errors == [.audioStreamingError])
      #expect(health.values.contains { $0.kind == .failed && $0.text?.contains(silent.lastPathComponent) == true })
      await token.cancel()
      session.stop()
    }
  }

  // MARK: - Injection

  @Test(
    "injected samples arrive bit for bit at their time, and the source is told before and after (AUD-4)",
    arguments: [1, 2])
  func injected(channels: Int) async throws {
    let rate = channels == 1 ? 16_000 : 48_000
    let content = (0..<channels).map { noise(rate / 2 + 7, seed: UInt64($0)) }
    let buffer = try #require(
      AVAudioPCMBuffer(sampleRate: rate, channels: channels, interleaved: SineTone.interleaved(content)))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let heard = try await HeardStream.start(in: session, channels == 1 ? Self.mono : Self.stereo, clock)
      clock.advance(by: .milliseconds(500))
      let time = clock.now + .milliseconds(333)
      try glasses.services.microphone.inject(buffer, at: CMTime(value: time.nanoseconds, timescale: 1_000_000_000))
      clock.advance(by: .seconds(2))
      let first = try #require(heard.sounds.first).presentation
      let index = Int((Double((time - first).nanoseconds) * Double(rate) / 1e9).rounded())
      for channel in 0..<channels {
        let samples = heard.samples(channel: channel)
        #expect(Array(samples[index..<index + content[channel].count]) == content[channel])
      }
      #expect(heard.statuses.map(\.source).suffix(2) == [.injected, .cameraFeed])
      let told = try #require(
        heard.heard.values.firstIndex { if case .status(let status) = $0 { status.source == .injected } else { false } }
      )
      let noisy = try #require(
        heard.heard.values.firstIndex {
          if case .sound(let sound) = $0 { sound.channels[0].contains { abs($0) > 0.3 } } else { false }
        })
      #expect(told < noisy)
      session.stop()
    }
  }

  @Test(
    "an injection whose time has passed, that is none, or that would wait behind too many is refused by a typed error")
  func refusedInjections() async throws {
    try await withGlassesByHand { glasses, clock in
      let microphone = glasses.services.microphone
      let buffer = try #require(AVAudioPCMBuffer(sampleRate: 8000, channels: 1, interleaved: noise(240_000, seed: 1)))
      func time(_ offset: Duration) -> CMTime {
        CMTime(value: (clock.now + offset).nanoseconds, timescale: 1_000_000_000)
      }
      #expect(throws: AudioFeedError.tooLate(by: .milliseconds(1))) {
        try microphone.inject(buffer, at: time(.milliseconds(-1)))
      }
      #expect(throws: AudioFeedError.notUsable) { try microphone.inject(buffer, at: .invalid) }
      let empty = try #require(
        AVAudioFormat(standardFormatWithSampleRate: 8000, channels: 1).flatMap {
          AVAudioPCMBuffer(pcmFormat: $0, frameCapacity: 10)
        })
      #expect(throws: AudioFeedError.notUsable) { try microphone.inject(empty, at: time(.zero)) }
      try microphone.inject(buffer, at: time(.zero))
      try microphone.inject(buffer, at: time(.seconds(60)))
      #expect(throws: AudioFeedError.tooMuchPending) { try microphone.inject(buffer, at: time(.seconds(90))) }
      clock.advance(by: .seconds(31))
      try microphone.inject(buffer, at: time(.seconds(90)))
    }
  }

  // MARK: - Mute and failure

  @Test("muted, frames of silence go on without a gap, told before the first of them and after the last (AUD-4)")
  func muted() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      glasses.services.microphone.setTone(frequency: 500, level: -6)
      let heard = try await HeardStream.start(in: session, Self.mono, clock)
      clock.advance(by: .seconds(1))
      glasses.services.microphone.setMuted(true)
      clock.advance(by: .seconds(1))
      #expect(heard.stream.audioStatus?.isMuted == true)
      glasses.services.microphone.setMuted(false)
      clock.advance(by: .seconds(1))
      #expect(heard.stream.audioStatus?.isMuted == false)
      var isMuted = false
      var silent = 0
      for entry in heard.heard.values {
        switch entry {
        case .status(let status): isMuted = status.isMuted
        case .sound(let sound):
          let isSilent = sound.channels[0].allSatisfy { $0 == 0 }
          silent += isSilent ? 1 : 0
          if isSilent { #expect(isMuted) }
          #expect(!sound.isDiscontinuity && sound.missing == 0)
        }
      }
      #expect((49...51).contains(silent))
      let sounds = heard.sounds
      #expect(zip(sounds, sounds.dropFirst()).allSatisfy { $1.presentation - $0.presentation == .milliseconds(20) })
      session.stop()
    }
  }

  @Test("a microphone that fails ends the stream by audioStreamingError, with the cause in words")
  func fails() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let heard = try await HeardStream.start(in: session, Self.mono, clock)
      clock.advance(by: .seconds(1))
      let health = Observed<StreamHealthEvent>()
      let token = heard.stream.healthPublisher.listen { health.record($0) }
      glasses.services.microphone.fail()
      clock.advance(by: .seconds(1))
      #expect(heard.watched.errors == [.audioStreamingError])
      #expect(heard.stream.state == .stopped)
      #expect(heard.watched.events.values.suffix(3).first == .error(.audioStreamingError))
      #expect(health.values.contains { $0.kind == .failed && $0.text?.contains("microphone") == true })
      await token.cancel()
      let again = try await HeardStream.start(in: session, Self.mono, clock)
      clock.advance(by: .seconds(1))
      #expect(again.sounds.count >= 45)
      session.stop()
    }
  }

  // MARK: - Permission

  @Test(
    "PERM-2: without the microphone's grant a start with sound fails as a whole; granted, the next has sound within a second"
  )
  func permission() async throws {
    try await withGlassesByHand { glasses, clock in
      let permissions = MockDeviceKit.shared.permissions
      permissions.set(.microphone, .denied)
      let session = try startedSession(with: glasses, clock)
      let refused = try await HeardStream.start(in: session, Self.mono, until: [.stopped], clock)
      #expect(refused.watched.errors == [.permissionDenied])
      #expect(refused.watched.states.contains(.streaming) == false && refused.watched.frames.values.isEmpty)
      #expect(glasses.agent.runningVideoCount == 0 && glasses.agent.runningAudioCount == 0)
      // Who asks for no sound needs no grant for it.
      let silent = try await HeardStream.start(in: session, nil, clock)
      silent.camera.stop()
      clock.advance(by: .milliseconds(100))
      permissions.set(.microphone, .granted)
      let granted = clock.now
      let allowed = try await HeardStream.start(in: session, Self.mono, clock)
      for _ in 0..<1000 where allowed.sounds.isEmpty { clock.advance(by: .milliseconds(1)) }
      #expect(try #require(allowed.sounds.first).delivered - granted <= .seconds(1))
      session.stop()
    }
  }
}
