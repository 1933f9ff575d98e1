import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// Files that a recorder leaves, judged by ffprobe and ffmpeg.
@Suite(.exclusive(.mockKit))
struct RecordingTests {
  @Test(
    "REC-2: a recording begins with a sync sample, decodes without a message, and has the frames that were counted",
    arguments: ["mp4", "mov", "mkv"])
  func decodesElsewhere(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .medium, frameRate: 24)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
      let recorder = try Recorder(to: file)
      try recorder.record(watched.stream)
      watched.stream.start()
      try await watched.wait(forFrames: 48)
      watched.stream.stop()
      try await watched.wait(for: .stopped)
      let summary = try await recorder.finish()
      #expect(summary.statistics.framesIn == summary.statistics.framesWritten + summary.statistics.framesDropped)
      #expect(summary.statistics.framesDropped == 0)

      #expect(try MediaInspector.complaints(file.path) == "")
      let packets = try CommandLineTool.run(
        "ffprobe",
        ["-v", "error", "-select_streams", "v", "-show_entries", "packet=flags", "-of", "csv=p=0", file.path]
      ).output.split(separator: "\n")
      #expect(packets.count == summary.statistics.framesWritten)
      #expect(packets.first?.hasPrefix("K") == true)
    }
  }

  @Test("SYNC-3: a recording lasts from its first to its last frame, and one more")
  func duration() async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath("mp4"))
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 30)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
      let recorder = try Recorder(to: file)
      try recorder.record(watched.stream)
      watched.stream.start()
      try await watched.wait(forFrames: 45)
      watched.stream.stop()
      try await watched.wait(for: .stopped)
      _ = try await recorder.finish()
      let stamps = watched.frames.values.map { CMTimeGetSeconds($0.presentation) }
      let expected = try #require(stamps.last) - (try #require(stamps.first)) + 1.0 / 30
      let text = try CommandLineTool.run(
        "ffprobe", ["-v", "error", "-show_entries", "format=duration", "-of", "csv=p=0", file.path]
      ).output
      let measured = try #require(Double(text.trimmingCharacters(in: .whitespacesAndNewlines)))
      #expect(abs(measured - expected) <= 1.0 / 30 + 0.001)
    }
  }
}
