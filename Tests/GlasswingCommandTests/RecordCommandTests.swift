import Foundation
import TestSupport
import Testing

@testable import Glasswing
@testable import GlasswingCommand

/// What `record` makes of its options for sound, and what it says of it, without a recording.
@Suite("record and sound")
struct RecordCommandTests {
  private func arguments(_ line: String) throws -> Arguments {
    guard case .run(let arguments) = try ArgumentParser.parse(line.split(separator: " ").map(String.init)) else {
      throw CommandFailure(subject: line, "runs nothing")
    }
    return arguments
  }

  private func audio(_ options: String, _ container: RecordingContainer?) throws -> RecordingAudio {
    try arguments("record --simulate -o walk.mp4 " + options).recordingAudio(in: container, path: "walk.mp4")
  }

  @Test("The codec of sound is the one asked for, where the container takes it")
  func codecs() throws {
    #expect(try audio("", .mp4) == .automatic)
    #expect(try audio("--no-audio", .mp4) == RecordingAudio.none)
    for (container, codecs) in [
      (RecordingContainer.mp4, ["aac", "opus", "flac"]), (.mov, ["aac", "pcm"]),
      (.mkv, ["aac", "opus", "pcm", "flac"]),
    ] {
      for codec in ["aac", "opus", "pcm", "flac"] where codecs.contains(codec) {
        #expect(try audio("--audio-codec " + codec, container).rawValue == codec)
      }
    }
    #expect(try audio("--audio-codec pcm", nil) == .pcm, "an unknown kind of file is told of as such")
  }

  @Test("A container that can't take the codec is told before anything starts, with what it takes")
  func refusals() throws {
    for (options, container, says) in [
      (
        "--audio-codec pcm", RecordingContainer.mp4,
        "glasswing: walk.mp4: .mp4 files have no place for sound as pcm; --audio-codec may be aac, opus, flac there"
      ),
      (
        "--audio-codec opus", .mov,
        "glasswing: walk.mp4: .mov files have no place for sound as opus; --audio-codec may be aac, pcm there"
      ),
      (
        "--audio-codec aac --no-audio", .mp4,
        "glasswing: record: --audio-codec has no sound to keep with --no-audio; leave one of them out"
      ),
    ] {
      let failure = try #require(throws: CommandFailure.self) { try audio(options, container) }
      #expect(failure.line == says)
    }
    #expect(throws: CommandFailure.self) { try arguments("record -o a.mp4 --audio-codec mp3") }
  }

  @Test(
    "What is said of sound beside --no-audio is refused in one line, before anything starts",
    arguments: ["record --simulate -o walk.mp4", "stream --simulate"], ["--audio-rate 16000", "--audio-channels 1"])
  func contradiction(_ command: String, _ option: String) async throws {
    let both = try arguments("\(command) --no-audio \(option)")
    let failure = try #require(throws: CommandFailure.self) { try both.checkAudio() }
    let name = option.prefix { $0 != " " }
    #expect(
      failure.line
        == "glasswing: \(command.prefix(6)): \(name) is of sound, and --no-audio wants none; leave one of them out")
    try arguments("\(command) --no-audio").checkAudio()
    try arguments("\(command) \(option)").checkAudio()
  }

  @Test("What is amiss with sound is told in a line of 80 columns, and nothing where nothing is")
  func lines() {
    var figures = RecordingStatistics()
    #expect(RecordedAudioText.line(figures, of: "walk.mp4") == nil)
    figures.audioFilled = .milliseconds(1234)
    figures.audioDropped = .milliseconds(250)
    #expect(
      RecordedAudioText.line(figures, of: "walk.mp4")
        == "walk.mp4: sound: 1.23 s missing, silent in the file; 0.25 s lost")
    let causes: [RecordingAudioLoss.Cause] = [.queueFull, .noTrack, .unsupportedForm, .encoderFailed]
    let lines = causes.flatMap { cause in
      [RecordingEvent.Kind.audioLost, .audioRegained].compactMap { kind in
        RecordedAudioText.line(
          RecordingEvent(kind, audioLoss: RecordingAudioLoss(cause, .milliseconds(300))), of: "walk-in-the-city.mp4")
      }
    }
    #expect(lines.count == 8 && lines.allSatisfy { $0.count < 80 })
    #expect(lines.first == "walk-in-the-city.mp4: losing sound: the disk is too slow")
    #expect(lines[1] == "walk-in-the-city.mp4: sound goes on; 0.30 s of it was lost")
  }
}
