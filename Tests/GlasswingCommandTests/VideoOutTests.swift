import Foundation
import Glibc
import TestSupport
import Testing

@testable import GlasswingCommand

/// What other programs make of the pictures that `stream` writes.
@Suite("stream --video-out", .enabled(if: Program.path != nil, "the program was not built"), .exclusive(.processor))
struct VideoOutTests {
  private static let seconds = "1.5"

  private func stream(_ words: [String]) throws -> CommandLineTool.Result {
    try Program.run(["stream", "--simulate", "-r", "low", "--fps", "15", "--no-audio", "-s", Self.seconds] + words)
  }

  /// The result of a run into a new file.
  private func write(_ format: VideoOutFormat) throws -> (path: String, video: StreamCommand.Result.Video) {
    let path = try MediaFactory.newPath(format.rawValue)
    let result = try stream(["--video-out", path, "--json"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("frames as \(format.rawValue)"))
    let json = try JSONDecoder().decode(StreamCommand.Result.self, from: Data(result.output.utf8))
    let video = try #require(json.video)
    #expect(video.file == path && video.format == format.rawValue)
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    #expect(video.bytes == size)
    #expect(video.frames > 10)
    return (path, video)
  }

  @Test("i420 is whole pictures and nothing else, and ffmpeg reads as many as were written", .needsRealTimeSpeed)
  func i420() throws {
    let (path, video) = try write(.i420)
    #expect(video.bytes == video.frames * 360 * 640 * 3 / 2)
    let count = try MediaInspector.probe(
      path,
      [
        "-f", "rawvideo", "-pixel_format", "yuv420p", "-video_size", "360x640", "-count_frames", "-show_entries",
        "stream=nb_read_frames",
      ])
    #expect(count == ["\(video.frames)"])
  }

  @Test("y4m says size, rate and range, and ffmpeg reads as many pictures as were written", .needsRealTimeSpeed)
  func y4m() throws {
    let (path, video) = try write(.y4m)
    #expect(try MediaInspector.pictureCount(path) == video.frames)
    for (field, value) in [("width", "360"), ("height", "640"), ("r_frame_rate", "15/1"), ("color_range", "tv")] {
      #expect(try MediaInspector.videoField(field, path) == value)
    }
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("hevc is a byte stream that ffmpeg decodes from its first byte, picture for picture", .needsRealTimeSpeed)
  func hevc() throws {
    let (path, video) = try write(.hevc)
    #expect(try MediaInspector.videoField("codec_name", path) == "hevc")
    #expect(try MediaInspector.pictureCount(path) == video.frames)
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("nut has the times of capture: rising, from 0, at the stream's rate", .needsRealTimeSpeed)
  func nut() throws {
    let (path, video) = try write(.nut)
    #expect(try MediaInspector.videoField("codec_name", path) == "hevc")
    #expect(try MediaInspector.videoField("width", path) == "360")
    let stamps = try MediaInspector.stamps(path)
    #expect(stamps.count == video.frames && stamps.first == 0)
    let gaps = zip(stamps, stamps.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 > 0 })
    #expect(abs(gaps.sorted()[gaps.count / 2] - 1.0 / 15) < 0.002)
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("Standard output carries the pictures alone, and a reader that goes away ends the stream in order")
  func pipe() throws {
    let path = try MediaFactory.newPath("hevc")
    let program = try #require(Program.path)
    let words = "stream --simulate -r low --no-audio --video-out - --format"
    // Without an asked time a reader's going is the regular end; with one that has not passed, the stream was cut.
    let lines = [
      ("'\(program)' \(words) hevc | head -c 20000 > '\(path)'; echo ${PIPESTATUS[0]}", "0"),
      ("'\(program)' \(words) nut -s 60 | head -c 2000 > '\(path).nut'; echo ${PIPESTATUS[0]}", "2"),
    ]
    for (line, status) in lines {
      let result = try CommandLineTool.run("bash", ["-c", line])
      #expect(result.output == status + "\n", "\(result.errors)")
      #expect(result.errors.contains("standard output:"), "the figures are on standard error")
    }
    #expect(try Data(contentsOf: URL(filePath: path)).prefix(5) == Data([0, 0, 0, 1, 0x40]), "begins with a VPS")
    #expect(try MediaInspector.videoField("codec_name", path) == "hevc")
  }

  @Test("A named pipe is written when somebody reads it")
  func namedPipe() throws {
    let path = try MediaFactory.newPath("fifo")
    #expect(mkfifo(path, 0o600) == 0)
    let copy = try MediaFactory.newPath("y4m")
    let reader = Process()
    reader.executableURL = URL(filePath: "/bin/cp")
    reader.arguments = [path, copy]
    try reader.run()
    let result = try stream(["--video-out", path, "--format", "y4m", "-q"])
    reader.waitUntilExit()
    #expect(result.status == 0 && result.errors == "")
    #expect(try MediaInspector.pictureCount(copy) > 10)
  }

  @Test("What can't be written is told before anything starts, in one line, and nothing is left or lost")
  func refusals() throws {
    let taken = try MediaFactory.newPath("nut")
    try Data("mine".utf8).write(to: URL(filePath: taken))
    let missing = try MediaFactory.newPath("x") + "/no/v.nut"
    let folder = FileManager.default.temporaryDirectory.path
    let sound = try MediaFactory.newPath("wav")
    let link = try MediaFactory.newPath("flac")
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: taken)
    let film = try MediaFactory.newPath("wav")
    try FileManager.default.copyItem(atPath: MediaFactory.path(.hevc), toPath: film)
    let copy = try Data(contentsOf: URL(filePath: film))
    let both = "--audio-out and --video-out can't both write to it; name another file after one of them"
    let cases: [(words: [String], says: String)] = [
      (["--video-out", taken], "\(taken): a file of that name exists; add --force to write over it"),
      (["--video-out", missing], "there is no such folder; make it, or name another file after --video-out"),
      (["--video-out", folder, "--format", "nut"], "is a folder; name another file after --video-out"),
      (["--video-out", "v.mp4"], "v.mp4: nothing says what kind of video is to be written; add --format with one of"),
      (["--video-out", "-"], "standard output: nothing says what kind of video is to be written; add --format"),
      (["--video-out", "-", "--format", "nut", "--json"], "both need standard output; name a file after --video-out"),
      (["--format", "nut"], "--format says what --video-out writes, which is missing; add --video-out"),
      (["--format", "jpeg"], "--format: \"jpeg\" is none of i420, y4m, hevc, nut"),
      (["--audio-out", sound, "--video-out", sound, "--format", "nut"], "\(sound): \(both)"),
      (["--audio-out", link, "--video-out", taken, "--force"], "\(taken): \(both)"),
      (
        ["--feed", film, "--video-out", film, "--format", "nut", "--force"],
        "\(film): --video-out would write over what --feed plays; name another file after --video-out"
      ),
      (
        ["--feed", film, "--audio-out", film, "--force"],
        "\(film): --audio-out would write over what --feed plays; name another file after --audio-out"
      ),
    ]
    for (words, says) in cases {
      let result = try stream(words)
      #expect(result.status == 1)
      #expect(result.errors.contains(says), "\(result.errors)")
      #expect(result.errors.split(separator: "\n").count == 1)
      #expect(result.output == "")
    }
    #expect(try Data(contentsOf: URL(filePath: taken)) == Data("mine".utf8))
    #expect(try Data(contentsOf: URL(filePath: film)) == copy)
    #expect(!FileManager.default.fileExists(atPath: sound))
  }

  @Test("A file that is being written is nobody else's, whoever may overwrite it", arguments: [true, false])
  func shared(_ exists: Bool) throws {
    let path = try MediaFactory.newPath("mkv")
    if exists { try Data("mine".utf8).write(to: URL(filePath: path)) }
    let first = try VideoOutTarget.open(path, overwrites: true)
    #expect(first.write([1, 2, 3]) == 0)
    let words =
      "glasswing: \(path): can't be written: another recording is being written to it; name another file after "
    let result = try stream(["--video-out", path, "--format", "nut", "--force"])
    #expect(result.status == 1 && result.errors == words + "--video-out\n")
    let record = try Program.run("record", "--simulate", "-o", path, "-s", "1", "--force")
    #expect(record.status == 1 && record.errors == words + "--output\n")
    #expect(first.write([4]) == 0)
    #expect(try Data(contentsOf: URL(filePath: path)) == Data([1, 2, 3, 4]))
  }

  @Test("No file is left when no picture came; one that was there keeps its content")
  func nothingCame() throws {
    let feed = try MediaFactory.path(.textNamedMP4)
    let new = try MediaFactory.newPath("nut")
    let old = try MediaFactory.newPath("nut")
    try Data("mine".utf8).write(to: URL(filePath: old))
    for path in [new, old] {
      let result = try stream(["--feed", feed, "--video-out", path, "--force"])
      #expect(result.status == 1 && result.errors.contains(feed))
      #expect(result.errors.split(separator: "\n").count == 1)
    }
    #expect(!FileManager.default.fileExists(atPath: new))
    #expect(try Data(contentsOf: URL(filePath: old)) == Data("mine".utf8))
  }

  @Test("A full disk is one line that says so, and the exit code is 2")
  func fullDisk() throws {
    let result = try stream(["--video-out", "/dev/full", "--format", "hevc", "-q"])
    #expect(result.status != 0)
    #expect(result.errors.contains("/dev/full: can't be written: No space left on device"), "\(result.errors)")
    #expect(result.errors.split(separator: "\n").count == 1)
  }
}
