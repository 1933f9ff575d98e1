import Foundation
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Units

/// The same code on threads and the host's clock: what the manual clock can't show.
///
/// Threads are told by their names, and those of the mock kit have the same: these tests take turns with its tests.
@Suite("Camera on threads", .serialized, .exclusive(.mockKit))
struct RealTimeTests {
  let environment = CameraEnvironment(SystemTimekeeper())
  let tokens = ListenerTokenBag()

  private func startedSession() async throws -> DeviceSession {
    let wearables = SharedWearables(environment: environment)
    let session = try wearables.createSession(
      deviceSelector: SpecificDeviceSelector(device: CameraEnvironment.device))
    let states = Observed<DeviceSessionState>()
    session.statePublisher.listen { states.record($0) }.store(in: tokens)
    try session.start()
    try await states.wait("the session's start") { $0.contains(.started) }
    return session
  }

  @Test("Twenty cameras come and go without a pause, each streams, and no thread of theirs stays (LIFE-3)")
  func cycles() async throws {
    let session = try await startedSession()
    let glasses = try #require(environment.glasses.last)
    for _ in 0..<20 {
      let camera = try #require(try session.addCamera())
      let states = Observed<StreamState>()
      let frames = Observed<Bool>()
      let tokens = ListenerTokenBag()
      camera.stream.statePublisher.listen { states.record($0) }.store(in: tokens)
      camera.stream.videoFramePublisher.listen { _ in frames.record(true) }.store(in: tokens)
      let starts = glasses.streamStarts.count
      camera.stream.start()
      try await poll("the glasses to be asked") { glasses.streamStarts.count > starts }
      glasses.sendPictures(2)
      try await frames.wait("a frame") { !$0.isEmpty }
      try await states.wait("streaming") { $0.contains(.streaming) }
      camera.stop()
      try await states.wait("the stop") { $0.last == .stopped }
      // On a busy machine the next picture may be late enough to be told as a stall, between these and those.
      #expect(states.values.prefix(3) == [.waitingForDevice, .starting, .streaming])
      #expect(states.values.suffix(2) == [.stopping, .stopped])
    }
    session.stop()
    let after = await ProcessResources.settled(within: .seconds(20)) { $0.streamThreads.isEmpty }
    #expect(after.streamThreads.isEmpty)
  }

  @Test("A listener that blocks costs another nothing, and neither keeps the stream from stopping (STALL-5, LIFE-1)")
  func blockedListener() async throws {
    let session = try await startedSession()
    let glasses = try #require(environment.glasses.last)
    let camera = try #require(try session.addCamera())
    let gate = DispatchSemaphore(value: 0)
    let blocked = Observed<Bool>()
    let quick = Observed<Bool>()
    camera.stream.videoFramePublisher.listen { _ in
      blocked.record(true)
      gate.wait()
    }.store(in: tokens)
    camera.stream.videoFramePublisher.listen { _ in quick.record(true) }.store(in: tokens)
    camera.stream.start()
    try await poll("the glasses to be asked") { !glasses.streamStarts.isEmpty }
    for count in 1...12 {
      glasses.sendPictures()
      try await quick.wait("frame \(count)") { $0.count == count }
      try await blocked.wait("the frame that blocks") { !$0.isEmpty }
    }
    #expect(blocked.values.count == 1)
    // 12 came, one is being looked at, three wait.
    #expect(camera.stream.telemetry.drops.listeners == 8)
    camera.stream.stop()
    try await poll("the stop") { camera.stream.state == .stopped }
    gate.signal()
    session.stop()
    tokens.clear()
  }

  @Test("Starts, stops, photos and listeners from many threads at once end in stopped (LIFE-5)")
  func manyThreads() async throws {
    let session = try await startedSession()
    let glasses = try #require(environment.glasses.last)
    let camera = try #require(try session.addCamera())
    let states = Observed<StreamState>()
    camera.stream.statePublisher.listen { states.record($0) }.store(in: tokens)
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for step in 0..<50 {
            switch (worker &+ step) % 5 {
            case 0: camera.stream.start()
            case 1: camera.stream.stop()
            case 2: camera.stream.capturePhoto(format: .jpeg)
            case 3: glasses.sendPictures(2)
            default:
              let token = camera.stream.videoFramePublisher.listen { _ in }
              _ = camera.stream.telemetry
              await token.cancel()
            }
          }
        }
      }
    }
    session.stop()
    try await states.wait("the stop") { $0.last == .stopped }
    var last = StreamState.stopped
    for state in states.values {
      #expect(StreamMachineTests.legal[last]?.contains(state) == true, "\(last) to \(state)")
      last = state
    }
  }

  /// Looks again every few milliseconds: for what nothing announces.
  private func poll(_ what: String, until isTrue: () -> Bool) async throws {
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("test poll")
    defer { lane.end() }
    let deadline = timekeeper.now + .seconds(20)
    while !isTrue() {
      guard timekeeper.now < deadline else { throw Overdue(what: what) }
      await timekeeper.sleep(until: timekeeper.now + .milliseconds(2), on: lane)
    }
  }

  private struct Overdue: Error { let what: String }
}
