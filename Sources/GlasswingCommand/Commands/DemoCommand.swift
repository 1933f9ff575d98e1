import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// `glasswing demo`: simulated glasses and an app that watches them, until `q`, a signal, or the asked time.
final class DemoCommand: Sendable {
  private enum End: Sendable {
    case asked
    /// The stream stopped by itself, for this reason.
    case stream(String?)
  }

  private struct Recording: Sendable {
    let recorder: Recorder
    let file: ClaimedFile
    let since: Instant
  }

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let files: NumberedFiles
  private let end = ResumeOnce<End>()
  private let recording = Mutex<Recording?>(nil)
  /// Reads keys, and blocks in that.
  private let keyLane: any Lane

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    files = NumberedFiles(folder: arguments.text(.folder) ?? ".")
    keyLane = timekeeper.makeLane("keys")
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    try files.check()
    let viewer = try Viewer(timekeeper: timekeeper)
    let configuration = arguments.configuration(.hvc1)
    let camera = try await OpenCamera.open(arguments, configuration)
    let stream = camera.stream
    let watch = StreamWatch(stream) { [end] in end.resume(with: .stream($0)) }
    let tokens = ListenerTokenBag()
    listenForPhotos(stream, watch, tokens)
    Interruption.shared.whenRaised { [end] _ in end.resume(with: .asked) }
    let begun = timekeeper.now
    limitTime(from: begun)
    viewer.watch(stream) { [weak self] now in
      self?.say("first picture \(ProgressLine.decimal((now - begun).milliseconds, places: 1)) ms after the start")
    }
    let meter = AudioMeter()
    if configuration.audioCodec != nil { meter.listen(to: stream) }
    readKeys(stream)
    stream.start()
    let display = FigureDisplay(quiet: arguments.has(.quiet), timekeeper: timekeeper) { [timekeeper, self] in
      let level = meter.level
      // The keys have been told; the level is worth more than their reminder.
      let note = note() ?? (level == nil && Terminal.hasKeyboard ? "p r q" : "")
      var line = ProgressLine(stream.statistics, elapsed: timekeeper.now - begun, note: note)
      (line.ageP50, line.ageP95) = viewer.ages
      line.level = level
      return line
    }
    let outcome = await end.value()
    display.end()
    Terminal.restore()
    await endRecording()
    watch.end()
    tokens.clear()
    viewer.end()
    meter.end()
    await camera.close()
    guard case .stream(let cause) = outcome else { return .done }
    let failure = CommandFailure(feed: arguments.givenText(.feed), cause: cause ?? "the stream ended")
    guard viewer.hasSeenPicture else { throw failure }
    throw CommandFailure(.cutOff, subject: failure.subject, failure.words, next: failure.next)
  }

  private func say(_ text: String) {
    if !arguments.has(.quiet) { Console.shared.log(text) }
  }

  private func note() -> String? {
    recording.withLock { $0 }.map { "REC \(ProgressLine.clock(timekeeper.now - $0.since))" }
  }

  private func limitTime(from begun: Instant) {
    guard let limit = arguments.duration(.seconds) else { return }
    timekeeper.makeLane("demo-length").run(at: begun + limit) { [end] in end.resume(with: .asked) }
  }

  // MARK: Keys

  private func readKeys(_ stream: MWDATCamera.Stream) {
    guard Terminal.hasKeyboard, Console.shared.isTerminal else { return }
    say("keys: p takes a photo, r starts and ends a recording, q ends")
    Terminal.readKeys()
    keyLane.run { [weak self] in
      Terminal.forEachKey { key in self?.press(key, stream) }
    }
  }

  private func press(_ key: Character, _ stream: MWDATCamera.Stream) {
    switch key {
    case "p":
      if !stream.capturePhoto(format: .jpeg) { say("no photo now: one is under way, or nothing streams") }
    case "r": toggleRecording(stream)
    case "q": end.resume(with: .asked)
    case _: say("keys: p takes a photo, r starts and ends a recording, q ends")
    }
  }

  private func listenForPhotos(_ stream: MWDATCamera.Stream, _ watch: StreamWatch, _ tokens: ListenerTokenBag) {
    stream.photoDataPublisher.listen { [weak self] photo in
      guard let self else { return }
      do throws(CommandFailure) {
        let file = try files.next("photo", photo.format == .heic ? "heic" : "jpg")
        try file.write(photo.data)
        say("\(file.path): \(photo.data.count) bytes")
      } catch {
        Console.shared.log(ShownPath.shorten(error.line))
      }
    }.store(in: tokens)
    stream.errorPublisher.listen { [weak self] error in
      if error == .photoCaptureFailed { self?.say("no photo: \(watch.cause ?? error.localizedDescription)") }
    }.store(in: tokens)
  }

  // MARK: Recording

  private func toggleRecording(_ stream: MWDATCamera.Stream) {
    if recording.withLock({ $0 != nil }) {
      Task { await endRecording() }
      return
    }
    do {
      var options = Recorder.Options()
      // The name has just been claimed.
      options.overwrites = true
      let file = try files.next("recording", "mp4")
      let recorder = try Recorder(to: URL(filePath: file.path), options: options)
      try recorder.record(stream)
      recording.withLock { $0 = Recording(recorder: recorder, file: file, since: timekeeper.now) }
      say("recording to \(file.path)")
    } catch let error as CommandFailure {
      Console.shared.log(ShownPath.shorten(error.line))
    } catch let error as RecorderError {
      Console.shared.log(ShownPath.shorten(CommandFailure(recording: error).line))
    } catch {
      Console.shared.log("\(OptionTable.program): \(error)")
    }
  }

  private func endRecording() async {
    let ended = recording.withLock { recording in
      defer { recording = nil }
      return recording
    }
    guard let ended else { return }
    do throws(RecorderError) {
      let summary = try await ended.recorder.finish()
      let names = summary.files.map { ShownPath.shorten($0.path) }.joined(separator: ", ")
      let seconds = ProgressLine.decimal(summary.statistics.duration.seconds, places: 2)
      say("\(names): \(summary.statistics.framesWritten) frames, \(seconds) s")
    } catch {
      guard case .nothingRecorded = error else {
        return Console.shared.log(ShownPath.shorten(CommandFailure(recording: error).line))
      }
      ended.file.abandon()
      say("no recording: it ended before a picture came")
    }
  }
}
