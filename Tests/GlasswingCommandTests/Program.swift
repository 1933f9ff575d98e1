import Foundation
import TestSupport

/// The built program, as a user runs it.
enum Program {
  /// Beside the test bundle; nil when it was not built.
  static let path: String? = {
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return ["glasswing", "GlasswingCommand"].map { folder.appending(path: $0).path }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  static func run(_ arguments: String...) throws -> CommandLineTool.Result { try run(arguments) }

  static func run(_ arguments: [String]) throws -> CommandLineTool.Result {
    try CommandLineTool.attempt(path ?? "glasswing", arguments)
  }

  /// Starts it, and returns at once.
  static func start(_ arguments: String...) throws -> Process { try start(arguments) }

  /// - Parameter output: the file that its standard output is to go to; nil for none.
  static func start(_ arguments: [String], output: String? = nil) throws -> Process {
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
}
