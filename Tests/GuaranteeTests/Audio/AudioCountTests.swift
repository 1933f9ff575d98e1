import Glasswing
import GlasswingTesting
import LinkTransport
import MWDATCamera
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// That every sample is delivered or declared missing, whatever becomes of them on the way.
@Suite(.exclusive(.mockKit))
struct AudioCountTests {
  enum Trouble: CaseIterable {
    case none, single, bursts, half, jitter, standstill, narrow

    func begin(_ glasses: SimulatedGlasses, _ clock: () -> Void) {
      switch self {
      case .none: break
      case .single: glasses.link.apply(.drop, to: .unit, .random(probability: 0.02), on: .audio)
      case .bursts: glasses.link.apply(.drop, to: .unit, .range(100..<130), on: .audio)
      case .half: glasses.link.apply(.drop, to: .unit, .random(probability: 0.5), on: .audio)
      case .jitter: glasses.link.setLatency(.milliseconds(60), jitter: .milliseconds(50))
      case .standstill:
        glasses.link.hold(.toApp)
        clock()
        glasses.link.release(.toApp)
      case .narrow: glasses.link.limit(.kilobitsPerSecond(400))
      }
    }
  }

  @Test(
    "AUD-2: for N seconds of streaming, samples delivered and samples declared missing are N times the rate",
    arguments: Trouble.allCases, [AudioSampleRate.rate16000, .rate44100])
  func count(trouble: Trouble, rate: AudioSampleRate) async throws {
    try await AudioScene.run(AudioScene.configuration(rate, channels: 2)) { scene in
      let samplesPerSecond = Double(rate.rawValue)
      scene.clock.walk(.seconds(1))
      let before = scene.heard.frames.count
      trouble.begin(scene.glasses) { scene.clock.advance(by: .milliseconds(900)) }
      scene.clock.walk(.seconds(20))
      scene.glasses.link.clear()
      scene.clock.walk(.seconds(4))
      #expect(scene.heard.faults() == [])
      let frames = scene.heard.frames.dropFirst(before)
      let (first, last) = (try #require(frames.first), try #require(frames.last))
      let length = (last.start - first.start).seconds
      let samples = frames.reduce(-first.missing) { $0 + $1.count + $1.missing } - last.count
      #expect(abs(length * samplesPerSecond - Double(samples)) <= 1)
      #expect(length > 23.5)
      // Sound is as old as it was before the trouble.
      let age = scene.clock.now - last.start
      #expect(age <= .milliseconds(60), "\(age)")
      let missing = frames.reduce(0) { $0 + $1.missing }
      let statistics = try #require(scene.stream.statistics.audio)
      #expect(statistics.listeners > 0 || statistics.missingSamples == UInt64(missing))
      switch trouble {
      case .none, .jitter: #expect(missing == 0)
      case .single, .bursts, .half: #expect(missing > 0 && statistics.lost > 0)
      case .standstill, .narrow: break
      }
      #expect(scene.watched.errors == [])
    }
  }

  @Test("AUD-2: where the listener asks for it gaps are filled with silence that says so, up to ten seconds")
  func filled() async throws {
    try await AudioScene.run { scene in
      let filled = HeardAudio(scene.stream, continuous: true)
      scene.clock.walk(.seconds(1))
      scene.glasses.link.mute(.audio)
      scene.clock.walk(.milliseconds(1990))
      scene.glasses.link.unmute(.audio)
      scene.clock.walk(.seconds(1))
      #expect(filled.faults() == [])
      #expect(filled.frames.allSatisfy { $0.missing == 0 && !$0.isDiscontinuity && $0.count <= 320 })
      let silence = filled.frames.filter(\.isFilled)
      #expect(silence.allSatisfy { $0.isSilent })
      #expect(silence.reduce(0) { $0 + $1.count } == scene.heard.frames.reduce(0) { $0 + $1.missing })
      #expect(silence.count > 90)

      scene.glasses.services.captouch.tap()
      scene.clock.walk(.seconds(15))
      scene.glasses.services.captouch.tap()
      scene.clock.walk(.seconds(1))
      #expect(filled.frames.filter(\.isFilled).count == silence.count, "a long gap stays one")
      let marked = filled.frames.filter(\.isDiscontinuity)
      #expect(marked.count == 1 && marked[0].missing > 14 * 16_000)
      #expect(filled.faults() == [])
    }
  }
}
