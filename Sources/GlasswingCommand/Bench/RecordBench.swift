import Foundation
import GlassesAgent
import Glasswing
import LinkProtocol
import MWDATCamera
import MediaEncoding
import MediaEngine
import PortableMedia
import Units

/// What recording costs: the processor's share at a stream's pace, and how fast a file can be recorded anew, beside
/// `ffmpeg -c copy` over the same file in the same run.
struct RecordBench {
  struct Figures: BenchFigures {
    let setting: BenchSetting
    /// Share of one core while recording at the stream's pace, making the samples included.
    let cpuPercent: Double
    /// How long the caller of `append` is held up.
    let append: Spread
    /// Length of the file that is recorded anew.
    let fileSeconds: Double
    let fileBytes: Int
    /// Reading the file, recording it, and having it on the disk.
    let wall: Double
    let timesRealTime: Double
    /// The same by ffmpeg, its start included; nil without ffmpeg.
    let ffmpegWall: Double?
    let ffmpegTimesRealTime: Double?
    let dropped: Int

    enum CodingKeys: String, CodingKey {
      case setting, append, dropped
      case cpuPercent = "cpu_percent"
      case fileSeconds = "file_seconds"
      case fileBytes = "file_bytes"
      case wall = "wall_ms"
      case timesRealTime = "times_real_time"
      case ffmpegWall = "ffmpeg_wall_ms"
      case ffmpegTimesRealTime = "ffmpeg_times_real_time"
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(setting, forKey: .setting)
      try container.encode(cpuPercent, forKey: .cpuPercent)
      try container.encode(append, forKey: .append)
      try container.encode(fileSeconds, forKey: .fileSeconds)
      try container.encode(fileBytes, forKey: .fileBytes)
      try container.encode(wall, forKey: .wall)
      try container.encode(timesRealTime, forKey: .timesRealTime)
      try container.encode(ffmpegWall, forKey: .ffmpegWall)
      try container.encode(ffmpegTimesRealTime, forKey: .ffmpegTimesRealTime)
      try container.encode(dropped, forKey: .dropped)
      try append.encode(to: encoder)
    }

    var text: String {
      let decimal = ProgressLine.decimal
      var lines = ["recording  \(decimal(cpuPercent, 2)) % of a core at the stream's pace"]
      lines.append("append     \(append.text)")
      lines.append(
        "from a file of \(decimal(fileSeconds, 0)) s, \(fileBytes) bytes: \(decimal(wall, 0)) ms, "
          + "\(decimal(timesRealTime, 0)) x real time")
      if let ffmpegWall, let ffmpegTimesRealTime {
        lines.append("ffmpeg -c copy: \(decimal(ffmpegWall, 0)) ms, \(decimal(ffmpegTimesRealTime, 0)) x real time")
      } else {
        lines.append("ffmpeg is not there to compare with")
      }
      lines.append("\(dropped) dropped; \(setting.text)")
      return lines.joined(separator: "\n") + "\n"
    }
  }

