import Foundation

/// Programs that tests generate media with and check outputs against: `ffmpeg`, `ffprobe`.
package enum CommandLineTool {
  /// What a program did.
  package struct Result: Sendable {
    package let status: Int32
    package let output: String
    package let errors: String
  }

  /// A program that could not be started, or that ended with a status other than 0.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Runs a program of the search path to its end and returns all it wrote. Blocks. Throws when it can't be started or
  /// fails.
  @discardableResult
  package static func run(_ name: String, _ arguments: [String]) throws -> Result {
    let result = try attempt(name, arguments)
    guard result.status == 0 else {
      throw Failure(description: "\(name) \(arguments.joined(separator: " ")) -> \(result.status): \(result.errors)")
    }
    return result
  }

  /// As `run`, but a failing program is a result.
  package static func attempt(_ name: String, _ arguments: [String]) throws -> Result {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [name] + arguments
    process.standardInput = FileHandle.nullDevice
    // Files and not pipes: a program that fills one pipe while the other is read would never end.
    let folder = FileManager.default.temporaryDirectory
    let output = folder.appendingPathComponent("tool-\(UUID().uuidString).out")
    let errors = folder.appendingPathComponent("tool-\(UUID().uuidString).err")
    defer {
      try? FileManager.default.removeItem(at: output)
      try? FileManager.default.removeItem(at: errors)
    }
    for url in [output, errors] { try Data().write(to: url) }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    try process.run()
    process.waitUntilExit()
    return Result(
      status: process.terminationStatus, output: try String(contentsOf: output, encoding: .utf8),
      errors: try String(contentsOf: errors, encoding: .utf8))
  }
}

/// Strangers' opinions on a media file: what `ffprobe` and `ffmpeg` make of it.
package enum MediaInspector {
  /// A part of a file, by the file's stamps in seconds.
  package struct Stretch: Sendable {
    let start: Double
    let seconds: Double

    package init(start: Double, seconds: Double) {
      self.start = start
      self.seconds = seconds
    }

    /// What `ffmpeg` needs in front of its input to read no more than that, with stamps as they are.
    package var settings: [String] { ["-ss", "\(start)", "-t", "\(seconds)", "-copyts"] }
  }

  /// Decodes the whole file with `ffmpeg -v error -xerror`; returns all that it complained of (empty: nothing) and
  /// throws when it failed.
  ///
  /// - Parameter stretch: else the whole file.
  package static func complaints(_ path: String, in stretch: Stretch? = nil) throws -> String {
    let input = ["-v", "error", "-xerror", "-nostdin"] + (stretch?.settings ?? []) + ["-i", path]
    return try CommandLineTool.run("ffmpeg", input + ["-f", "null", "-"]).errors
  }

  /// Pictures that decode out of the first video track.
  package static func pictureCount(_ path: String) throws -> Int {
    let text = try probe(path, ["-count_frames", "-select_streams", "v:0", "-show_entries", "stream=nb_read_frames"])
    return Int(text.first ?? "") ?? 0
  }

  /// Presentation time stamps of the first video track's packets, in seconds, in file order.
  package static func stamps(_ path: String) throws -> [Double] {
    try probe(path, ["-select_streams", "v:0", "-show_entries", "packet=pts_time"]).compactMap { Double($0) }
  }

  /// The container's duration in seconds.
  package static func duration(_ path: String) throws -> Double? {
    try probe(path, ["-show_entries", "format=duration"]).first.flatMap { Double($0) }
  }

  /// A field of the first video track, such as `codec_tag_string`.
  package static func videoField(_ name: String, _ path: String) throws -> String? {
    try probe(path, ["-select_streams", "v:0", "-show_entries", "stream=\(name)"]).first
  }

  /// Runs `ffprobe` and returns its values, one each line.
  package static func probe(_ path: String, _ arguments: [String]) throws -> [String] {
    let format = ["-v", "error", "-of", "default=noprint_wrappers=1:nokey=1"]
    let output = try CommandLineTool.run("ffprobe", format + arguments + [path]).output
    return output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
  }
}
