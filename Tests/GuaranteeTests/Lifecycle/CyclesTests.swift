import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// A hundred times from nothing to a stream and back, without a pause, on real threads.
@Suite(.exclusive(.mockKit))
struct CyclesTests {
  @Test("LIFE-3: a hundred cycles with photos, recordings and faults leave nothing, and the next start streams")
  func hundredCycles() async throws {
    let before = ProcessResources.now()
    try await withGlasses { glasses in
      let glasses = try #require(glasses as? SimulatedGlasses)
      for number in 0..<100 { try await cycle(number, Self.codec(number), glasses) }
      glasses.link.clear()
      #expect(glasses.agent.sessionCount == 0)
      let session = try await startedSession(with: glasses)
      let watched = WatchedStream(try #require(try session.addCamera(config: Self.configuration(.raw))).stream)
      watched.stream.start()
      try await watched.events.wait("streaming", within: .seconds(3)) { $0.last == .state(.streaming) }
      #expect(glasses.agent.sessionCount == 1)
    }
    // Threads outlive their last work by a little.
    let after = await ProcessResources.settled { $0.holdsNoMoreOfStreams(than: before) }
    #expect(
      after.holdsNoMoreOfStreams(than: before),
      "before: \(before) \(before.descriptors); after: \(after) \(after.descriptors)")
  }

  private func cycle(_ number: Int, _ codec: VideoCodec, _ glasses: SimulatedGlasses) async throws {
    glasses.powerOn()
    glasses.don()
    let session = try await startedSession(with: glasses)
    let camera = try #require(try session.addCamera(config: Self.configuration(codec)))
    let watched = WatchedStream(camera.stream)
    camera.stream.start()
    // Most are ended somewhere in their start, some while they stream.
    if number % 5 == 0 { try await watched.wait(for: .streaming) }
    if number % 10 == 0 { #expect(camera.stream.capturePhoto(format: .jpeg)) }
    if number % 7 == 0 {
      camera.photo.start()
      camera.photo.capturePhoto(resolution: .small)
    }
    if number % 5 == 0, codec == .hvc1 {
      let recorder = try Recorder(to: URL(fileURLWithPath: try MediaFactory.newPath("mp4")))
      try recorder.record(camera.stream)
      if number % 10 == 0 { _ = try? await recorder.finish() }
    }
    fault(number, glasses)
    let states = session.stateStream()
    session.stop()
    for await _ in states {}  // the place is free once the session has stopped
    glasses.link.clear()
    #expect(camera.stream.state == .stopped)
    // Announced on a thread of the stream's own.
    try await watched.wait(for: .stopped, within: .seconds(2))
  }

  /// What goes wrong right before the stop.
  private func fault(_ number: Int, _ glasses: SimulatedGlasses) {
    switch number % 16 {
    case 3: glasses.fold()
    case 5: glasses.link.cut()
    case 8: glasses.services.captouch.tap()
    case 11: glasses.powerOff()
    case 13: glasses.services.captouch.tapAndHold()
    // The stop of these lasts its second, so they are two.
    case 14 where number < 32: glasses.link.hold(number == 14 ? .toApp : .toGlasses)
    default: break
    }
  }

  /// Each third decodes, so that whatever else depends on the number meets both.
  private static func codec(_ number: Int) -> VideoCodec { number.isMultiple(of: 3) ? .raw : .hvc1 }

  private static func configuration(_ codec: VideoCodec) -> StreamConfiguration {
    StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: 30)
  }
}
