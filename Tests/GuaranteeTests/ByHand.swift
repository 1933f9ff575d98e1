import Foundation
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Simulated glasses on a clock that the test moves: minutes in milliseconds, the same each time.
///
/// Streams replay pictures that were encoded once, unless the test asks for live encoding. Only for tests that are
/// `.exclusive(.mockKit)`.
func withGlassesByHand(
  feed: URL? = nil, encodesLive: Bool = false, writesPictureHashes: Bool = false, limits: LinkLimits = LinkLimits(),
  deviceClock: DeviceClock = .identity, seed: UInt64 = 1,
  _ test: (SimulatedGlasses, ManualTimekeeper) async throws -> Void
) async throws {
  let clock = ManualTimekeeper()
  MockKit.shared.enable(
    config: MockDeviceKitConfig(),
    options: MockKit.Options(
      timekeeper: clock, seed: seed, replaysCachedUnits: !encodesLive, writesPictureHashes: writesPictureHashes,
      limits: limits))
  // Ended without waiting: nobody moves the clock while a test waits for its end.
  defer {
    MockKit.shared.disable()
    clock.advance(by: .seconds(5))
  }
  let glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: deviceClock)
  glasses.powerOn()
  glasses.don()
  if let feed { glasses.services.camera.setCameraFeed(fileURL: feed) }
  try await test(glasses, clock)
}

/// A started session, by hand.
func startedSession(with glasses: SimulatedGlasses, _ clock: ManualTimekeeper) throws -> DeviceSession {
  let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
  let session = try Wearables.shared.createSession(deviceSelector: selector)
  try session.start()
  clock.advance(by: .milliseconds(100))
  #expect(session.state == .started)
  return session
}

/// A stream that is streaming, by hand.
///
/// The permission is asked for in a task, which runs when it likes: the clock goes in small steps until it has.
func startedStream(
  in session: DeviceSession, _ configuration: StreamConfiguration, _ clock: ManualTimekeeper
) async throws -> WatchedStream {
  let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
  watched.stream.start()
  for _ in 0..<10_000 where watched.stream.state != .streaming {
    clock.advance(by: .microseconds(100))
    await Task.yield()
  }
  #expect(watched.stream.state == .streaming)
  return watched
}