  /// Encoded once, and repeated to make the file.
  private static let encodedSeconds = 10
  private static let repetitions = 12

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let setting: BenchSetting

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    setting = BenchSetting(arguments)
  }

  func run() async throws(CommandFailure) -> Figures {
    let folder = FileManager.default.temporaryDirectory.appending(path: "glasswing-bench-\(UUID().uuidString)")
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      return try await measure(in: folder)
    } catch let error as CommandFailure {
      throw error
    } catch let error as RecorderError {
      throw CommandFailure(recording: error)
    } catch {
      throw CommandFailure(subject: "bench", "\(error)", next: "see glasswing doctor")
    }
  }

  private func measure(in folder: URL) async throws -> Figures {
    let samples = try encodeSamples()
    let (cpu, appends) = try await pace(samples, into: folder.appending(path: "paced.mp4"))
    let source = folder.appending(path: "source.mp4")
    let recorder = try Recorder(to: source)
    for repetition in 0..<Self.repetitions {
      for sample in samples { try recorder.append(try shift(sample, by: repetition * Self.encodedSeconds)) }
    }
    let made = try await recorder.finish()
    try checkNotInterrupted()

    let begun = timekeeper.now
    let dropped = try await record(source, into: folder.appending(path: "again.mp4"))
    let wall = timekeeper.now - begun
    let ffmpeg = try copyByFFmpeg(source, into: folder.appending(path: "copy.mp4"))
    let length = made.statistics.duration
    guard let append = Spread(appends) else {
      throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure")
    }
    return Figures(
      setting: setting, cpuPercent: (cpu * 100).rounded() / 100, append: append,
      fileSeconds: (length.seconds * 1000).rounded() / 1000, fileBytes: made.statistics.bytes,
      wall: Spread.milliseconds(wall), timesRealTime: (length.seconds / wall.seconds).rounded(),
      ffmpegWall: ffmpeg.map(Spread.milliseconds),
      ffmpegTimesRealTime: ffmpeg.map { (length.seconds / $0.seconds).rounded() }, dropped: dropped)
  }

  private func checkNotInterrupted() throws(CommandFailure) {
    guard Interruption.shared.signal == nil else {
      throw CommandFailure(.cutOff, subject: "bench", "interrupted before it was done")
    }
  }

  // MARK: Samples

  private func encodeSamples() throws -> [CMSampleBuffer] {
    let rate = Double(setting.framesPerSecond)
    let source = try PatternSource(size: setting.size, frameRate: rate)
    let encoder = try HEVCEncoder(
      HEVCEncoder.Configuration(
        size: setting.size, frameRate: rate,
        bitrate: arguments.bitrate(.bitrate) ?? VideoBitrate.default(for: setting.size, frameRate: rate),
        keyframeInterval: VideoPipeline.keyframeInterval))
    defer { encoder.close() }
    var format: CMFormatDescription?
    var samples: [CMSampleBuffer] = []
    for number in 0..<Self.encodedSeconds * setting.framesPerSecond {
      let time: Duration = .seconds(1) * number / setting.framesPerSecond
      let unit = try encoder.encode(try source.picture(at: time).buffer)
      let known = try format ?? Samples.format(ofSyncUnit: unit.payload)
      format = known
      if let sample = try Samples.sample(unit.payload, known, at: time, isSync: unit.isSync) { samples.append(sample) }
    }
    return samples
  }

  private func shift(_ sample: CMSampleBuffer, by seconds: Int) throws -> CMSampleBuffer {
    let time = CMSampleBufferGetPresentationTimeStamp(sample)
    let shifted = CMTimeAdd(time, CMTime(value: Int64(seconds), timescale: 1))
    return try CMSampleBuffer(
      copying: sample,
      withNewTiming: [
        CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: shifted, decodeTimeStamp: .invalid)
      ])
  }

  // MARK: Measurements

  /// At the stream's pace; the share of a core that the process used meanwhile, and how long each call took.
  private func pace(_ samples: [CMSampleBuffer], into file: URL) async throws -> (Double, [Duration]) {
    let length = arguments.duration(.seconds) ?? .seconds(5)
    let recorder = try Recorder(to: file)
    let lane = timekeeper.makeLane("bench-record")
    defer { lane.end() }
    var appends: [Duration] = []
    let cpuBefore = ProcessorTime.now
    let begun = timekeeper.now
    for (number, sample) in samples.enumerated() {
      let due = begun + .seconds(1) * number / setting.framesPerSecond
      guard due - begun < length, Interruption.shared.signal == nil else { break }
      await timekeeper.sleep(until: due, on: lane)
      let start = timekeeper.now
      try recorder.append(sample)
      appends.append(timekeeper.now - start)
    }
    let cpu = ProcessorTime.now - cpuBefore
    let wall = timekeeper.now - begun
    _ = try await recorder.finish()
    return (cpu.seconds / max(wall.seconds, 0.001) * 100, appends)
  }

  private func record(_ source: URL, into file: URL) async throws -> Int {
    let reader = try AccessUnitReader(path: source.path)
    let format = try CMFormatDescription.hevc(parameterSets: reader.parameterSets)
    let recorder = try Recorder(to: file)
    while let unit = try reader.next() {
      guard let sample = try Samples.sample(unit.bytes, format, at: unit.presentation, isSync: unit.isSync) else {
        continue
      }
      try recorder.append(sample)
    }
    return try await recorder.finish().statistics.framesDropped
  }

  private func copyByFFmpeg(_ source: URL, into file: URL) throws -> Duration? {
    guard let ffmpeg = SystemChecks.path(of: "ffmpeg") else { return nil }
    let process = Process()
    process.executableURL = URL(filePath: ffmpeg)
    process.arguments = ["-v", "error", "-i", source.path, "-c", "copy", "-y", file.path]
    let begun = timekeeper.now
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { return nil }
    return timekeeper.now - begun
  }
}
