import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Trust
import Units

/// A bad network between two processes: what is promised of interruptions, on real sockets.
@Suite(
  "Interrupted, across processes", .enabled(if: GlassesProcess.program != nil, "the program was not built"),
  .exclusive(.mockKit))
struct InterruptionTests {
  /// Glasses, and a host that reaches them through a relay.
  private final class Scene: Sendable {
    let glasses: GlassesProcess
    let host: Host
    let conditioner: LinkConditioner
    let relay: LinkRelay
    let identifier: DeviceIdentifier

    init() async throws {
      glasses = try GlassesProcess("--pair")
      let port = try await glasses.port()
      conditioner = LinkConditioner(timekeeper: SystemTimekeeper.shared, seed: 7)
      relay = try LinkRelay(
        on: HostPort(host: "127.0.0.1", port: 0), to: HostPort(host: "127.0.0.1", port: port), through: conditioner
      ) { _ in }
      try relay.start()
      host = try Host()
      let shown = try PairingURI(try await glasses.code())
      let relayed = try PairingURI(
        addresses: shown.addresses, port: try #require(relay.addresses.first).port, device: shown.device,
        name: shown.name, pin: shown.pin, secret: shown.secret)
      identifier = try await host.pair(relayed.revealed())
    }

    deinit { relay.stop() }

    func stream() async throws -> WatchedStream {
      let watched = try WatchedStream(in: try await host.session(with: identifier))
      try await watched.start(frames: 20)
      return watched
    }

    func wait(_ length: Duration) async {
      let lane = SystemTimekeeper.shared.makeLane("pause")
      await SystemTimekeeper.shared.sleep(until: SystemTimekeeper.shared.now + length, on: lane)
      lane.end()
    }
  }

  @Test("STALL-3: a stream whose connections are all cut goes on at once, in the same session", .needsRealTimeSpeed)
  func cut() async throws {
    let scene = try await Scene()
    let watched = try await scene.stream()
    for _ in 0..<3 {
      let count = watched.frames.values.count
      scene.conditioner.cut()
      try await watched.frames.wait("pictures again", within: .seconds(20)) { $0.count >= count + 20 }
    }
    #expect(watched.errors.values.isEmpty && watched.sessionErrors.values.isEmpty)
    #expect(watched.session.state == .started && watched.stream.state == .streaming)
    watched.expectRisingTimes()
  }

  @Test(
    "STALL-3: half-open for two and for six seconds, the stream says so, and goes on by itself at the return",
    .needsRealTimeSpeed, arguments: [2, 6])
  func halfOpen(seconds: Int) async throws {
    let scene = try await Scene()
    let watched = try await scene.stream()
    scene.conditioner.hold(.toApp)
    scene.conditioner.hold(.toGlasses)
    try await watched.states.wait("the stall is told", within: .seconds(20)) { $0.last != .streaming }
    await scene.wait(.seconds(seconds - 1))
    #expect(watched.session.state == .started && watched.errors.values.isEmpty)
    let count = watched.frames.values.count
    scene.conditioner.release(.toApp)
    scene.conditioner.release(.toGlasses)
    try await watched.frames.wait("pictures again", within: .seconds(20)) { $0.count >= count + 5 }
    try await watched.states.wait("streaming again", within: .seconds(20)) { $0.last == .streaming }
    #expect(watched.errors.values.isEmpty && watched.sessionErrors.values.isEmpty)
    #expect(watched.stream.statistics.stalls == 1)
    watched.expectRisingTimes()
  }

  @Test("STALL-6: a cable that stays pulled ends stream and session by a typed error each; put back, all is well again")
  func pulled() async throws {
    let scene = try await Scene()
    let watched = try await scene.stream()
    scene.conditioner.hold(.toApp)
    scene.conditioner.hold(.toGlasses)
    try await watched.sessionStates.wait("the session's end", within: .seconds(60)) { $0.last == .stopped }
    #expect(watched.errors.values == [.deviceNotConnected(scene.identifier)])
    #expect(watched.sessionErrors.values.count == 1)
    scene.conditioner.clear()
    try await scene.host.connected(scene.identifier)
    let next = try WatchedStream(in: try await scene.host.session(with: scene.identifier))
    try await next.start()
  }

  @Test("Pictures from another process are stamped on this host's clock, never later than now")
  func hostClock() async throws {
    let scene = try await Scene()
    let watched = try await scene.stream()
    let frame = try #require(watched.frames.values.last)
    let now = Double(SystemTimekeeper.shared.now.nanoseconds) / 1e9
    let age = now - frame.sampleBuffer.presentationTimeStamp.seconds
    // Late only as far as a busy machine is.
    #expect((0..<5).contains(age), "\(age)")
  }
}
