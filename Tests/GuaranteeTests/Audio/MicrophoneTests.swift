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
  // MARK: - Feeds

  @Test("MOCK-2: a film's own sound is heard in step with its pictures, round after round")
  func film() async throws {
    let feed = URL(fileURLWithPath: try FlashFilm.path())
    try await AudioScene.run(AudioScene.configuration(video: .raw), feed: feed) { scene in
      let watch = FlashAndBeep(scene.stream, light: .middle)
      try await watch.expectInStep(scene.clock, seconds: 10, "in three rounds")
      await watch.end()
      #expect(scene.stream.audioStatus?.source == .cameraFeed)
      #expect(scene.watched.errors.isEmpty)
    }
  }

  @Test("MOCK-2: a WAV is heard bit for bit, from its beginning with the first picture on, over and over")
  func wav() async throws {
    let content = Noise.samples(20_000, seed: 4)
    let file = try WAVFile.write([content], sampleRate: 16_000)
    try await AudioScene.run(
      keepsSamples: true, prepare: { try await $0.services.microphone.setAudioFeed(validating: file) }
    ) { scene in
      scene.clock.advance(by: .seconds(4))
      let samples = try #require(scene.heard.samples.first)
      #expect(samples.count >= 63_000)
      #expect(samples == (0..<samples.count).map { content[$0 % content.count] })
      let picture = try #require(scene.watched.frames.values.first).presentation
      let first = try #require(scene.heard.frames.first).start
      #expect(abs(first.nanoseconds - picture.value) <= 1_000_000)
      #expect(scene.stream.audioStatus?.source == .file)
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
      let camera = try #require(try session.addCamera(config: AudioScene.configuration()))
      let health = Observed<StreamHealthEvent>()
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
    let rate: AudioSampleRate = channels == 1 ? .rate16000 : .rate48000
    let perSecond = Int(rate.rawValue)
    let content = (0..<channels).map { Noise.samples(perSecond / 2 + 7, seed: UInt64($0)) }
    let buffer = try #require(
      AVAudioPCMBuffer(sampleRate: perSecond, channels: channels, interleaved: SineTone.interleaved(content)))
    try await AudioScene.run(
      AudioScene.configuration(rate, channels: UInt32(channels)), keepsSamples: true
    ) { scene in
      scene.clock.advance(by: .milliseconds(500))
      let time = scene.clock.now + .milliseconds(333)
      try scene.glasses.services.microphone.inject(
        buffer, at: CMTime(value: time.nanoseconds, timescale: 1_000_000_000))
      scene.clock.advance(by: .seconds(2))
      let frames = scene.heard.frames
      let first = try #require(frames.first).start
      let index = Int((Double((time - first).nanoseconds) * Double(perSecond) / 1e9).rounded())
      for (samples, content) in zip(scene.heard.samples, content) {
        #expect(Array(samples[index..<index + content.count]) == content)
      }
      #expect(scene.heard.told.map(\.source).suffix(2) == [.injected, .cameraFeed])
      let noisy = frames.filter { frame in frame.samples[0].contains { abs($0) > 0.3 } }
      #expect(noisy.count >= 25 && noisy.allSatisfy { $0.told?.source == .injected })
    }
  }

  @Test(
    "an injection whose time has passed, that is none, or that would wait behind too many is refused by a typed error")
  func refusedInjections() async throws {
    try await withGlassesByHand { glasses, clock in
      let microphone = glasses.services.microphone
      let buffer = try #require(
        AVAudioPCMBuffer(sampleRate: 8000, channels: 1, interleaved: Noise.samples(240_000, seed: 1)))
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
    try await AudioScene.run(prepare: { $0.services.microphone.setTone(frequency: 500, level: -6) }) { scene in
      for isMuted in [true, false] {
        scene.clock.advance(by: .seconds(1))
        scene.glasses.services.microphone.setMuted(isMuted)
        scene.clock.advance(by: .seconds(1))
        #expect(scene.stream.audioStatus?.isMuted == isMuted)
      }
      let frames = scene.heard.frames
      let silent = frames.filter(\.isSilent)
      #expect((99...101).contains(silent.count))
      #expect(silent.allSatisfy { $0.told?.isMuted == true })
      // The last of them is over before the news that it is.
      let last = try #require(frames.last)
      #expect(last.told?.isMuted == false)
      #expect(scene.heard.faults() == [] && frames.allSatisfy { !$0.isDiscontinuity })
    }
  }

  @Test("a microphone that fails ends the stream by audioStreamingError, with the cause in words")
  func fails() async throws {
    try await AudioScene.run { scene in
      scene.clock.advance(by: .seconds(1))
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.glasses.services.microphone.fail()
      scene.clock.advance(by: .milliseconds(100))
      #expect(
        scene.watched.events.values.suffix(3) == [
          .error(.audioStreamingError), .state(.stopping), .state(.stopped),
        ])
      #expect(health.values.contains { $0.kind == .failed && $0.text?.contains("microphone") == true })
      await token.cancel()
      let again = try await scene.next()
      scene.clock.advance(by: .seconds(1))
      #expect(again.heard.frames.count >= 45)
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
      let sound = AudioScene.configuration()
      let refused = try await AudioScene(glasses, clock, session, sound, until: .stopped)
      #expect(refused.watched.errors == [.permissionDenied])
      #expect(refused.watched.states.contains(.streaming) == false && refused.watched.frames.values.isEmpty)
      #expect(glasses.agent.runningVideoCount == 0 && glasses.agent.runningAudioCount == 0)
      // Who asks for no sound needs no grant for it.
      let silent = try await refused.next(StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15))
      silent.camera.stop()
      clock.advance(by: .milliseconds(100))
      permissions.set(.microphone, .granted)
      let granted = clock.now
      let allowed = try await refused.next()
      for _ in 0..<1000 where allowed.heard.frames.isEmpty { clock.advance(by: .milliseconds(1)) }
      #expect(try #require(allowed.heard.frames.first?.delivered) - granted <= .seconds(1))
      session.stop()
    }
  }
}
