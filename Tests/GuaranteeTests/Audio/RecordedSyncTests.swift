import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Flash and beep in recorded files, as `ffmpeg` sees and hears them.
@Suite(.exclusive(.mockKit))
struct RecordedSyncTests {
  @Test(
    "SYNC-2: flash and beep of a recording are within 20 ms at its start and after 30 minutes, and both tracks are as long",
    arguments: [(container: "mp4", minutes: 30), ("mkv", 2), ("mov", 2)])
  func longRecording(container: String, minutes: Int) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(container))
    let deviceClock = DeviceClock(offset: .seconds(-36_000), partsPerMillion: container == "mp4" ? 300 : -300)
    try await withGlassesByHand(deviceClock: deviceClock) { glasses, clock in
      glasses.agent.microphone.clockSkew = container == "mp4" ? 300 : -300
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(
        videoCodec: .hvc1, audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 1), resolution: .low,
        frameRate: 7)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      var options = Recorder.Options()
      // Minutes of the simulation come at once.
      options.queueSpan = .seconds(3600)
      options.queueBytes = 512 << 20
      let recorder = try Recorder(to: file, options: options)
      try recorder.record(stream)
      stream.start()
      for _ in 0..<10_000 where stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      clock.advance(by: .seconds(60 * minutes + 12))
      #expect(stream.state == .streaming)
      session.stop()
      clock.advance(by: .seconds(1))
      let summary = try await recorder.finish()
      #expect(summary.statistics.framesDropped == 0)
    }
    for start in [0.5, 60 * Double(minutes)] {
      let distances = try FlashAndBeepFile.distances(in: file.path, from: start, seconds: 8)
      #expect(distances.count >= 6, "only \(distances.count) pairs from \(start) s on")
      let worst = distances.map(abs).max() ?? .infinity
      #expect(worst <= 0.020, "\(worst * 1000) ms apart from \(start) s on")
    }
    let video = try #require(try Self.end(of: "v:0", in: file.path))
    let audio = try #require(try Self.end(of: "a:0", in: file.path))
    #expect(abs(video - audio) <= 0.05 + 1.0 / 7, "pictures end at \(video) s, sound at \(audio) s")
    #expect(try MediaInspector.complaints(file.path) == "")
  }

  /// When a track's last packet begins.
  private static func end(of track: String, in path: String) throws -> Double? {
    try MediaInspector.probe(path, ["-select_streams", track, "-show_entries", "packet=pts_time"]).last
      .flatMap { Double($0) }
  }
}
