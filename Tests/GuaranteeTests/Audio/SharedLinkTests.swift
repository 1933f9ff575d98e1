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
  private static let mono = AudioCodec.pcm(sampleRate: .rate16000, numberOfChannels: 1)
  private static let stereo = AudioCodec.pcm(sampleRate: .rate48000, numberOfChannels: 2)

  @Test("AUD-3: whatever is done with the sound, pictures go on without a gap", arguments: [1, 2, 3] as [UInt64])
  func switching(seed: UInt64) async throws {
    print("seed \(seed)")
    var generator = SeededGenerator(seed: seed)
    try await withGlassesByHand(seed: seed) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let heard = try await HeardStream.start(in: session, Self.mono, clock)
      let microphone = glasses.services.microphone
      var listeners: [any AnyListenerToken] = []
      var isMuted = false
      let start = clock.now
      for _ in 0..<60 {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0, 1:
          isMuted.toggle()
          microphone.setMuted(isMuted)
        case 2: listeners.append(heard.stream.audioFramePublisher.listen { _ in })
        case 3: if !listeners.isEmpty { await listeners.removeLast().cancel() }
        case 4: microphone.setTone(frequency: 700, level: -20)
        case 5: microphone.setSilence()
        case 6: microphone.useCameraFeed()
        default:
          let buffer = try #require(
            AVAudioPCMBuffer(sampleRate: 8000, channels: 1, interleaved: [Float](repeating: 0.1, count: 400)))
          let time = clock.now + .milliseconds(Int64.random(in: 0...100, using: &generator))
          try microphone.inject(buffer, at: CMTime(value: time.nanoseconds, timescale: 1_000_000_000))
        }
        clock.advance(by: .milliseconds(Int64.random(in: 1...400, using: &generator)))
        await Task.yield()
      }
      let pictures = heard.watched.frames.values.filter { $0.presentation.value >= start.nanoseconds }
      let gaps = zip(pictures, pictures.dropFirst()).map { $1.presentation.value - $0.presentation.value }
      #expect((gaps.max() ?? .max) <= 34_000_000, "\(gaps.max() ?? 0)")
      #expect(pictures.count >= Int((clock.now - start).seconds * 30) - 1)
      #expect(heard.watched.states.filter { $0 == .streaming }.count == 1 && heard.watched.states.last == .streaming)
      #expect(heard.watched.errors.isEmpty)
      // And the sound itself has none either.
      let sounds = heard.sounds
      #expect(zip(sounds, sounds.dropFirst()).allSatisfy { $1.presentation - $0.presentation == .milliseconds(20) })
      session.stop()
    }
  }

  @Test(
    "AUD-3: on a link that gets narrow, pictures step down with an event, sound goes on, and neither is older than a second",
    arguments: [500, 900] as [Int64])
  func contention(rate: Int64) async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let heard = try await HeardStream.start(in: session, Self.stereo, resolution: .medium, clock)
      let steps = Observed<StreamHealthEvent>()
      let ages = Observed<Duration>()
      let tokens = ListenerTokenBag()
      heard.stream.healthPublisher.listen { if $0.kind == .formatChanged { steps.record($0) } }.store(in: tokens)
      heard.stream.videoFramePublisher.listen { frame in
        let stamp = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
        ages.record(clock.now - Instant(nanoseconds: stamp.value))
      }.store(in: tokens)
      clock.advance(by: .seconds(4))
      #expect(heard.stream.audioStatus?.codec == .pcm)
      glasses.link.limit(.kilobitsPerSecond(rate))
      clock.advance(by: .seconds(16))
      #expect(!steps.values.isEmpty)
      #expect(steps.values.allSatisfy { ($0.video?.width ?? 0) <= 504 })
      #expect(heard.stream.audioStatus?.codec == .opus)
      #expect(heard.stream.state == .streaming && heard.watched.errors.isEmpty)
      #expect((ages.values.max() ?? .seconds(9)) <= .seconds(1), "\(ages.values.max() ?? .zero)")
      let sounds = heard.sounds
      // A frame's age counts from its last sample.
      let oldest = sounds.map { $0.delivered - $0.presentation - .milliseconds(20) }.max() ?? .seconds(9)
      #expect(oldest <= .seconds(1), "\(oldest)")
      // Once the first moments are over, nothing is missing.
      let late = sounds.filter { $0.presentation > clock.now - .seconds(10) }
      #expect(late.count >= 480)
      #expect(late.allSatisfy { $0.missing == 0 && !$0.isDiscontinuity })
      glasses.link.limit(nil)
      // Not before pictures are what was asked for again.
      clock.walk(.seconds(40), until: { heard.stream.audioStatus?.codec == .pcm })
      #expect(heard.stream.audioStatus?.codec == .pcm)
      session.stop()
    }
  }
}
