import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// `glasswing record`: a stream into a file, until the asked time, a signal or a failure.
struct RecordCommand {
  /// What can end a recording.
  enum End: Equatable, Sendable {
    /// The asked length is in the file.
    case complete
    case signal
    /// The stream stopped, for this reason.
    case stream(String?)
    case recorder(RecorderError)
    /// The length should have been reached, but pictures stopped coming.
    case stalled
  }

  /// For `--json`.
  struct Result: Codable, Equatable {
    let files: [String]
    let complete: Bool
    let frames: Int
    let seconds: Double
    let bytes: Int
    let kbitPerSecond: Double
    let dropped: Int
    let stampRepairs: Int
    let width: Int?
    let height: Int?
    let framesPerSecond: Int?
    let firstFrame: Double?
    /// What is in the file, silence in place of missing sound included; nil where none was wanted.
    let audioSeconds: Double?
    /// How much of it is such silence.
    let audioMissing: Double?
    /// Sound that came and is not in the file; nil where none was wanted.
    let audioDropped: Double?

    enum CodingKeys: String, CodingKey {
      case files, complete, frames, seconds, bytes, dropped, width, height
      case kbitPerSecond = "kbit_per_s"
      case stampRepairs = "stamp_repairs"
      case framesPerSecond = "fps"
      case firstFrame = "first_frame_ms"
      case audioSeconds = "audio_seconds"
      case audioMissing = "audio_missing_seconds"
      case audioDropped = "audio_dropped_seconds"
    }
  }

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let limit: Duration?
  /// The files so far, as the recorder tells of them.
  private let files = RecordedFiles()

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    limit = arguments.duration(.seconds)
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    try arguments.checkGlasses()
    try arguments.checkAudio()
    try arguments.checkFiles()
    let end = ResumeOnce<End>()
    // Before the name is taken: a signal must not leave an empty file.
    Interruption.shared.whenRaised { _ in end.resume(with: .signal) }
    let recorder = try makeRecorder()
    let configuration = arguments.configuration(.hvc1)
    let camera: OpenCamera
    do throws(CommandFailure) {
      camera = try await OpenCamera.open(arguments, configuration)
    } catch {
      // Takes the claimed name back.
      _ = try? await recorder.finish()
      throw error
    }
    let begun = timekeeper.now
    let watch = StreamWatch(camera.stream) { end.resume(with: .stream($0)) }
    let events = listen(to: recorder, end)
    do throws(RecorderError) {
      try recorder.record(camera.stream)
    } catch {
      throw CommandFailure(recording: error)
    }
    let stream = camera.stream
    let meter = AudioMeter()
    if configuration.audioCodec != nil, !arguments.has(.quiet) { meter.listen(to: stream) }
    stream.start()
    let display = FigureDisplay(quiet: arguments.has(.quiet), timekeeper: timekeeper) { [timekeeper] in
      var line = ProgressLine(stream.statistics, elapsed: timekeeper.now - begun)
      line.level = meter.level
      return line
    }
    let outcome = await end.value()
    display.end()
    meter.end()
    await events.cancel()
    watch.end()
    let statistics = stream.statistics
    let video = stream.negotiatedConfiguration
    await camera.stop(timekeeper)
    let summary = await finish(recorder)
    await camera.close()
    return try report(outcome, summary, recorder.statistics, statistics, video)
  }

  private func makeRecorder() throws(CommandFailure) -> Recorder {
    let path = arguments.text(.output) ?? ""
    if arguments.text(.container) == nil,
      RecordingContainer(pathExtension: URL(filePath: path).pathExtension)?.isAudioOnly == true
    {
      throw CommandFailure(
        subject: path, "files of that kind hold sound alone",
        next: "use .mp4, .mov or .mkv, or glasswing stream --audio-out")
    }
    var options = Recorder.Options()
    options.container = arguments.text(.container).flatMap { RecordingContainer(rawValue: $0) }
    options.audio = try arguments.recordingAudio(
      in: options.container ?? RecordingContainer(pathExtension: URL(filePath: path).pathExtension), path: path)
    options.overwrites = arguments.has(.force)
    options.limit = limit
    do throws(RecorderError) {
      return try Recorder(to: URL(filePath: path), options: options)
    } catch {
      throw CommandFailure(recording: error)
    }
  }

  /// The recording's own ends. The length counts from its first frame; pictures that stop coming must not make it
  /// wait for ever.
  private func listen(to recorder: Recorder, _ end: ResumeOnce<End>) -> any AnyListenerToken {
    let grace: Duration = .seconds(3)
    let lane = timekeeper.makeLane("record-length")
    let path = arguments.text(.output) ?? ""
    let isQuiet = arguments.has(.quiet)
    return recorder.eventPublisher.listen { [timekeeper, limit, files] event in
      if let file = event.file { files.add(file) }
      if !isQuiet, let line = RecordedAudioText.line(event, of: path) { Console.shared.log(line) }
      if event.kind == .began, let limit {
        lane.run(at: timekeeper.now + limit + grace) { end.resume(with: .stalled) }
      } else if event.kind == .reachedLimit {
        end.resume(with: .complete)
      } else if event.kind == .failed, let error = event.error {
        end.resume(with: .recorder(error))
      }
    }
  }

  private func finish(_ recorder: Recorder) async -> Swift.Result<RecordingSummary, RecorderError> {
    do throws(RecorderError) {
      return .success(try await recorder.finish())
    } catch {
      return .failure(error)
    }
  }

  private func report(
    _ end: End, _ outcome: Swift.Result<RecordingSummary, RecorderError>, _ written: RecordingStatistics,
    _ statistics: StreamStatistics,
    _ video: NegotiatedVideo?
  ) throws(CommandFailure) -> ExitStatus {
    let summary: RecordingSummary
    switch outcome {
    case .success(let value): summary = value
    case .failure(let error):
      guard written.framesWritten > 0 else { throw failure(of: end, without: error) }
      // What is in the file plays.
      try tell(files.urls, written, false, statistics, video)
      throw CommandFailure(.cutOff, recording: error)
    }
    let isComplete = end == .complete || (end == .signal && limit == nil)
    try tell(summary.files, summary.statistics, isComplete, statistics, video)
    switch end {
    case .complete: return .done
    case .signal: return limit == nil ? .done : .cutOff
    case .stalled:
      throw CommandFailure(
        .cutOff, subject: summary.files.last?.path, "pictures stopped coming before the asked time",
        next: "the file plays up to there")
    case .stream(let cause):
      throw CommandFailure(
        .cutOff, subject: arguments.givenText(.feed) ?? "stream", cause ?? "the stream ended",
        next: "the file plays up to there")
    case .recorder(let error): throw CommandFailure(.cutOff, recording: error)
    }
  }

  /// There is no file: what ended the stream tells more than that.
  private func failure(of end: End, without error: RecorderError) -> CommandFailure {
    switch end {
    case .stream(let cause?):
      return CommandFailure(feed: arguments.givenText(.feed), cause: cause)
    case .signal:
      return CommandFailure(.cutOff, subject: arguments.text(.output), "interrupted before the first picture")
    case .complete, .stalled, .stream, .recorder:
      return CommandFailure(recording: error)
    }
  }

  private func tell(
    _ files: [URL], _ figures: RecordingStatistics, _ isComplete: Bool, _ statistics: StreamStatistics,
    _ video: NegotiatedVideo?
  ) throws(CommandFailure) {
    let seconds = figures.duration.seconds
    let rate = seconds > 0 ? Double(figures.bytes) * 8 / seconds / 1000 : 0
    let dropped = figures.framesDropped + Int(clamping: statistics.drops.total)
    let wantsAudio = !arguments.has(.noAudio)
    func milliseconds(_ duration: Duration) -> Double { (duration.seconds * 1000).rounded() / 1000 }
    if arguments.has(.json) {
      try Console.shared.result(
        JSONResult.text(
          Result(
            files: files.map(\.path), complete: isComplete, frames: figures.framesWritten,
            seconds: milliseconds(figures.duration), bytes: figures.bytes, kbitPerSecond: (rate * 10).rounded() / 10,
            dropped: dropped, stampRepairs: figures.stampRepairs, width: video?.width, height: video?.height,
            framesPerSecond: video?.frameRate, firstFrame: statistics.firstFrame.map(Spread.milliseconds),
            audioSeconds: wantsAudio ? milliseconds(figures.audioDuration) : nil,
            audioMissing: wantsAudio ? milliseconds(figures.audioFilled) : nil,
            audioDropped: wantsAudio ? milliseconds(figures.audioDropped) : nil)))
    }
    guard !arguments.has(.quiet) else { return }
    let names = files.map { ShownPath.shorten($0.path) }.joined(separator: ", ")
    Console.shared.log(
      "\(names): \(figures.framesWritten) frames, \(ProgressLine.decimal(seconds, places: 2)) s, "
        + "\(ProgressLine.decimal(rate, places: 0)) kbit/s, \(dropped) dropped"
        + (wantsAudio ? ", sound \(ProgressLine.decimal(figures.audioDuration.seconds, places: 2)) s" : ""))
    if let line = RecordedAudioText.line(figures, of: names) { Console.shared.log(line) }
  }
}

/// The files of a recording, in order, each once.
private final class RecordedFiles: Sendable {
  private let state = Mutex<[URL]>([])

  var urls: [URL] { state.withLock { $0 } }

  func add(_ file: URL) { state.withLock { if $0.last != file { $0.append(file) } } }
}

extension CommandFailure {
  /// A stream that brought nothing, by the glasses' words, which name the file where it is at fault.
  init(feed: String?, cause: String) {
    let named = feed.map { cause.contains($0) } ?? true
    self.init(
      subject: named ? nil : feed, cause,
      next: feed == nil ? "see glasswing doctor" : "name a file with H.264 or HEVC video after --feed")
  }
}
