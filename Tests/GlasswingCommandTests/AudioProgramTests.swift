import Foundation
import Glibc
import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

@testable import GlasswingCommand

/// What the program makes of sound, judged by what strangers make of its files.
@Suite("The program and sound", .enabled(if: Program.path != nil, "the program was not built"), .exclusive(.processor))
struct AudioProgramTests {
  @Test(
    "stream writes sound alone, of the asked length, rate and channels, and says so in JSON", .needsRealTimeSpeed,
    arguments: [("wav", "48000", "2"), ("flac", "16000", "1"), ("wav", "44100", "2")])
  func writesAudio(_ ending: String, _ rate: String, _ channels: String) throws {
    let path = try MediaFactory.newPath(ending)
    let result = try Program.run(
      "stream", "--simulate", "--seconds", "2", "-r", "low", "--audio-out", path, "--audio-rate", rate,
      "--audio-channels", channels, "--json")
    #expect(result.status == 0, "\(result.errors)")
    let json = try JSONDecoder().decode(StreamCommand.Result.self, from: Data(result.output.utf8))
    #expect(json.complete && json.frames > 40)
    let sound = try #require(json.audio)
    #expect(sound.file == path && sound.rate == Int(rate) && sound.channels == Int(channels))
    #expect(try audioField("sample_rate", path) == rate)
    #expect(try audioField("channels", path) == channels)
    #expect(try MediaInspector.videoField("codec_name", path) == nil)
    #expect(try MediaInspector.complaints(path) == "")
    let samples = try decoded(path)
    #expect(samples.count == sound.samples)
    #expect(abs(samples.count - 2 * sound.rate) <= sound.rate / 50, "within a frame of sound")
    let level = ToneMeter.level(of: 440, in: samples, sampleRate: sound.rate)
    #expect(abs(20 * log10(level) + 40) < 2, "the pattern's tone, at -40 dB")
  }

  @Test("stream without a file shows figures; --no-audio leaves sound out of them", .needsRealTimeSpeed)
  func figures() throws {
    let heard = try Program.run("stream", "--simulate", "--seconds", "1", "-r", "low", "--json")
    #expect(heard.status == 0, "\(heard.errors)")
    let json = try JSONDecoder().decode(StreamCommand.Result.self, from: Data(heard.output.utf8))
    let sound = try #require(json.audio)
    #expect(sound.rate == 48_000 && sound.channels == 2 && sound.file == nil && sound.samples > 40_000)
    #expect(try #require(sound.level) > -45)
    #expect(heard.errors.contains("fps") && heard.errors.contains("48000 Hz, 2 channels"))
    let silent = try Program.run("stream", "--simulate", "--seconds", "1", "-r", "low", "--json", "--no-audio", "-q")
    #expect(silent.status == 0 && silent.errors == "")
    #expect(try JSONDecoder().decode(StreamCommand.Result.self, from: Data(silent.output.utf8)).audio == nil)
  }

  @Test("What can't be written is told before anything starts, in one line, and nothing is left or lost")
  func refusals() throws {
    let taken = try MediaFactory.newPath("wav")
    try Data("mine".utf8).write(to: URL(filePath: taken))
    let missing = try MediaFactory.newPath("wav") + "/no/s.wav"
    let cases: [(words: [String], says: String)] = [
      (["--audio-out", taken], "\(taken): a file of that name exists; add --force to write over it"),
      (["--audio-out", "s.mp3"], "s.mp3: the name's ending says no kind of sound file; use .wav or .flac"),
      (["--audio-out", "s.mp4"], "s.mp4: the name's ending says no kind of sound file; use .wav or .flac"),
      (["--audio-out", missing], "there is no such folder; make it, or name another file after --audio-out"),
      (["--audio-out", "s.wav", "--no-audio"], "nothing to write with --no-audio"),
      (["--audio-rate", "22050"], "--audio-rate: \"22050\" is none of 16000, 44100, 48000"),
      (["--feed", missing], "there is no such file"),
    ]
    for (words, says) in cases {
      let result = try Program.run(["stream", "--simulate", "--seconds", "1"] + words)
      #expect(result.status == 1)
      #expect(result.errors.contains(says), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1)
    }
    #expect(try Data(contentsOf: URL(filePath: taken)) == Data("mine".utf8))
    #expect(try Program.run("stream", "--seconds", "1").errors.contains("add --simulate"))
  }

