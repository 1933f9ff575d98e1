import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Units

/// How sound ends, rests and goes on.
@Suite(.exclusive(.mockKit))
struct AudioEndTests {
  @Test(
    "AUD-5: a stop delivers what was captured up to it, before the stream is stopped, on fast links and slow ones",
    arguments: [0, 80, 400])
  func tail(latency: Int) async throws {
    try await AudioScene.run { scene in
      scene.glasses.link.setLatency(.milliseconds(latency), .toApp)
      scene.clock.walk(.milliseconds(2_007))
      let asked = scene.clock.now
      let atEnd = Mutex<Int?>(nil)
      let token = scene.stream.statePublisher.listen { [heard = scene.heard] state in
        if state == .stopped { atEnd.withLock { $0 = heard.frames.count } }
      }
      scene.stream.stop()
      scene.clock.walk(.seconds(2), by: .milliseconds(1), until: { scene.stream.state == .stopped })
      scene.clock.advance(by: .milliseconds(1))
      let end = try #require(scene.heard.end)
      #expect(abs((end - asked).seconds) <= 0.001, "\(end - asked)")
      scene.clock.walk(.seconds(1))
      #expect(atEnd.withLock { $0 } == scene.heard.frames.count)
      #expect(scene.heard.faults() == [])
      #expect(scene.heard.frames.allSatisfy { $0.missing == 0 })
      #expect(scene.watched.errors == [])
      withExtendedLifetime(token) {}
    }
  }

  @Test(
    "AUD-5: a listener that is slow has the tail too, before the stream is stopped; one that hangs holds nothing up")
  func slowTail() async throws {
    for hangs in [false, true] {
      try await withGlasses { glasses in
        let session = try await startedSession(with: glasses)
        let camera = try #require(try session.addCamera(config: AudioScene.configuration()))
        let gate = Gate(isOpen: true)
        let watched = WatchedStream(camera.stream)
        let heard = HeardAudio(camera.stream, meanwhile: { _ in gate.wait() })
        let atEnd = Observed<Int>()
        let token = camera.stream.statePublisher.listen { state in
          if state == .stopped { atEnd.record(heard.frames.count) }
        }
        camera.stream.start()
        try await watched.wait(for: .streaming)
        try await watched.wait(forFrames: 5)
        gate.close()
        try await watched.wait(forFrames: watched.frames.values.count + 3)
        camera.stream.stop()
        if !hangs { gate.open() }
        try await watched.wait(for: .stopped, within: .seconds(2))
        if hangs { gate.open() }
        let count = try await atEnd.first()
        if !hangs {
          #expect(heard.frames.count == count)
          #expect(heard.faults() == [])
        }
        await token.cancel()
        await heard.cancel()
        session.stop()
      }
    }
  }

  @Test("SYNC-4: in a pause nothing is heard; then the hole is counted, marked once, and stamps are the clock's")
  func pause() async throws {
    try await AudioScene.run { scene in
      for round in 1...3 {
        scene.clock.walk(.milliseconds(1_990))
        let before = scene.heard.frames.count
        scene.glasses.services.captouch.tap()
        scene.clock.walk(.milliseconds(20))
        #expect(scene.stream.state == .paused)
        scene.clock.walk(.seconds(round * 4))
        #expect(scene.heard.frames.count - before <= 1)
        scene.glasses.services.captouch.tap()
        scene.clock.walk(.seconds(1))
        #expect(scene.stream.state == .streaming)
        let marked = scene.heard.frames.filter(\.isDiscontinuity)
        try #require(marked.count == round)
        #expect(Double(marked[round - 1].missing) / 16_000 > Double(round * 4) - 0.2)
        let last = try #require(scene.heard.frames.last)
        #expect(scene.clock.now - last.start <= .milliseconds(45))
      }
      #expect(scene.heard.faults() == [])
      #expect(scene.heard.frames.allSatisfy { $0.state == .streaming })
      #expect(scene.watched.errors == [])
    }
  }

  @Test("STALL-1, STALL-3: sound alone that stops is told within a second, with its name, and told when it comes again")
  func stall() async throws {
    try await AudioScene.run { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.clock.walk(.seconds(2))
      scene.glasses.link.mute(.audio)
      let frames = scene.watched.frames.values.count
      scene.clock.walk(.milliseconds(1_060))
      #expect(scene.stream.state == .starting)
      #expect(scene.watched.frames.values.count - frames >= 14, "pictures go on")
      let began = try #require(health.values.first { $0.kind == .stallBegan })
      #expect(began.text == "sound" && "\(began)".contains("no sound for 1.0"))
      scene.clock.walk(.seconds(2))
      scene.glasses.link.unmute(.audio)
      scene.clock.walk(.milliseconds(100))
      #expect(scene.stream.state == .streaming)
      #expect(scene.watched.states.suffix(3) == [.streaming, .starting, .streaming])
      #expect(scene.heard.frames.filter(\.isDiscontinuity).count == 1)
      #expect(scene.heard.faults() == [])
      #expect(scene.stream.statistics.stalls == 1)
      #expect(scene.watched.errors == [])
      withExtendedLifetime(token) {}
    }
  }

  @Test("STALL-4: sound that does not come again ends the stream by one audioStreamingError")
  func stallEnds() async throws {
    try await AudioScene.run { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.clock.walk(.seconds(2))
      scene.glasses.link.mute(.audio)
      scene.clock.walk(.seconds(12))
      #expect(scene.watched.errors == [.audioStreamingError])
      #expect(
        scene.watched.events.values.suffix(3) == [
          .error(.audioStreamingError), .state(.stopping), .state(.stopped),
        ])
      let failed = try #require(health.values.first { $0.kind == .failed })
      #expect(failed.error?.stage == .recovery && failed.text?.contains("sound") == true)
      withExtendedLifetime(token) {}
    }
  }

  @Test("LIFE-2: a stream that is started again has sound again, of its own alone")
  func restarts() async throws {
    try await AudioScene.run { scene in
      for round in 1...5 {
        scene.clock.walk(.milliseconds(990))
        #expect(scene.stream.state == .streaming)
        let count = scene.heard.frames.count
        scene.stream.stop()
        scene.clock.walk(.milliseconds(100))
        #expect(scene.stream.state == .stopped && scene.heard.frames.count - count <= 1)
        scene.stream.start()
        try await AudioScene.reach(.streaming, scene.stream, scene.clock)
        // The first frame of a start follows nothing.
        #expect(scene.heard.frames.filter(\.isDiscontinuity).isEmpty, "round \(round)")
      }
    }
  }

  @Test("A token that is cancelled before the camera stops hears nothing more")
  func cancelled() async throws {
    try await AudioScene.run { scene in
      scene.clock.walk(.seconds(1))
      let count = scene.heard.frames.count
      await scene.heard.cancel()
      scene.camera.stop()
      scene.clock.walk(.seconds(1))
      #expect(scene.heard.frames.count == count)
    }
  }
}
