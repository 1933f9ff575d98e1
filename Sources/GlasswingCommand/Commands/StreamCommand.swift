import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Units

/// `glasswing stream`: a stream and its figures, its sound into a file and its pictures into a pipe if asked, until the
/// asked time, a signal or a failure.
struct StreamCommand {
  private enum End: Sendable {
    /// The asked time has passed.
    case complete
    case signal
    /// The stream stopped, for this reason.
    case stream(String?)
    case recorder(RecorderError)
    case video(VideoOut.End)
    /// The file should have its length, but sound stopped coming.
    case stalled
  }

  /// For `--json`.
  struct Result: Codable, Equatable {
    /// What came of sound.
    struct Audio: Codable, Equatable {
      let rate: Int
      let channels: Int
      /// Samples of each channel: in the file, else those that came.
      let samples: Int
      let missing: Int
      /// Samples that came and should be in the file, and are not; nil without one.
      let dropped: Int?
      let level: Double?
      let file: String?

      enum CodingKeys: String, CodingKey {
        case rate, channels, samples, missing, dropped, file
        case level = "level_db"
      }
    }

    /// What `--video-out` wrote.
    struct Video: Codable, Equatable {
      let file: String
      let format: String
      let frames: Int
      let bytes: Int
    }

    let complete: Bool
    let frames: Int
    let seconds: Double
    let framesPerSecond: Double
    let kbitPerSecond: Double
    let dropped: Int
    let width: Int?
    let height: Int?
    let firstFrame: Double?
    let ageP50: Double?
    let ageP95: Double?
    let audio: Audio?
    let video: Video?

    enum CodingKeys: String, CodingKey {
      case complete, frames, seconds, dropped, width, height, audio, video
      case framesPerSecond = "fps"
      case kbitPerSecond = "kbit_per_s"
      case firstFrame = "first_frame_ms"
      case ageP50 = "age_p50_ms"
      case ageP95 = "age_p95_ms"
    }
  }

  /// How long after its asked length a file may still grow.
  private static let grace: Duration = .seconds(3)

