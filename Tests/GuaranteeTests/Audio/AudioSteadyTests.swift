import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Units

/// Sound that runs for long, and that comes again after the link was silent.
@Suite("Sound that goes on", .exclusive(.mockKit))
struct AudioSteadyTests {
  @Test("PERF-4: a stream with sound leaves memory where it was")
  func memory() async throws {
    try await withGlassesByHand { glasses, clock in
      // Little else than sound, and nothing of it is kept.
      glasses.services.microphone.setTone(frequency: 440, level: -20)
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(
        videoCodec: .hvc1, audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 1), resolution: .low, frameRate: 2
      )
      let stream = try #require(try session.addCamera(config: configuration)).stream
      let samples = Mutex(0)
      let token = stream.audioFramePublisher.listen { frame in
        samples.withLock { $0 += Int(frame.pcmBuffer.frameLength) + frame.missingSamples }
      }
      stream.start()
      try await AudioScene.reach(.streaming, stream, clock)
      clock.advance(by: .seconds(60))
      let (heard, begin) = (samples.withLock { $0 }, clock.now)
      var readings: [Int] = []
      while readings.count < 4 || readings.count < 8 && readings[readings.count - 1] > readings[0] * 21 / 20 {
        clock.advance(by: .seconds(100))
        readings.append(try residentBytes())
      }
      #expect(readings[readings.count - 1] <= readings[0] * 21 / 20, "memory grows: \(readings.map { $0 >> 20 }) MiB")
      let expected = Int((clock.now - begin).seconds * 16_000)
      #expect(abs(samples.withLock { $0 } - heard - expected) <= 320)
      #expect(stream.state == .streaming && stream.statistics.audio?.missingSamples == 0)
      await token.cancel()
      session.stop()
    }
  }

  @Test(
    "HEALTH-1, AUD-2: a link that does not answer is told, and that it answers again; sound is heard again, what was not is counted"
  )
  func heardAgain() async throws {
    try await AudioScene.run { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.clock.advance(by: .seconds(2))
      let begin = scene.clock.now
      let before = scene.heard.total
      scene.glasses.link.hold(.toApp)
      scene.glasses.link.hold(.toGlasses)
      scene.clock.walk(.milliseconds(3200))
      #expect(scene.stream.state == .waitingForDevice)
      scene.glasses.link.release(.toApp)
      scene.glasses.link.release(.toGlasses)
      scene.clock.walk(.seconds(3))
      #expect(scene.stream.state == .streaming && scene.watched.errors == [])
      let about: [StreamHealthEvent.Kind] = [.stallBegan, .reconnecting, .waiting, .reconnected, .stallEnded]
      #expect(health.values.map(\.kind).filter(about.contains) == about)
      // Samples heard or said to be missing are those of the time.
      let expected = Int((scene.clock.now - begin).seconds * 16_000)
      #expect(abs(scene.heard.total - before - expected) <= 320, "\(scene.heard.total - before), not \(expected)")
      #expect(scene.heard.faults() == [])
      let last = try #require(scene.heard.end)
      #expect(scene.clock.now - last <= .milliseconds(40))
      let gaps = scene.heard.frames.filter(\.isDiscontinuity)
      #expect(!gaps.isEmpty && (scene.stream.statistics.audio?.missingSamples ?? 0) > 0)
      withExtendedLifetime(token) {}
    }
  }

  /// As proc(5) says: statm, second field, in pages.
  private func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(fields.dropFirst().first.flatMap { Int($0) }) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
