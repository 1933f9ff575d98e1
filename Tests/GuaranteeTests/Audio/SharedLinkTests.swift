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

/// Pictures and sound on one link.
@Suite("Sound beside pictures", .exclusive(.mockKit))
struct SharedLinkTests {
  @Test("AUD-3: whatever is done with the sound, pictures go on without a gap", arguments: [1, 2, 3] as [UInt64])
  func switching(seed: UInt64) async throws {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    try await AudioScene.run(seed: seed) { scene in
      let microphone = scene.glasses.services.microphone
      var listeners: [any AnyListenerToken] = []
      var isMuted = false
      let start = scene.clock.now
      for _ in 0..<60 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1:
          isMuted.toggle()
          microphone.setMuted(isMuted)
        case 2: listeners.append(scene.stream.audioFramePublisher.listen { _ in })
        case 3: if !listeners.isEmpty { await listeners.removeLast().cancel() }
        case 4: microphone.setTone(frequency: 700, level: -20)
        case 5: microphone.setSilence()
        case 6: microphone.useCameraFeed()
        default:
          let buffer = try #require(
            AVAudioPCMBuffer(sampleRate: 8000, channels: 1, interleaved: [Float](repeating: 0.1, count: 400)))
          let time = scene.clock.now + .milliseconds(Int64.random(in: 0...100, using: &generator))
          try microphone.inject(buffer, at: CMTime(value: time.nanoseconds, timescale: 1_000_000_000))
        }
        scene.clock.advance(by: .milliseconds(Int64.random(in: 1...400, using: &generator)))
        await Task.yield()
      }
      let pictures = scene.watched.frames.values.filter { $0.presentation.value >= start.nanoseconds }
      let gaps = zip(pictures, pictures.dropFirst()).map { $1.presentation.value - $0.presentation.value }
      #expect((gaps.max() ?? .max) <= 68_000_000, "\(gaps.max() ?? 0)")
      #expect(pictures.count >= Int((scene.clock.now - start).seconds * 15) - 1)
      #expect(scene.watched.states == [.waitingForDevice, .starting, .streaming])
      #expect(scene.watched.errors.isEmpty)
      // And the sound itself has none either.
      #expect(scene.heard.faults() == [] && scene.heard.frames.allSatisfy { $0.missing == 0 && $0.count == 320 })
    }
  }

  @Test("AUD-3: sound is turned on and off by a new start, whose pictures come as soon, and which the session outlives")
  func onAndOff() async throws {
    let silent = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
    try await AudioScene.run(silent) { first in
      let (clock, agent) = (first.clock, first.glasses.agent)
      var scene = first
      for hasAudio in [true, false, true, true, false] {
        clock.advance(by: .milliseconds(700))
        let last = try #require(scene.watched.frames.values.last).presentation.value
        scene.camera.stop()
        clock.advance(by: .milliseconds(50))
        #expect(scene.watched.states.suffix(2) == [.stopping, .stopped] && scene.watched.errors.isEmpty)
        #expect(agent.runningVideoCount == 0 && agent.runningAudioCount == 0)
        scene = try await scene.next(hasAudio ? AudioScene.configuration() : silent)
        let pictures = scene.watched.frames.values
        #expect(try #require(pictures.first).isSync)
        // 50 ms of rest, and what any start takes.
        #expect(try #require(pictures.first).presentation.value - last < 200_000_000)
        clock.advance(by: .seconds(1))
        #expect(agent.runningVideoCount == 1 && agent.runningAudioCount == (hasAudio ? 1 : 0))
        #expect(scene.watched.frames.values.count >= 15)
        #expect((scene.stream.audioStatus != nil) == hasAudio)
        #expect(hasAudio ? scene.heard.frames.count >= 49 && scene.heard.faults() == [] : scene.heard.frames.isEmpty)
        #expect(scene.session.state == .started)
      }
    }
  }

  @Test(
    "AUD-3: on a link that gets narrow, pictures step down with an event, sound goes on, and neither is older than a second",
    arguments: [(500, true), (900, true), (900, false)] as [(Int64, Bool)])
  func contention(rate: Int64, encodesLive: Bool) async throws {
    let configuration = AudioScene.configuration(.rate48000, channels: 2, resolution: .medium, frameRate: 30)
    // Pictures that are encoded as they come follow the bit rate; replayed ones have what they had.
    try await AudioScene.run(configuration, encodesLive: encodesLive) { scene in
      let (stream, clock) = (scene.stream, scene.clock)
      let steps = Observed<StreamHealthEvent>()
      let ages = Observed<Duration>()
      let tokens = ListenerTokenBag()
      stream.healthPublisher.listen { if $0.kind == .formatChanged { steps.record($0) } }.store(in: tokens)
      stream.videoFramePublisher.listen { frame in
        let stamp = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
        ages.record(clock.now - Instant(nanoseconds: stamp.value))
      }.store(in: tokens)
      clock.advance(by: .seconds(4))
      #expect(stream.audioStatus?.codec == .pcm)
      scene.glasses.link.limit(.kilobitsPerSecond(rate))
      clock.advance(by: .seconds(16))
      #expect(!steps.values.isEmpty)
      #expect(steps.values.allSatisfy { ($0.video?.width ?? 0) <= 504 })
      #expect(stream.audioStatus?.codec == .opus)
      #expect(stream.state == .streaming && scene.watched.errors.isEmpty)
      #expect((ages.values.max() ?? .seconds(9)) <= .seconds(1), "\(ages.values.max() ?? .zero)")
      let frames = scene.heard.frames
      // A frame's age counts from its last sample.
      let ends = frames.compactMap { frame in frame.delivered.map { $0 - frame.start - .milliseconds(20) } }
      let oldest = try #require(ends.max())
      #expect(oldest <= .seconds(1), "\(oldest)")
      // Once the first moments are over, nothing is missing.
      let late = frames.filter { $0.start > clock.now - .seconds(10) }
      #expect(late.count >= 480)
      #expect(late.allSatisfy { $0.missing == 0 && !$0.isDiscontinuity })
      scene.glasses.link.limit(nil)
      // Not before pictures are what was asked for again.
      clock.walk(.seconds(40), until: { stream.audioStatus?.codec == .pcm })
      #expect(stream.audioStatus?.codec == .pcm)
      await tokens.cancelAll()
    }
  }
}
