import Foundation
import LinkTransport
import TestSupport
import Testing
import Units

/// The built program, as a user runs it.
enum Program {
  /// Beside the test bundle; nil when it was not built.
  static let path: String? = {
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return ["glasswing", "GlasswingCommand"].map { folder.appending(path: $0).path }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  static func run(_ arguments: String...) throws -> CommandLineTool.Result { try run(arguments) }

  /// Away from the companion of whoever runs the tests; children inherit it.
  private static let isolation: Void = {
    let folder = FileManager.default.temporaryDirectory.appending(path: "glasswing-\(getpid())").path
    setenv(CompanionFolder.variable, folder, 0)
  }()

  static func run(_ arguments: [String]) throws -> CommandLineTool.Result {
    isolation
    return try CommandLineTool.attempt(path ?? "glasswing", arguments)
  }

  /// Starts it, and returns at once.
  static func start(_ arguments: String...) throws -> Process { try start(arguments) }

  /// - Parameter output: the file that its standard output is to go to; nil for none.
  static func start(_ arguments: [String], output: String? = nil) throws -> Process {
    isolation
    let process = Process()
    process.executableURL = URL(filePath: path ?? "glasswing")
    process.arguments = arguments
    if let output {
      try Data().write(to: URL(filePath: output))
      process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    } else {
      process.standardOutput = FileHandle.nullDevice
    }
    process.standardError = FileHandle.nullDevice
    process.standardInput = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Waits until a file has grown to so many bytes.
  static func grow(_ path: String, to bytes: Int) async throws {
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("growth")
    defer { lane.end() }
    let deadline = timekeeper.now + .seconds(20)
    while timekeeper.now < deadline {
      let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
      if let size, size >= bytes { return }
      // Another process writes the file: there is no event to wait for.
      await timekeeper.sleep(until: timekeeper.now + .milliseconds(20), on: lane)
    }
    Issue.record("\(path) did not grow to \(bytes) bytes")
  }
}
