import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Testing
import Units

/// Several listeners for sound, slow ones among them.
@Suite(.exclusive(.mockKit))
struct AudioListenerTests {
  @Test("A slow listener loses its own frames, counted, with a mark; pictures and other listeners do not notice")
  func slow() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let camera = try #require(try session.addCamera(config: AudioScene.configuration()))
      let gate = Gate(isOpen: true)
      // How many pictures the glasses have sent that no listener has had: those of a busy machine are sent later too.
      let sent = Atomic<Int>(0)
      let late = Observed<Int>()
      let agent = try #require(glasses as? SimulatedGlasses).agent
      agent.observeUnits { _ in sent.wrappingAdd(1, ordering: .relaxed) }
      let watched = WatchedStream(camera.stream)
      let pictures = camera.stream.videoFramePublisher.listen { _ in
        late.record(sent.load(ordering: .relaxed) - late.values.count - 1)
      }
      let slow = HeardAudio(camera.stream, meanwhile: { _ in gate.wait() })
      let quick = HeardAudio(camera.stream)
      let health = Observed<StreamHealthEvent>()
      let token = camera.stream.healthPublisher.listen { health.record($0) }
      camera.stream.start()
      try await watched.wait(for: .streaming)
      try await watched.wait(forFrames: 5)
      gate.close()
      // A second and more.
      try await watched.wait(forFrames: watched.frames.values.count + 18)
      gate.open()
      try await watched.wait(forFrames: watched.frames.values.count + 8)
      #expect(slow.faults() == [])
      #expect(quick.faults() == [])
      let marked = slow.frames.filter(\.isDiscontinuity)
      #expect(!marked.isEmpty && marked.allSatisfy { $0.missing > 0 })
      #expect(quick.frames.allSatisfy { $0.missing == 0 })
      let listeners = camera.stream.audioListeners
      #expect(listeners.map(\.number) == [1, 2])
      #expect(listeners[1].dropped == 0 && listeners[0].dropped > 5)
      #expect(slow.frames.reduce(0) { $0 + $1.missing } == listeners[0].dropped * 320)
      #expect(camera.stream.statistics.audio?.listeners == UInt64(listeners[0].dropped))
      #expect(camera.stream.statistics.drops.listeners == 0)
      #expect((late.values.max() ?? .max) <= 8, "\(late.values)")
      #expect(camera.stream.statistics.stalls == 0)
      #expect(health.values.contains { $0.kind == .audioListenerBehind && $0.listener == 1 })
      #expect(!health.values.contains { $0.kind == .audioGap })
      await slow.cancel()
      await quick.cancel()
      await token.cancel()
      await pictures.cancel()
      session.stop()
    }
  }

  @Test("Two listeners have the same frames; one that comes late begins at once, and one that leaves changes nothing")
  func two() async throws {
    try await AudioScene.run(keepsSamples: true) { scene in
      scene.clock.walk(.seconds(1))
      let late = HeardAudio(scene.stream, keepsSamples: true)
      let came = scene.clock.now
      scene.clock.walk(.milliseconds(45))
      let first = try #require(late.frames.first)
      #expect(first.start >= came - .milliseconds(45))
      scene.clock.walk(.seconds(1))
      let common = late.frames.count
      #expect(scene.heard.frames.suffix(common).map(\.start) == late.frames.map(\.start))
      #expect(Array(scene.heard.samples[0].suffix(late.samples[0].count)) == late.samples[0])
      await late.cancel()
      scene.clock.walk(.seconds(1))
      #expect(late.frames.count == common)
      #expect(scene.heard.faults() == [])
      #expect(scene.heard.frames.allSatisfy { $0.missing == 0 })
    }
  }

  @Test("Sound that nobody listens for is neither decoded nor made into frames, and is there when somebody does")
  func nobody() async throws {
    try await AudioScene.run { scene in
      await scene.heard.cancel()
      scene.clock.walk(.seconds(1))
      let before = try #require(scene.stream.statistics.audio)
      scene.clock.walk(.seconds(5))
      let after = try #require(scene.stream.statistics.audio)
      #expect(after.frames == before.frames && after.units >= before.units + 249)
      #expect(scene.stream.state == .streaming)
      let late = HeardAudio(scene.stream)
      scene.clock.walk(.milliseconds(45))
      #expect(!late.frames.isEmpty && late.faults() == [])
    }
  }

  @Test("Frames that are kept stay as they were, whatever comes after")
  func kept() async throws {
    try await AudioScene.run { scene in
      let kept = Observed<AudioFrame>()
      let token = scene.stream.audioFramePublisher.listen { kept.record($0) }
      func sums() -> [Float] {
        kept.values.prefix(20).map { frame in
          (0..<Int(frame.pcmBuffer.frameLength)).reduce(0) { $0 + (frame.pcmBuffer.floatChannelData?[0][$1] ?? 0) }
        }
      }
      scene.clock.walk(.seconds(1))
      let before = sums()
      scene.clock.walk(.seconds(5))
      #expect(sums() == before)
      withExtendedLifetime(token) {}
    }
  }
}