  let arguments: Arguments
  let timekeeper: any Timekeeper
  private let limit: Duration?
  private let file: String?

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    limit = arguments.duration(.seconds)
    file = arguments.givenText(.audioOut)
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    try arguments.checkGlasses()
    try arguments.checkAudio()
    try arguments.checkFiles()
    let end = ResumeOnce<End>()
    // Before the name is taken: a signal must not leave an empty file.
    Interruption.shared.whenRaised { _ in end.resume(with: .signal) }
    let format = try videoOutFormat()
    let recorder = try makeRecorder()
    let configuration = arguments.configuration(format?.codec ?? .hvc1)
    let pictures: VideoOut?
    let camera: OpenCamera
    do throws(CommandFailure) {
      pictures = try await openVideoOut(format)
      camera = try await OpenCamera.open(arguments, configuration)
    } catch {
      // Takes the claimed name back.
      _ = try? await recorder?.finish()
      throw error
    }
    let stream = camera.stream
    let watch = StreamWatch(stream) { end.resume(with: .stream($0)) }
    let tokens = ListenerTokenBag()
    let meter = AudioMeter()
    if configuration.audioCodec != nil { meter.listen(to: stream) }
    let clock = StreamedTime(timekeeper: timekeeper)
    let lane = timekeeper.makeLane("stream-length")
    stream.videoFramePublisher.listen { [limit, file] _ in
      guard let first = clock.sawPicture(), let limit else { return }
      // A file has its own measure of the asked length.
      lane.run(at: first + limit + (file == nil ? .zero : Self.grace)) {
        end.resume(with: file == nil ? .complete : .stalled)
      }
    }.store(in: tokens)
    if let recorder { try record(stream, recorder, end, tokens) }
    pictures?.listen(to: stream) { end.resume(with: .video($0)) }.store(in: tokens)
    stream.start()
    let display = FigureDisplay(quiet: arguments.has(.quiet), timekeeper: timekeeper) {
      var line = ProgressLine(stream.statistics, elapsed: clock.elapsed)
      line.level = meter.level
      return line
    }
    let outcome = await end.value()
    clock.end()
    display.end()
    lane.end()
    tokens.clear()
    pictures?.finish()
    meter.end()
    watch.end()
    let statistics = stream.statistics
    let video = stream.negotiatedConfiguration
    var written: Swift.Result<RecordingSummary, RecorderError>?
    await camera.stop(timekeeper)
    if let recorder { written = await finish(recorder) }
    await camera.close()
    let report = Report(
      statistics: statistics, video: video, length: clock.elapsed, meter: meter, written: written, pictures: pictures,
      format: format)
    return try conclude(outcome, report)
  }

  // MARK: The file

  private func makeRecorder() throws(CommandFailure) -> Recorder? {
    guard let file else { return nil }
    guard !arguments.has(.noAudio) else {
      throw CommandFailure(
        subject: "stream", "--audio-out has nothing to write with --no-audio", next: "leave one of them out")
    }
    guard ["wav", "flac"].contains(URL(filePath: file).pathExtension.lowercased()) else {
      throw CommandFailure(
        subject: file, "the name's ending says no kind of sound file", next: "use .wav or .flac after --audio-out")
    }
    var options = Recorder.Options()
    options.overwrites = arguments.has(.force)
    options.limit = limit
    do throws(RecorderError) {
      return try Recorder(to: URL(filePath: file), options: options)
    } catch {
      throw CommandFailure(recording: error, option: .audioOut)
    }
  }

  private func record(
    _ stream: MWDATCamera.Stream, _ recorder: Recorder, _ end: ResumeOnce<End>, _ tokens: ListenerTokenBag
  ) throws(CommandFailure) {
    let path = file ?? ""
    let isQuiet = arguments.has(.quiet)
    recorder.eventPublisher.listen { event in
      if !isQuiet, let line = RecordedAudioText.line(event, of: path) { Console.shared.log(line) }
      if event.kind == .reachedLimit {
        end.resume(with: .complete)
      } else if event.kind == .failed, let error = event.error {
        end.resume(with: .recorder(error))
      }
    }.store(in: tokens)
    do throws(RecorderError) {
      try recorder.record(stream)
    } catch {
      throw CommandFailure(recording: error, option: .audioOut)
    }
  }

  private func finish(_ recorder: Recorder) async -> Swift.Result<RecordingSummary, RecorderError> {
    do throws(RecorderError) {
      return .success(try await recorder.finish())
    } catch {
      return .failure(error)
    }
  }

  // MARK: The end

  private struct Report {
    let statistics: StreamStatistics
    let video: NegotiatedVideo?
    let length: Duration
    let meter: AudioMeter
    let written: Swift.Result<RecordingSummary, RecorderError>?
    let pictures: VideoOut?
    let format: VideoOutFormat?
  }

  private func conclude(_ end: End, _ report: Report) throws(CommandFailure) -> ExitStatus {
    guard report.statistics.frames > 0 else {
      switch end {
      case .stream(let cause?): throw CommandFailure(feed: arguments.givenText(.feed), cause: cause)
      case .recorder(let error): throw CommandFailure(recording: error, option: .audioOut)
      case .video(.failed(let words)): throw CommandFailure(subject: report.pictures?.target.path, words)
      case .complete, .signal, .stalled, .stream, .video(.readerGone):
        throw CommandFailure(.cutOff, subject: "stream", "interrupted before the first picture")
      }
    }
    let isComplete: Bool
    switch end {
    case .complete: isComplete = true
    case .signal, .video(.readerGone): isComplete = limit == nil
    case .stream, .recorder, .stalled, .video(.failed): isComplete = false
    }
    try tell(report, isComplete)
    switch end {
    case .complete, .signal, .video(.readerGone): break
    case .video(.failed(let words)): throw CommandFailure(.cutOff, subject: report.pictures?.target.path, words)
    case .stream(let cause):
      throw CommandFailure(
        .cutOff, subject: arguments.givenText(.feed) ?? "stream", cause ?? "the stream ended",
        next: file == nil ? nil : "the file plays up to there")
    case .stalled:
      throw CommandFailure(
        .cutOff, subject: file, "sound stopped coming before the asked time", next: "the file plays up to there")
    case .recorder(let error): throw CommandFailure(.cutOff, recording: error, option: .audioOut)
    }
    if case .failure(let error) = report.written {
      throw CommandFailure(.cutOff, recording: error, option: .audioOut)
    }
    return isComplete ? .done : .cutOff
  }

  private func tell(_ report: Report, _ isComplete: Bool) throws(CommandFailure) {
    let statistics = report.statistics
    let seconds = report.length.seconds
    let dropped = Int(clamping: statistics.drops.total)
    let rate = seconds > 0 ? Double(statistics.bytes) * 8 / seconds / 1000 : 0
    // The time is between the first and the last.
    let pictures = seconds > 0 ? Double(statistics.frames - 1) / seconds : 0
    let sound = sound(report)
    if arguments.has(.json) {
      try Console.shared.result(
        JSONResult.text(
          Result(
            complete: isComplete, frames: Int(clamping: statistics.frames), seconds: (seconds * 1000).rounded() / 1000,
            framesPerSecond: (pictures * 100).rounded() / 100, kbitPerSecond: (rate * 10).rounded() / 10,
            dropped: dropped, width: report.video?.width, height: report.video?.height,
            firstFrame: statistics.firstFrame.map(Spread.milliseconds),
            ageP50: statistics.ageP50.map(Spread.milliseconds), ageP95: statistics.ageP95.map(Spread.milliseconds),
            audio: sound, video: video(report))))
    }
    guard !arguments.has(.quiet) else { return }
    let decimal = ProgressLine.decimal
    Console.shared.log(
      "\(statistics.frames) frames, \(decimal(seconds, 2)) s, \(decimal(pictures, 1)) fps, \(decimal(rate, 0)) kbit/s, "
        + "\(dropped) dropped")
    if let written = video(report) {
      Console.shared.log(
        "\(ShownPath.shorten(written.file)): \(written.frames) frames as \(written.format), \(written.bytes) bytes")
    }
    guard let sound else { return }
    let name = sound.file.map { ShownPath.shorten($0) } ?? "sound"
    Console.shared.log(
      "\(name): \(decimal(Double(sound.samples) / Double(sound.rate), 2)) s, \(sound.rate) Hz, "
        + "\(sound.channels == 1 ? "1 channel" : "\(sound.channels) channels"), "
        + "\(decimal(Double(sound.missing) / Double(sound.rate), 2)) s missing"
        + (sound.dropped.map { $0 > 0 ? ", \(decimal(Double($0) / Double(sound.rate), 2)) s lost" : "" } ?? ""))
  }

  private func video(_ report: Report) -> Result.Video? {
    guard let pictures = report.pictures, let format = report.format else { return nil }
    return Result.Video(
      file: pictures.target.path, format: format.rawValue, frames: pictures.frameCount,
      bytes: pictures.target.writtenBytes)
  }

  private func sound(_ report: Report) -> Result.Audio? {
    guard case .pcm(let rate, let channels) = arguments.configuration(.hvc1).audioCodec else { return nil }
    let heard = report.meter.frames
    let written = try? report.written?.get()
    func count(_ duration: Duration) -> Int { Int((duration.seconds * Double(rate.rawValue)).rounded()) }
    return Result.Audio(
      rate: Int(rate.rawValue), channels: Int(channels),
      samples: written.map { count($0.statistics.audioDuration) } ?? Int(clamping: heard.heard),
      missing: Int(clamping: heard.missing), dropped: written.map { count($0.statistics.audioDropped) },
      level: report.meter.overallLevel, file: written?.files.first?.path)
  }
}
