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

/// Flash and beep over a long time, as listeners see and hear them and as `ffmpeg` finds them in a recording made of the
/// same stream.
@Suite(.exclusive(.mockKit))
struct RecordedSyncTests {
  struct Run: Sendable, CustomTestStringConvertible {
    let container: String
    let minutes: Int
    let clocks: SyncTests.Clocks

    init(_ container: String, minutes: Int, _ clocks: SyncTests.Clocks) {
      self.container = container
      // Half an hour takes the sanitizer a quarter of one.
      self.minutes = ThreadSanitizer.isOn ? min(minutes, 2) : minutes
      self.clocks = clocks
    }

    var testDescription: String { "\(minutes) minutes of \(container), \(clocks.testDescription)" }
  }

  private static let configuration = StreamConfiguration(
    videoCodec: .hvc1, audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 1), resolution: .low, frameRate: 2)

  @Test(
    "SYNC-2: flash and beep are within 20 ms at the start and after 30 minutes, as heard and in the recording, though the clocks of glasses and microphone run off",
    arguments: [
      Run("mp4", minutes: 30, .init(device: 300, audio: 300, offset: .seconds(36_000))),
      Run("mkv", minutes: 30, .init(device: -300, audio: -300, offset: .seconds(-36_000))),
      Run("mov", minutes: 2, .init(device: -300, audio: 300, offset: .seconds(5))),
    ])
  func longRecording(run: Run) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(run.container))
    let last = Double(60 * run.minutes)
    try await withGlassesByHand(deviceClock: run.clocks.deviceClock) { glasses, clock in
      glasses.agent.microphone.clockSkew = run.clocks.audio
      let session = try startedSession(with: glasses, clock)
      let stream = try #require(try session.addCamera(config: Self.configuration)).stream
      var options = Recorder.Options()
      // Minutes of the simulation come at once.
      options.queueSpan = .seconds(3600)
      options.queueBytes = 512 << 20
      // Both ways of keeping time in a file: packets of coded sound, and as many samples as there are.
      if run.container == "mkv" { options.audio = .pcm }
      let recorder = try Recorder(to: file, options: options)
      try recorder.record(stream)
      let watch = FlashAndBeep(stream)
      stream.start()
      try await AudioScene.reach(.streaming, stream, clock)
      let start = clock.now
      try await watch.expectInStep(clock, "at the start")
      clock.advance(by: .seconds(last) - (clock.now - start))
      try await watch.expectInStep(clock, "after \(run.minutes) minutes")
      clock.advance(by: .seconds(2))
      #expect(watch.holes.isEmpty)
      // 16,000 a second of the host's time, and not of the microphone's: else a second and more would be too many.
      let length = (clock.now - start).seconds
      #expect(abs(Double(watch.samples) - length * 16_000) < 0.1 * 16_000)
      #expect(stream.state == .streaming)
      await watch.end()
      session.stop()
      clock.advance(by: .seconds(1))
      let summary = try await recorder.finish()
      #expect(summary.statistics.framesDropped == 0)
    }
    for start in [0.5, last] {
      try FlashAndBeepFile.expectInStep(file.path, from: start, "in the file from \(start) s on")
      #expect(try MediaInspector.complaints(file.path, in: .init(start: start, seconds: 12)) == "")
    }
    let times = try TrackTimes(file.path, from: last)
    let (video, audio) = (times.video.end, times.audio.end)
    #expect(abs(video - audio) <= 0.05, "pictures end at \(video) s, sound at \(audio) s")
  }
}
