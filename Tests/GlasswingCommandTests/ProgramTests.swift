import Foundation
import Glibc
import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

@testable import GlasswingCommand

/// The program as it is run, judged by what strangers make of its files.
@Suite("The program", .enabled(if: Program.path != nil, "the program was not built"), .exclusive(.processor))
struct ProgramTests {
  @Test(
    "record with a feed writes the asked length at the asked size and rate, and says so in JSON", .needsRealTimeSpeed)
  func recordsFeed() throws {
    let feed = try MediaFactory.path(.bFrames)
    let path = try MediaFactory.newPath("mp4")
    let result = try Program.run(
      "record", "--simulate", "--feed", feed, "--seconds", "2", "--resolution", "medium", "--fps", "24", "-o", path,
      "--json")
    #expect(result.status == 0, "\(result.errors)")
    let json = try JSONDecoder().decode(RecordCommand.Result.self, from: Data(result.output.utf8))
    #expect(json.files == [path])
    #expect(json.complete)
    #expect(json.width == 504 && json.height == 896 && json.framesPerSecond == 24)
    #expect(try MediaInspector.pictureCount(path) == json.frames)
    #expect((46...49).contains(json.frames))
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.videoField("codec_tag_string", path) == "hvc1")
    #expect(result.errors.contains("\(json.frames) frames"))
  }

  @Test("record without a feed records the test pattern, with sound in the codec asked for", .needsRealTimeSpeed)
  func recordsPattern() throws {
    let path = try MediaFactory.newPath("mov")
    let result = try Program.run("record", "--simulate", "-o", path, "--seconds", "1", "--audio-codec", "pcm", "-q")
    #expect(result.status == 0)
    #expect(result.errors == "")
    #expect(result.output == "")
    #expect(try AudioInspector.field("codec_name", path) == "pcm_f32le")
    #expect((28...31).contains(try MediaInspector.pictureCount(path)))
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test(
    "A feed that can't be played is one line that names the file; exit code 1, and no file is left",
    arguments: [MediaFactory.Kind.audioOnly, .empty, .textNamedMP4, .undecodable, .truncated])
  func badFeeds(_ kind: MediaFactory.Kind) throws {
    let feed = try MediaFactory.path(kind)
    let path = try MediaFactory.newPath("mp4")
    let result = try Program.run("record", "--simulate", "--feed", feed, "-o", path)
    #expect(result.status == 1)
    #expect(result.errors.contains(feed))
    #expect(result.errors.split(separator: "\n").count == 1)
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A feed is never written over, by whatever name", arguments: ["record", "photo"], [true, false])
  func keepsFeed(_ command: String, _ isLink: Bool) throws {
    let feed = try MediaFactory.newPath("film.mp4")
    try FileManager.default.copyItem(atPath: MediaFactory.path(.hevc), toPath: feed)
    let film = try Data(contentsOf: URL(filePath: feed))
    var output = feed
    if isLink {
      output = try MediaFactory.newPath("link.mp4")
      try FileManager.default.linkItem(atPath: feed, toPath: output)
    }
    let result = try Program.run(command, "--simulate", "--feed", feed, "-o", output, "-f")
    #expect(result.status == 1)
    #expect(
      result.errors
        == "glasswing: \(output): --output would write over what --feed plays; name another file after --output\n")
    #expect(try Data(contentsOf: URL(filePath: feed)) == film)
  }

  @Test(
    "photo writes a picture of the feed's full size, in the format asked for or named",
    arguments: [
      ("jpeg", "a.jpg"), ("heic", "a.heic"), ("", "b.heic"), ("", "b.jpeg"),
    ])
  func photo(_ format: String, _ name: String) throws {
    let feed = try MediaFactory.path(.hevc)
    let path = try MediaFactory.newPath(name)
    var arguments = ["photo", "--simulate", "--feed", feed, "-o", path, "--json"]
    if !format.isEmpty { arguments += ["--format", format] }
    let result = try Program.run(arguments)
    #expect(result.status == 0, "\(result.errors)")
    let json = try JSONDecoder().decode(PhotoCommand.Result.self, from: Data(result.output.utf8))
    let bytes = try Data(contentsOf: URL(filePath: path))
    #expect(json.bytes == bytes.count)
    #expect(json.width == 160 && json.height == 120)
    let isHEIC = name.hasSuffix("heic")
    #expect(json.format == (isHEIC ? "heic" : "jpeg"))
    // "ftypheic" in the first box (ISO/IEC 23008-12); the start of image of JPEG (ITU-T T.81).
    #expect(isHEIC ? bytes[4..<12] == Data("ftypheic".utf8) : bytes.starts(with: [0xff, 0xd8]))
  }

  @Test("A photo of a feed that can't be played names it, and leaves no file")
  func photoOfBadFeed() throws {
    let feed = try MediaFactory.path(.textNamedMP4)
    let path = try MediaFactory.newPath("jpg")
    let result = try Program.run("photo", "--simulate", "--feed", feed, "-o", path)
    #expect(result.status == 1)
    #expect(result.errors.contains(feed))
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("Files are never overwritten unasked, and what can't be written is told before anything starts")
  func outputs() throws {
    let path = try MediaFactory.newPath("mp4")
    try Data("mine".utf8).write(to: URL(filePath: path))
    let refused = try Program.run("record", "--simulate", "-o", path, "--seconds", "1")
    #expect(refused.status == 1)
    #expect(refused.errors == "glasswing: \(path): a file of that name exists; add --force to write over it\n")
    #expect(try Data(contentsOf: URL(filePath: path)) == Data("mine".utf8))
    #expect(try Program.run("record", "--simulate", "-o", path, "--seconds", "1", "--force", "-q").status == 0)
    #expect(try MediaInspector.pictureCount(path) > (ThreadSanitizer.isOn ? 0 : 20))

    let missing = try Program.run("photo", "--simulate", "-o", path + "/no/p.jpg")
    #expect(missing.status == 1)
    #expect(missing.errors.contains("there is no such folder"))
    let real = try Program.run("record", "-o", try MediaFactory.newPath("mp4"))
    #expect(real.status == 1)
    #expect(real.errors.contains("--simulate"))
  }

  @Test(
    "REC-1: SIGINT and SIGTERM lose nothing; before the asked time the exit code is 2, without one 0",
    arguments: [
      (SIGINT, "60", Int32(2)), (SIGTERM, "60", 2), (SIGINT, "", 0),
    ])
  func signals(_ signal: Int32, _ seconds: String, _ status: Int32) async throws {
    let path = try MediaFactory.newPath("mp4")
    let output = try MediaFactory.newPath("json")
    let asked = seconds.isEmpty ? [] : ["--seconds", seconds]
    let process = try Program.start(["record", "--simulate", "--json", "-o", path] + asked, output: output)
    try await Program.grow(path, to: 150_000)
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationStatus == status)
    let json = try JSONDecoder().decode(RecordCommand.Result.self, from: Data(contentsOf: URL(filePath: output)))
    #expect(json.complete == (status == 0))
    #expect(try MediaInspector.complaints(path) == "")
    // 150 kB are about a second; all that the program says is in the file, of pictures and of sound.
    #expect(json.frames > 15 && json.dropped == 0)
    #expect(try MediaInspector.pictureCount(path) == json.frames)
    let times = try TrackTimes(path)
    #expect(abs(times.video.length - json.seconds) < 0.002)
    #expect(abs(times.audio.length - (try #require(json.audioSeconds))) < 0.002)
    #expect(abs(times.audio.end - times.video.end) <= 0.05)
  }

  @Test(
    "ERR-1: record onto a disk that fills says what is in the file, in JSON as well, and then what went wrong",
    .enabled(if: SmallDisk.isAvailable, "needs root, to mount a disk of 64 KiB"))
  func fullDisk() throws {
    let disk = try SmallDisk()
    let path = disk.folder + "/a.mp4"
    let result = try Program.run(
      "record", "--simulate", "-r", "low", "--bitrate", "200k", "--seconds", "60", "-o", path, "--json")
    #expect(result.status == 2)
    let json = try JSONDecoder().decode(RecordCommand.Result.self, from: Data(result.output.utf8))
    #expect(json.files == [path] && !json.complete && json.frames > 0)
    #expect(try MediaInspector.pictureCount(path) == json.frames)
    let seconds = try #require(json.audioSeconds)
    #expect(abs(try TrackTimes(path).audio.length - seconds) < 0.05, "\(seconds)")
    let lines = result.errors.split(separator: "\n")
    #expect(lines.contains { $0.contains("\(json.frames) frames") })
    #expect(lines.last?.contains("the disk is full") == true, "\(result.errors)")
  }

  @Test("REC-1: after kill -9 the file plays, and has everything up to 2 s before", arguments: ["mp4", "mov", "mkv"])
  func killed(_ ending: String) async throws {
    let path = try MediaFactory.newPath(ending)
    let begun = SystemTimekeeper.shared.now
    let process = try Program.start("record", "--simulate", "-o", path)
    try await Program.grow(path, to: 400_000)
    kill(process.processIdentifier, SIGKILL)
    let elapsed = SystemTimekeeper.shared.now - begun
    process.waitUntilExit()
    let stamps = try MediaInspector.stamps(path)
    let last = try #require(stamps.last)
    #expect(Duration.seconds(last) > elapsed - .seconds(2.5), "half a second for the program's start")
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.pictureCount(path) == stamps.count)
  }

  @Test("doctor runs its checks and says so in JSON; its exit code agrees")
  func doctor() throws {
    let result = try Program.run("doctor", "--json")
    let report = try JSONDecoder().decode(DoctorReport.self, from: Data(result.output.utf8))
    #expect(report.ok == (result.status == 0))
    for name in [
      "HEVC encoder", "HEVC decoder", "Opus encoder", "Opus decoder", "AAC encoder", "clock", "congestion control",
      "discovery", "companion", "glasses", "libx265",
    ] {
      #expect(report.checks.contains { $0.name == name })
    }
    for check in report.checks where check.status != .ok { #expect(check.remedy?.isEmpty == false) }
  }

  @Test("bench prints one JSON object with times under p50_ms, p95_ms and p99_ms", arguments: ["link", "first-frame"])
  func bench(_ what: String) throws {
    let result = try Program.run("bench", what, "--json", "--seconds", "1", "--runs", "2", "-r", "low")
    #expect(result.status == 0, "\(result.errors)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    for key in ["p50_ms", "p95_ms", "p99_ms"] { #expect(object[key] is Double) }
  }

  @Test("bench counts the allocations of a frame, decoded and compressed, and of sound")
  func benchAllocations() throws {
    let result = try Program.run("bench", "allocations", "--json", "--seconds", "1", "-r", "low")
    #expect(result.status == 0, "\(result.errors)")
    let object = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
    for codec in ["raw", "hvc1"] {
      let figures = try #require(object[codec] as? [String: Any])
      // Every frame needs an array or an object somewhere: a count of nothing would be no count.
      #expect(try #require(figures["calls_per_frame"] as? Double) > 5)
      #expect(try #require(figures["bytes_per_frame"] as? Double) > 100)
      #expect(try #require(figures["library_calls_per_frame"] as? Double) >= 0)
    }
    let audio = try #require(object["audio"] as? [String: Any])
    #expect(try #require(audio["frames"] as? Int) >= 45)
    #expect(try #require(audio["calls_per_frame"] as? Double) > 5)
    // The samples of a frame are an array at least once: 960 of each side.
    #expect(try #require(audio["bytes_per_frame"] as? Double) > 7680)
  }

  @Test("demo without a terminal logs lines until it is signalled, and ends in order")
  func demo() async throws {
    let timed = try Program.run("demo", "-r", "low", "--seconds", "6")
    #expect(timed.status == 0)
    #expect(timed.errors.contains("first picture"))
    #expect(timed.errors.split(separator: "\n").contains { $0.contains(" fps") && $0.contains(" kbit/s") })
    let process = try Program.start("demo", "-r", "low")
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("demo")
    await timekeeper.sleep(until: timekeeper.now + .seconds(1), on: lane)
    lane.end()
    kill(process.processIdentifier, SIGTERM)
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    #expect(process.terminationReason == .exit)
  }

  @Test("The completion script of bash completes commands, options and values")
  func bashCompletion() throws {
    let script = try MediaFactory.newPath("bash")
    try Data(Completions.script(for: .bash).utf8).write(to: URL(filePath: script))
    func complete(_ words: String...) throws -> [String] {
      let line = words.map { "'\($0)'" }.joined(separator: " ")
      let program =
        "source \(script); COMP_WORDS=(\(line)); COMP_CWORD=\(words.count - 1); _glasswing; echo \"${COMPREPLY[*]}\""
      return try CommandLineTool.run("bash", ["-c", program]).output.split(whereSeparator: \.isWhitespace).map(
        String.init)
    }
    #expect(try complete("glasswing", "rec") == ["record"])
    #expect(try complete("glasswing", "record", "--res") == ["--resolution"])
    #expect(try complete("glasswing", "record", "--resolution", "") == ["low", "medium", "high"])
    #expect(try complete("glasswing", "bench", "la") == ["latency"])
  }

  @Test("The manual page is one that man shows without a complaint")
  func manual() throws {
    let page = try MediaFactory.newPath("1")
    try Data(ManPage.page(version: "1").utf8).write(to: URL(filePath: page))
    guard FileManager.default.isExecutableFile(atPath: "/usr/bin/groff") else { return }
    let result = try CommandLineTool.run("groff", ["-man", "-Tutf8", "-ww", "-z", page])
    #expect(result.errors == "")
  }
}
