import Foundation
import LinkTransport
import TestSupport
import Testing

@testable import GlasswingCommand

@Suite("glasswing relay")
struct RelayCommandTests {
  @Test("The table's presets are all there are")
  func presets() {
    guard case .choice(let names) = OptionTable.spec(.preset).value else {
      Issue.record("no choice")
      return
    }
    #expect(names == LinkPreset.allCases.map(\.rawValue))
  }

  @Test("What can't begin is said: no address, no port to connect to, a script with a fault, a port that is taken")
  func refusals() throws {
    for address in ["here", "127.0.0.1", "::1:5", "127.0.0.1:99999"] {
      let result = try Program.run("relay", "--listen", address, "--to", "127.0.0.1:1")
      #expect(result.status == 1 && result.errors.contains(address))
    }
    let none = try Program.run("relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:0")
    #expect(none.status == 1 && none.errors.contains("--to"))
    let script = FileManager.default.temporaryDirectory.appending(path: "\(UUID()).txt")
    defer { try? FileManager.default.removeItem(at: script) }
    try Data("0 cut\n1 explode\n".utf8).write(to: script)
    let bad = try Program.run("relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--script", script.path)
    #expect(bad.status == 1 && bad.errors.contains("line 2") && bad.errors.contains("explode"))
    let absent = try Program.run("relay", "--listen", "127.0.0.1:0", "--to", "127.0.0.1:1", "--script", "/none.txt")
    #expect(absent.status == 1 && absent.errors.contains("/none.txt"))
  }

  @Test("Two processes talk through it by the port of its first line; steps are told; Ctrl-C is its regular end")
  func program() async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let script = folder.appending(path: "script").path
    let output = folder.appending(path: "output").path
    try Data("seed 9\n0 latency 20ms\n".utf8).write(to: URL(filePath: script))
    let accepted = Observed<TCPTransport>()
    let listener = try TCPListener(on: HostPort(host: "127.0.0.1", port: 0))
    try listener.start { transport, _ in accepted.record(transport) }
    defer { listener.stop() }
    let target = try #require(listener.addresses.first)
    let process = try Program.start(
      ["relay", "--listen", "127.0.0.1:0", "--to", "\(target)", "--script", script, "--json"], output: output)
    defer { process.terminate() }
    // The first line and the step.
    try await Program.grow(output, to: 90)
    let begin = try #require(try lines(output).first)
    #expect(begin.event == "listening" && begin.to == "\(target)" && begin.seed == 9)
    let address = try #require(begin.listen.flatMap { SocketAddress($0) })
    let client = TCPTransport(to: [address])
    let heard = Observed<[UInt8]>()
    client.open(TransportHandlers(received: { heard.record($0) }, writable: {}, closed: { _ in }))
    try await accepted.wait("connection") { $0.count == 1 }
    let server = accepted.values[0]
    server.open(TransportHandlers(received: { server.write($0) }, writable: {}, closed: { _ in }))
    client.write([1, 2, 3])
    try await heard.wait("echo") { $0.flatMap { $0 } == [1, 2, 3] }
    client.close()
    process.interrupt()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    let events = try lines(output).map(\.event)
    #expect(events.contains("step") && events.contains("accepted"))
  }

  private func lines(_ path: String) throws -> [RelayCommand.Line] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode(RelayCommand.Line.self, from: Data($0.utf8))
    }
  }
}
