import Glasswing
import MWDATCamera
import TestSupport
import Testing
import Units

/// Photos beside sound.
@Suite("Photos while sound is on", .exclusive(.mockKit))
struct PhotoWithSoundTests {
  @Test("PHOTO-3: a photo comes while sound is on; sound misses nothing, video pauses for two frame intervals at most")
  func soundGoesOn() async throws {
    try await AudioScene.run { scene in
      let health = Observed<StreamHealthEvent>()
      let token = scene.stream.healthPublisher.listen { health.record($0) }
      scene.clock.advance(by: .milliseconds(500))
      let begin = scene.clock.now
      let before = scene.heard.total
      for format in [PhotoCaptureFormat.jpeg, .heic] {
        let photos = scene.watched.photos.values.count
        #expect(scene.stream.capturePhoto(format: format))
        scene.clock.advance(by: .seconds(1))
        #expect(scene.watched.photos.values.dropFirst(photos).map(\.format) == [format])
      }
      #expect(scene.stream.state == .streaming && scene.watched.errors == [] && health.values.map(\.kind) == [])

      let expected = Int((scene.clock.now - begin).seconds * 16_000)
      #expect(abs(scene.heard.total - before - expected) <= 320, "\(scene.heard.total - before), not \(expected)")
      #expect(scene.heard.faults() == [])
      #expect(scene.heard.frames.allSatisfy { $0.missing == 0 && !$0.isDiscontinuity && !$0.isFilled })
      #expect(scene.heard.frames.suffix(50).allSatisfy { !$0.isSilent })
      #expect(scene.stream.statistics.audio?.missingSamples == 0)

      let stamps = scene.watched.frames.values.map { CMTimeGetSeconds($0.presentation) }
      let longest = zip(stamps, stamps.dropFirst()).map { $1 - $0 }.max() ?? .infinity
      #expect(longest <= 2.0 / 15 + 0.001 && stamps.count >= 15 * 2)
      withExtendedLifetime(token) {}
    }
  }
}
