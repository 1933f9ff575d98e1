import Foundation
import Glasswing
import GlasswingTesting
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Recordings that end while the stream goes on.
@Suite(.exclusive(.mockKit))
struct RecordingEndTests {
  @Test(
    "REC-5: what a stream has delivered before `finish` is in the file, though the recorder has not heard it yet",
    arguments: ["mp4", "wav"])
  func deliveredBefore(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      let stream = try #require(
        try session.addCamera(config: AudioScene.configuration(frameRate: 24))
      ).stream
      let outcome = Observed<Result<RecordingSummary, RecorderError>>()
      let pictures = Observed<Void>()
      let audio = Observed<Int>()
      // Both hear before the recorder does, in whose mailboxes the same is still waiting then.
      let tokens = ListenerTokenBag()
      stream.videoFramePublisher.listen { _ in
        pictures.record(())
        if kind == "mp4", pictures.values.count == 30 { Self.beginFinish(recorder, outcome) }
      }.store(in: tokens)
      stream.audioFramePublisher.listen { frame in
        audio.record(Int(frame.pcmBuffer.frameLength))
        if kind == "wav", audio.values.count == 50 { Self.beginFinish(recorder, outcome) }
      }.store(in: tokens)
      try recorder.record(stream)
      stream.start()
      try await AudioScene.reach(.streaming, stream, clock)
      // On a thread of its own, since a listener blocks it.
      let advanced = Observed<Void>()
      Thread.detachNewThread {
        clock.advance(by: .seconds(3))
        advanced.record(())
      }
      try await advanced.wait("the end of the clock's work") { !$0.isEmpty }
      while outcome.values.isEmpty {
        clock.settle()
        await Task.yield()
      }
      let statistics = try #require(outcome.values.first).get().statistics
      #expect(pictures.values.count > 30 && audio.values.count > 50, "the stream went on")
      if kind == "mp4" {
        #expect(statistics.framesIn == 30 && statistics.framesWritten == 30)
        #expect(try MediaInspector.pictureCount(file.path) == 30)
      } else {
        let expected = audio.values.prefix(50).reduce(0, +)
        #expect(try AudioInspector.samples(file.path, rate: 16_000).count == expected)
        #expect(statistics.audioDropped == .zero)
      }
      tokens.clear()
      session.stop()
    }
  }

  /// Returns when `finish` has been called, and not when it has returned.
  private static func beginFinish(
    _ recorder: Recorder, _ outcome: Observed<Result<RecordingSummary, RecorderError>>
  ) {
    Task {
      do throws(RecorderError) {
        outcome.record(.success(try await recorder.finish()))
      } catch {
        outcome.record(.failure(error))
      }
    }
    // From then on it refuses everything by hand, also nothing.
    guard let format = AVAudioFormat(standardFormatWithSampleRate: 16_000, channels: 1),
      let nothing = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 1)
    else { return }
    while (try? recorder.append(nothing, at: .invalid)) != nil { sched_yield() }
  }
}