  @Test("A feed that can't be played is one line that names it, and no file of sound is left")
  func badFeed() throws {
    let feed = try MediaFactory.path(.textNamedMP4)
    let path = try MediaFactory.newPath("wav")
    let result = try Program.run("stream", "--simulate", "--feed", feed, "--audio-out", path)
    #expect(result.status == 1)
    #expect(result.errors.contains(feed))
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test(
    "A signal ends stream in order; before the asked time the exit code is 2, without one 0",
    arguments: [(SIGINT, "60", Int32(2)), (SIGTERM, "", 0)])
  func signals(_ signal: Int32, _ seconds: String, _ status: Int32) async throws {
    let path = try MediaFactory.newPath("wav")
    let process =
      seconds.isEmpty
      ? try Program.start("stream", "--simulate", "-r", "low", "--audio-out", path)
      : try Program.start("stream", "--simulate", "-r", "low", "--audio-out", path, "--seconds", seconds)
    try await Program.grow(path, to: 200_000)
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationStatus == status && process.terminationReason == .exit)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.duration(path) ?? 0 > 0.4)
  }

  @Test("record has sound beside the pictures, of the same length, unless it is told not to", .needsRealTimeSpeed)
  func recordsAudio() throws {
    let path = try MediaFactory.newPath("mp4")
    let result = try Program.run("record", "--simulate", "--seconds", "2", "-r", "low", "-o", path, "-q")
    #expect(result.status == 0, "\(result.errors)")
    #expect(try audioField("codec_name", path) == "aac")
    #expect(try audioField("sample_rate", path) == "48000")
    let sound = try #require(Double(audioField("duration", path) ?? ""))
    let pictures = try #require(Double(MediaInspector.videoField("duration", path) ?? ""))
    #expect(abs(sound - pictures) < 0.05)
    #expect(try MediaInspector.complaints(path) == "")
    let silent = try MediaFactory.newPath("mp4")
    #expect(try Program.run("record", "--simulate", "--seconds", "1", "-o", silent, "-q", "--no-audio").status == 0)
    #expect(try audioField("codec_name", silent) == nil)
    #expect(try MediaInspector.pictureCount(silent) > 20)
  }

  @Test("bench audio prints one JSON object with the times of sound and what it adds", .needsRealTimeSpeed)
  func bench() throws {
    let result = try Program.run("bench", "audio", "--json", "--seconds", "1", "--runs", "2", "-r", "low")
    #expect(result.status == 0, "\(result.errors)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    for key in ["p50_ms", "p99_ms", "added_cpu_percent", "added_video_p50_percent"] { #expect(object[key] is Double) }
    #expect(object["runs"] as? Int == 2)
  }

  @Test("Levels are those of the samples: a sine at full scale is 3 dB below it, silence the least that is shown")
  func levels() {
    #expect(AudioMeter.decibels(0.5).rounded() == -3)
    #expect(AudioMeter.decibels(1) == 0)
    #expect(AudioMeter.decibels(0) == AudioMeter.floor)
    #expect(AudioMeter.decibels(.leastNonzeroMagnitude) == AudioMeter.floor)
  }

  /// A field of the first audio track; nil if there is none.
  private func audioField(_ name: String, _ path: String) throws -> String? {
    try MediaInspector.probe(path, ["-select_streams", "a:0", "-show_entries", "stream=\(name)"]).first
  }

  /// The first channel's samples, as ffmpeg reads them.
  private func decoded(_ path: String) throws -> [Float] {
    let raw = try MediaFactory.newPath("raw")
    try CommandLineTool.run(
      "ffmpeg", ["-v", "error", "-nostdin", "-i", path, "-af", "pan=mono|c0=c0", "-f", "f32le", raw])
    return try Data(contentsOf: URL(filePath: raw)).withUnsafeBytes { Array($0.bindMemory(to: Float.self)) }
  }
}
