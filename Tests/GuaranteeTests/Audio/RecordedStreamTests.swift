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

/// What a recorder makes of a stream with sound, judged by ffprobe and ffmpeg.
@Suite(.exclusive(.mockKit))
struct RecordedStreamTests {
  private func configuration(_ codec: VideoCodec = .hvc1) -> StreamConfiguration {
    StreamConfiguration(
      videoCodec: codec, audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 1), resolution: .low,
      frameRate: 24)
  }

  /// The sound and pictures of a file: they decode without a message, begin together and last equally long.
  private func expectInStep(_ summary: RecordingSummary) throws {
    let path = try #require(summary.files.first).path
    #expect(try MediaInspector.complaints(path) == "")
    let times = try TrackTimes(path)
    #expect(times.video.isRising && times.audio.isRising)
    #expect(abs(try #require(times.audio.stamps.first) - (try #require(times.video.stamps.first))) <= 0.001)
    #expect(abs(times.audio.end - times.video.end) <= 0.05, "sound ends at \(times.audio.end) s")
    let decoded = try AudioInspector.decodedSpan(path).end
    #expect(abs(decoded - times.video.end) <= 0.05, "decoded, sound ends at \(decoded) s")
    // What the recorder says is what the file has: the last stamp less the first and one frame.
    #expect(abs(summary.statistics.duration.seconds - times.video.length) < 0.002)
    #expect(abs(times.video.length - (try #require(times.video.stamps.last)) - 1.0 / 24) < 0.002)
    #expect(summary.statistics.framesWritten == times.video.stamps.count)
    #expect(abs(try #require(try MediaInspector.duration(path)) - max(times.video.end, times.audio.end)) < 0.002)
    #expect(summary.statistics.audioDropped == .zero)
  }

  @Test(
    "REC-2, REC-5, SYNC-3: a stream is recorded with its sound: both decode without a message, begin and end together",
    arguments: ["mp4", "mov", "mkv"])
  func withAudio(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration())).stream)
      try recorder.record(watched.stream)
      watched.stream.start()
      try await AudioScene.reach(.streaming, watched.stream, clock)
      clock.advance(by: .seconds(6))
      watched.stream.stop()
      clock.advance(by: .seconds(1))
      let summary = try await finish(recorder, clock)
      #expect(summary.statistics.framesDropped == 0)
      #expect(summary.statistics.audioFilled == .zero)
      try expectInStep(summary)
      session.stop()
    }
  }

  @Test(
    "REC-4, SYNC-4: through a pause and lost sound, what follows is in its place; the pictures' track is whole",
    arguments: ["mp4", "mkv"])
  func throughTrouble(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration())).stream)
      try recorder.record(watched.stream)
      watched.stream.start()
      try await AudioScene.reach(.streaming, watched.stream, clock)
      clock.advance(by: .seconds(3))
      glasses.link.apply(.drop, to: .unit, .next(20), on: .audio)
      clock.advance(by: .seconds(3))
      glasses.services.captouch.tap()
      clock.advance(by: .seconds(4))
      glasses.services.captouch.tap()
      clock.advance(by: .seconds(4))
      watched.stream.stop()
      clock.advance(by: .seconds(1))
      let summary = try await finish(recorder, clock)
      #expect(summary.statistics.framesDropped == 0)
      #expect(summary.statistics.framesIn == watched.frames.values.count)
      #expect(summary.statistics.audioFilled > .seconds(4))
      try expectInStep(summary)
      try FlashAndBeepFile.expectInStep(file.path, from: 3.5, seconds: 3, "after the loss")
      try FlashAndBeepFile.expectInStep(file.path, from: 10, seconds: 4, "after the pause")
      session.stop()
    }
  }

  @Test("Sound alone is recorded of any stream that has it, to the second", arguments: ["wav", "flac"])
  func alone(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      let stream = try #require(try session.addCamera(config: configuration(.raw))).stream
      try recorder.record(stream)
      stream.start()
      try await AudioScene.reach(.streaming, stream, clock)
      clock.advance(by: .seconds(5))
      stream.stop()
      clock.advance(by: .seconds(1))
      let summary = try await finish(recorder, clock)
      #expect(try MediaInspector.complaints(file.path) == "")
      #expect(4.9...5.2 ~= summary.statistics.duration.seconds)
      #expect(abs(try #require(try MediaInspector.duration(file.path)) - summary.statistics.duration.seconds) < 0.001)
      session.stop()
    }
  }

  @Test("A stream without sound can't be recorded as sound alone, and says so")
  func silentStream() async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath("wav"))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      let error = #expect(throws: RecorderError.self) { try recorder.record(stream) }
      #expect(error?.name == "recorder.needsAudio")
      session.stop()
    }
  }

  private func finish(_ recorder: Recorder, _ clock: ManualTimekeeper) async throws -> RecordingSummary {
    let outcome = Observed<Result<RecordingSummary, RecorderError>>()
    Task {
      do throws(RecorderError) {
        outcome.record(.success(try await recorder.finish()))
      } catch {
        outcome.record(.failure(error))
      }
    }
    for _ in 0..<100_000 where outcome.values.isEmpty {
      clock.advance(by: .microseconds(10))
      await Task.yield()
    }
    return try #require(outcome.values.first).get()
  }
}
