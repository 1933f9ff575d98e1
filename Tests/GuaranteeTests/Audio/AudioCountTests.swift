import Foundation
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
    "AUD-2: for N seconds of streaming, samples delivered and samples declared missing are N times the rate by the clock, and each is of the moment that its stamp says",
    arguments: Trouble.allCases, [AudioSampleRate.rate16000, .rate44100])
  func count(trouble: Trouble, rate: AudioSampleRate) async throws {
    let samplesPerSecond = Int(rate.rawValue)
    let feed = try WAVFile.write(TimeTones.samples(sampleRate: samplesPerSecond), sampleRate: samplesPerSecond)
    try await AudioScene.run(
      AudioScene.configuration(rate, channels: 2), keepsSamples: true,
      prepare: { $0.services.microphone.setAudioFeed(fileURL: feed) }
    ) { scene in
      let clock = scene.clock
      clock.walk(.seconds(1))
      let (begin, before) = (clock.now, scene.heard.total)
      trouble.begin(scene.glasses) { clock.advance(by: .milliseconds(900)) }
      clock.walk(.seconds(10))
      scene.glasses.link.clear()
      clock.walk(.seconds(3))
      #expect(scene.heard.faults() == [])
      let expected = Int((clock.now - begin).seconds * Double(samplesPerSecond))
      // A frame comes when it is over; of Opus, when what its encoder looks ahead is over too.
      let late = samplesPerSecond / 50 + (trouble == .narrow ? samplesPerSecond / 100 : 0)
      #expect(abs(scene.heard.total - before - expected) <= late, "\(scene.heard.total - before), not \(expected)")
      try expectInPlace(scene, samplesPerSecond)
      let end = try #require(scene.heard.end)
      // Sound is as old as it was before the trouble.
      #expect(clock.now - end >= .zero && clock.now - end <= .milliseconds(40), "\(clock.now - end)")
      let missing = scene.heard.frames.reduce(0) { $0 + $1.missing }
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

  /// The feed, which began with the first picture, is heard at the times that stamps say. A sample that is delivered
  /// twice, left out, or declared missing and delivered, moves all that follow it.
  private func expectInPlace(_ scene: AudioScene, _ rate: Int) throws {
    let first = try #require(scene.watched.frames.values.first).presentation
    let advances = scene.heard.frames.filter { $0.count >= rate / 100 }.map { frame in
      (
        frame.start,
        TimeTones.advance(
          of: frame.samples, at: (frame.start - Instant(nanoseconds: first.value)).seconds, sampleRate: rate)
      )
    }
    let displaced = advances.filter { abs($0.1 ?? .infinity) > Self.tolerance }
    #expect(displaced.isEmpty, "\(displaced.count) of \(advances.count): \(displaced.prefix(3))")
  }

  /// Half of what a correction of the rate lets stand, which counts in the stamps.
  private static let tolerance = 3e-3

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
