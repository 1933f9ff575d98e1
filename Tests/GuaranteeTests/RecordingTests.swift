import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Testing
import Units

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

  @Test(
    "REC-5, REC-2, SYNC-3: through losses, stalls, a pause and a new start each frame is written or counted, and decodes",
    arguments: ["mp4", "mov", "mkv"])
  func throughTrouble(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      try recorder.record(watched.stream)
      try await start(watched.stream, clock)
      clock.advance(by: .seconds(3))
      glasses.link.apply(.drop, to: .unit, .next(3), on: .video)
      clock.advance(by: .seconds(3))
      glasses.link.mute(.video)
      clock.advance(by: .seconds(2))
      glasses.link.unmute(.video)
      clock.advance(by: .seconds(3))
      glasses.services.captouch.tap()
      clock.advance(by: .seconds(4))
      #expect(watched.stream.state == .paused)
      glasses.services.captouch.tap()
      clock.advance(by: .seconds(3))
      glasses.link.hold(.toApp)
      clock.advance(by: .milliseconds(1100))
      glasses.link.release(.toApp)
      clock.advance(by: .seconds(2))
      watched.stream.stop()
      clock.advance(by: .seconds(1))
      try await start(watched.stream, clock)
      glasses.link.apply(.drop, to: .unit, .random(probability: 0.05), on: .video)
      clock.advance(by: .seconds(10))

      let summary = try await finished(recorder, clock)
      let statistics = summary.statistics
      #expect(statistics.framesIn == watched.frames.values.count, "independent of another listener, and no less")
      #expect(statistics.framesIn == statistics.framesWritten + statistics.framesDropped)
      #expect(statistics.framesDropped == 0)
      #expect(statistics.stampRepairs == 0)
      #expect(watched.stream.statistics.drops.lost > 0)
      try expectDecodable(summary, [statistics.framesWritten])

      // Gaps are shown as gaps: the file's stamps are the stream's.
      let stamps = watched.frames.values.map { CMTimeGetSeconds($0.presentation) }
      let first = try #require(stamps.first)
      let written = try MediaInspector.stamps(file.path)
      #expect(written.count == stamps.count)
      #expect(zip(written, stamps).allSatisfy { abs($0 - (written.first ?? 0) - ($1 - first)) < 0.002 })
      let expected = try #require(stamps.last) - first + 1.0 / 24
      #expect(abs(try #require(try MediaInspector.duration(file.path)) - expected) <= 1.0 / 24 + 0.001)
      session.stop()
    }
  }

  @Test(
    "REC-5, REC-2: what comes in another size goes on in a second file, in Matroska in the same, and all of it decodes",
    arguments: ["mp4", "mov", "mkv"])
  func newSize(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      let counts = Mutex<[Int]>([])
      for resolution: StreamingResolution in [.medium, .low] {
        counts.withLock { $0.append(0) }
        let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: resolution, frameRate: 15)
        let camera = try #require(try session.addCamera(config: configuration))
        let token = camera.stream.videoFramePublisher.listen { frame in
          let isTaken = try? recorder.append(frame.sampleBuffer)
          if isTaken == true { counts.withLock { $0[$0.count - 1] += 1 } }
        }
        try await start(camera.stream, clock)
        clock.advance(by: .seconds(3))
        camera.stop()
        await token.cancel()
        clock.advance(by: .milliseconds(100))
      }
      let summary = try await finished(recorder, clock)
      let statistics = summary.statistics
      let taken = counts.withLock { $0 }
      #expect(taken.allSatisfy { $0 >= 44 })
      #expect(statistics.framesIn == statistics.framesWritten + statistics.framesDropped)
      #expect(statistics.framesWritten == taken.reduce(0, +))
      try expectDecodable(summary, kind == "mkv" ? [taken.reduce(0, +)] : taken)
      session.stop()
    }
  }

  @Test("REC-3: equal, backward and missing stamps never abort a recording; each repair is counted and moves one frame")
  func badStamps() async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath("mp4"))
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let recorder = try Recorder(to: file, options: .init(), timekeeper: clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      let stamps = Mutex<[CMTime]>([])
      let token = stream.videoFramePublisher.listen { frame in
        let own = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
        let (number, last) = stamps.withLock { stamps in
          stamps.append(own)
          return (stamps.count, stamps.dropLast().last ?? own)
        }
        let stamp: CMTime
        switch number {
        case 20: stamp = last
        case 40: stamp = last - CMTime(value: 500, timescale: 1000)
        case 60: stamp = .invalid
        default: stamp = own
        }
        let timing = CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: stamp, decodeTimeStamp: .invalid)
        guard let sample = try? CMSampleBuffer(copying: frame.sampleBuffer, withNewTiming: [timing]) else { return }
        _ = try? recorder.append(sample)
      }
      try await start(stream, clock)
      clock.advance(by: .seconds(5))
      await token.cancel()
      let summary = try await finished(recorder, clock)
      let own = stamps.withLock { $0 }.map { CMTimeGetSeconds($0) }
      #expect(summary.statistics.stampRepairs == 3)
      #expect(summary.statistics.framesWritten == own.count)
      try expectDecodable(summary, [own.count])
      let written = try MediaInspector.stamps(file.path)
      #expect(zip(written, written.dropFirst()).allSatisfy { $0 < $1 })
      let first = try #require(own.first)
      let moved = zip(written, own).map { abs($0 - (written.first ?? 0) - ($1 - first)) }
      #expect(moved.allSatisfy { $0 <= 1.0 / 24 + 0.001 }, "\(moved.max() ?? 0) s")
      session.stop()
    }
  }

  @Test("REC-1: written data is forced to the disk at most a second apart, by a thread of its own, whatever was asked")
  func syncs() async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath("mp4"))
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 30)
      let watched = WatchedStream(try #require(try session.addCamera(config: configuration)).stream)
      var options = Recorder.Options()
      options.syncInterval = .seconds(60)
      let recorder = try Recorder(to: file, options: options)
      try recorder.record(watched.stream)
      watched.stream.start()
      try await watched.wait(forFrames: 45)
      let before = try #require(wakeUps(ofThread: "record-sync"))
      try await watched.wait(forFrames: 45 + 105)
      let after = try #require(wakeUps(ofThread: "record-sync"))
      #expect(after - before >= 3, "\(after - before) in 3.5 s")
      #expect(wakeUps(ofThread: "record") != nil)
      _ = try await recorder.finish()
    }
  }

  /// How often the thread has gone to sleep of its own accord (proc(5), status).
  private func wakeUps(ofThread name: String) -> Int? {
    let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    for task in tasks {
      guard let status = try? String(contentsOfFile: "/proc/self/task/\(task)/status", encoding: .utf8) else {
        continue
      }
      let lines = status.split(separator: "\n").map { $0.split(whereSeparator: \.isWhitespace) }
      guard lines.contains(where: { $0.first == "Name:" && $0.last.map(String.init) == name }) else { continue }
      return lines.first { $0.first == "voluntary_ctxt_switches:" }?.last.flatMap { Int($0) }
    }
    return nil
  }

  /// Each file decodes without a message, begins with a sync sample, and has so many pictures.
  private func expectDecodable(_ summary: RecordingSummary, _ counts: [Int]) throws {
    #expect(summary.files.count == counts.count)
    for (file, count) in zip(summary.files, counts) {
      #expect(try MediaInspector.complaints(file.path) == "")
      #expect(try MediaInspector.pictureCount(file.path) == count)
      let flags = try MediaInspector.probe(file.path, ["-select_streams", "v", "-show_entries", "packet=flags"])
      #expect(flags.first?.hasPrefix("K") == true)
    }
  }

  private func start(_ stream: MWDATCamera.Stream, _ clock: ManualTimekeeper) async throws {
    stream.start()
    for _ in 0..<10_000 where stream.state != .streaming {
      clock.advance(by: .microseconds(100))
      await Task.yield()
    }
    #expect(stream.state == .streaming)
  }

  /// Finishes a recorder whose lanes run when the clock is moved.
  private func finished(_ recorder: Recorder, _ clock: ManualTimekeeper) async throws -> RecordingSummary {
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
