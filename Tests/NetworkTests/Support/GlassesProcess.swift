import Foundation
import LinkTransport
import TestSupport
import Testing

/// `glasswing glasses` in a process of its own, on loopback, with a folder of its own.
final class GlassesProcess: Sendable {
  /// Beside the test bundle; nil when it was not built.
  static let program: String? = {
    let folder = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
    return ["glasswing", "GlasswingCommand"].map { folder.appending(path: $0).path }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }()

  let folder: String
  /// What it said on standard output, line by line.
  let lines = Observed<String>()
  let process: RunningProgram

  /// - Parameters:
  ///   - folder: of glasses that ran before; nil for new ones.
  ///   - port: 0 for one that the system chooses.
  init(folder: String? = nil, port: UInt16 = 0, _ options: String...) throws {
    self.folder = try folder ?? Self.newFolder()
    process = try RunningProgram(
      ["glasses", "--state-dir", self.folder, "--listen", "127.0.0.1:\(port)", "--json", "--name", "Lab"] + options,
      output: { [lines] in lines.record($0) })
  }

  deinit { process.kill() }

  /// Waits until it listens; the port.
  func port() async throws -> UInt16 {
    try await lines.wait("the glasses listen") { $0.contains { $0.contains("\"listening\"") } }
    let line = try #require(lines.values.first { $0.contains("\"listening\"") })
    struct Listening: Decodable { let addresses: [String] }
    let text = try #require(try JSONDecoder().decode(Listening.self, from: Data(line.utf8)).addresses.first)
    return try #require(SocketAddress(text)).port
  }

  /// Waits for the pairing code of `--pair`.
  func code() async throws -> String {
    try await lines.wait("the pairing code") { $0.contains { $0.hasPrefix("glasswing://") } }
    return try #require(lines.values.first { $0.hasPrefix("glasswing://") })
  }

  static func newFolder() throws -> String {
    let path = FileManager.default.temporaryDirectory.appending(path: "gw-\(UUID().uuidString.prefix(8))").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    return path
  }
}

/// The built program, running beside the test; killed when it is let go of.
final class RunningProgram: Sendable {
  private let process: Process

  /// - Parameter output: takes each line of standard output, on a thread of its own.
  init(
    _ arguments: [String], environment: [String: String] = [:], output: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    process = Process()
    process.executableURL = URL(filePath: try #require(GlassesProcess.program))
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    let pipe = Pipe()
    process.standardOutput = pipe
    let rest = PartialLine()
    pipe.fileHandleForReading.readabilityHandler = { handle in
      let data = handle.availableData
      guard !data.isEmpty else {
        handle.readabilityHandler = nil
        return
      }
      for line in rest.lines(with: data) { output(line) }
    }
    try process.run()
  }

  deinit { kill() }

  var identifier: Int32 { process.processIdentifier }

  func signal(_ number: Int32) { Foundation.kill(process.processIdentifier, number) }

  /// At once, without a word.
  func kill() {
    guard process.isRunning else { return }
    signal(SIGKILL)
    process.waitUntilExit()
  }

  func waitUntilExit() -> Int32 {
    process.waitUntilExit()
    return process.terminationStatus
  }
}

private final class PartialLine: @unchecked Sendable {
  // Touched by the one handler of the pipe, whose calls come one after the other.
  private var rest = Data()

  func lines(with data: Data) -> [String] {
    var parts = (rest + data).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    rest = parts.popLast().map { Data($0) } ?? Data()
    return parts.map { String(decoding: $0, as: UTF8.self) }
  }
}
