import Foundation
import Glasswing
import GlasswingTesting
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Sound in step with pictures: the pattern's flash and beep through everything that clocks, links and users do.
///
/// On a clock moved by hand; pictures are replayed, sound is made anew.
@Suite(.exclusive(.mockKit))
struct SyncTests {
  /// How far the glasses' clock runs off the host's, and the microphone's off the glasses'; and where the former began.
  struct Clocks: Sendable, CustomTestStringConvertible {
    let device: Double
    let audio: Double
    let offset: Duration

    var testDescription: String { "device \(device) ppm from \(offset), audio \(audio) ppm" }
    var deviceClock: DeviceClock { DeviceClock(offset: offset, partsPerMillion: device) }
  }

  private static let configuration = StreamConfiguration(
    videoCodec: .raw, audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 1), resolution: .low, frameRate: 15)

  private func withPattern(
    _ clocks: Clocks, seed: UInt64 = 1,
    _ body: (SimulatedGlasses, ManualTimekeeper, MWDATCamera.Stream, FlashAndBeep) async throws -> Void
  ) async throws {
    try await withGlassesByHand(deviceClock: clocks.deviceClock, seed: seed) { glasses, clock in
      glasses.agent.microphone.clockSkew = clocks.audio
      let session = try startedSession(with: glasses, clock)
      let stream = try #require(try session.addCamera(config: Self.configuration)).stream
      let watch = FlashAndBeep(stream)
      stream.start()
      try await AudioScene.reach(.streaming, stream, clock)
      try await body(glasses, clock, stream, watch)
      await watch.end()
      session.stop()
      clock.advance(by: .seconds(1))
    }
  }

  @Test(
    "SYNC-2: flash and beep are within 20 ms whichever way the clocks run off, and wherever they began",
    arguments: [
      Clocks(device: 300, audio: 300, offset: .seconds(36_000)),
      Clocks(device: 0, audio: 300, offset: .seconds(-20)),
      Clocks(device: -300, audio: 300, offset: .zero),
    ])
  func drift(clocks: Clocks) async throws {
    try await withPattern(clocks) { _, clock, _, watch in
      try await watch.expectInStep(clock, "at the start")
      // Clocks that are not followed would be 36 ms apart by then, or twice as much.
      clock.advance(by: .seconds(120))
      try await watch.expectInStep(clock, "after two minutes")
      #expect(watch.holes.isEmpty)
    }
  }

  @Test("SYNC-4: a pause shows as a hole, and what follows it is in step")
  func pause() async throws {
    try await withPattern(Clocks(device: 300, audio: -300, offset: .seconds(5))) { glasses, clock, stream, watch in
      clock.advance(by: .seconds(20))
      for _ in 0..<3 {
        glasses.services.captouch.tap()
        clock.advance(by: .milliseconds(1700))
        #expect(stream.state == .paused)
        glasses.services.captouch.tap()
        clock.advance(by: .milliseconds(500))
        #expect(stream.state == .streaming)
        try await watch.expectInStep(clock, "after a pause")
      }
      #expect(watch.holes.count == 3)
      for hole in watch.holes { #expect((1.6...1.85).contains(hole.length), "\(hole)") }
    }
  }

  @Test("SYNC-4: lost sound is a hole of its own length, and what follows is in step", arguments: [UInt64(1), 2])
  func loss(seed: UInt64) async throws {
    try await withPattern(Clocks(device: -300, audio: 300, offset: .zero), seed: seed) {
      glasses, clock, stream, watch in
      clock.advance(by: .seconds(10))
      glasses.link.apply(.drop, to: .unit, .random(probability: 0.05), on: .audio)
      clock.advance(by: .seconds(20))
      glasses.link.clear()
      // The last loss shows with what comes after it.
      clock.advance(by: .milliseconds(200))
      let holes = watch.holes
      #expect(holes.count > 20)
      // Whole units of 20 ms, as far as the clocks' drift lets them.
      for hole in holes {
        let units = (hole.length / 0.02).rounded()
        #expect(units >= 1 && abs(hole.length - units * 0.02) < 0.006, "\(hole)")
      }
      try await watch.expectInStep(clock, "after the loss")
      #expect(watch.holes.count == holes.count)
    }
  }

  @Test("SYNC-4: a link that is lost for seconds and comes back leaves sound and pictures in step")
  func interruption() async throws {
    try await withPattern(Clocks(device: 300, audio: 300, offset: .zero)) { glasses, clock, stream, watch in
      clock.advance(by: .seconds(10))
      glasses.link.hold(.toApp)
      glasses.link.hold(.toGlasses)
      clock.advance(by: .seconds(7))
      glasses.link.release(.toApp)
      glasses.link.release(.toGlasses)
      clock.advance(by: .seconds(3))
      #expect(stream.state == .streaming)
      try await watch.expectInStep(clock, "after the interruption")
    }
  }
}
