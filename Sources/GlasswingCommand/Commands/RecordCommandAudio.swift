import Foundation
import Glasswing

/// What a recording of sound says to whoever watches.
enum RecordedAudioText {
  /// A line for an event; nil where it is not of sound.
  static func line(_ event: RecordingEvent, of path: String) -> String? {
    guard let loss = event.audioLoss else { return nil }
    let name = ShownPath.shorten(path)
    return event.kind == .audioRegained
      ? "\(name): sound goes on; \(seconds(loss.duration)) of it was lost"
      : "\(name): losing sound: \(cause(loss.cause))"
  }

  /// What is amiss in the end; nil for nothing.
  static func line(_ figures: RecordingStatistics, of names: String) -> String? {
    var parts: [String] = []
    if isWorthTelling(figures.audioFilled) {
      parts.append("\(seconds(figures.audioFilled)) missing, silent in the file")
    }
    if isWorthTelling(figures.audioDropped) { parts.append("\(seconds(figures.audioDropped)) lost") }
    return parts.isEmpty ? nil : "\(names): sound: " + parts.joined(separator: "; ")
  }

  private static func cause(_ cause: RecordingAudioLoss.Cause) -> String {
    switch cause {
    case .queueFull: "the disk is too slow"
    case .noTrack: "it came only after the first picture"
    case .unsupportedForm: "it has a form that can't be recorded"
    case .encoderFailed: "its encoder failed; the pictures go on"
    case _: cause.rawValue
    }
  }

  private static func isWorthTelling(_ duration: Duration) -> Bool { duration >= .milliseconds(5) }
  private static func seconds(_ duration: Duration) -> String {
    ProgressLine.decimal(duration.seconds, places: 2) + " s"
  }
}

extension Arguments {
  /// What sound is to be kept in, as the options say.
  func recordingAudio(in container: RecordingContainer?, path: String) throws(CommandFailure) -> RecordingAudio {
    guard let text = givenText(.audioCodec), let audio = RecordingAudio(rawValue: text) else {
      return has(.noAudio) ? .none : .automatic
    }
    guard !has(.noAudio) else {
      throw CommandFailure(
        subject: command.rawValue, "--audio-codec has no sound to keep with --no-audio", next: "leave one of them out")
    }
    guard let container, !container.audio.contains(audio) else { return audio }
    let taken = container.audio.filter { ![.automatic, .none].contains($0) }.map(\.rawValue)
    throw CommandFailure(
      subject: path, ".\(container.rawValue) files have no place for sound as \(text)",
      next: "--audio-codec may be \(taken.joined(separator: ", ")) there")
  }
}
