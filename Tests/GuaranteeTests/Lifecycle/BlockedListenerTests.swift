import Dispatch
import Foundation
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// Listeners of states and photos that never return: they keep waiting who shares their thread, and nothing else.
@Suite(.exclusive(.mockKit))
struct BlockedListenerTests {
  /// What a listener waits at until the test is over.
  private final class Door: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    let visits = Observed<Void>()

    func wait() {
      visits.record(())
      semaphore.wait()
    }

    func open() { for _ in 0..<100 { semaphore.signal() } }
  }

  private let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)

  private func withCamera(
    _ body: (SimulatedGlasses, DeviceSession, MWDATCamera.Stream, ListenerTokenBag, Door) async throws -> Void
  ) async throws {
    let door = Door()
    defer { door.open() }
    try await withGlasses { glasses in
      let glasses = try #require(glasses as? SimulatedGlasses)
      let session = try await startedSession(with: glasses)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      let tokens = ListenerTokenBag()
      do {
        try await body(glasses, session, stream, tokens, door)
      } catch {
        door.open()
        throw error
      }
      door.open()
    }
  }

  /// For what is told to the listener alone that stands in its closure: looks for it.
  private func expect(_ what: Comment, _ isSo: @Sendable () -> Bool) async {
    _ = await ProcessResources.settled { _ in isSo() }
    #expect(isSo(), what)
  }

  @Test("STALL-5: a stream starts, shows its pictures and stops though a listener of its states never returns")
  func stateListener() async throws {
    try await withCamera { _, session, stream, tokens, door in
      stream.statePublisher.listen { _ in door.wait() }.store(in: tokens)
      let frames = Observed<Bool>()
      stream.videoFramePublisher.listen { _ in frames.record(true) }.store(in: tokens)
      stream.start()
      try await frames.wait("pictures") { $0.count > 10 }
      #expect(!door.visits.values.isEmpty)
      #expect(stream.state == .streaming)
      stream.stop()
      await expect("the stream stops") { stream.state == .stopped }
    }
  }

  @Test("STALL-5: states are told though a listener for photos never returns")
  func photoListener() async throws {
    try await withCamera { glasses, _, stream, tokens, door in
      stream.photoDataPublisher.listen { _ in door.wait() }.store(in: tokens)
      let watched = WatchedStream(stream)
      stream.start()
      try await watched.wait(for: .streaming)
      #expect(stream.capturePhoto(format: .jpeg))
      try await door.visits.wait("a photo") { !$0.isEmpty }
      glasses.link.mute(.video)
      try await watched.wait(for: .starting)
      glasses.link.clear()
    }
  }

  @Test(
    "LIFE-7: a stream pauses with its session and goes on with it though a listener of the session's states never returns"
  )
  func sessionListener() async throws {
    try await withCamera { glasses, session, stream, tokens, door in
      session.statePublisher.listen { if $0 == .paused { door.wait() } }.store(in: tokens)
      let watched = WatchedStream(stream)
      stream.start()
      try await watched.wait(for: .streaming)
      glasses.services.captouch.tap()
      try await watched.wait(for: .paused)
      try await door.visits.wait("the session's listener") { !$0.isEmpty }
      glasses.services.captouch.tap()
      try await watched.wait(for: .streaming)
      #expect(watched.errors.isEmpty)
    }
  }

  @Test("LIFE-1: a session stops, and its stream with it, though a listener of its states never returns")
  func stoppedSession() async throws {
    try await withCamera { glasses, session, stream, tokens, door in
      session.statePublisher.listen { _ in door.wait() }.store(in: tokens)
      let watched = WatchedStream(stream)
      stream.start()
      try await watched.wait(for: .streaming)
      session.stop()
      try await watched.wait(for: .stopped)
      await expect("the session stops") { session.state == .stopped }
      await expect("the glasses have let go") { glasses.agent.sessionCount == 0 }
    }
  }
}
