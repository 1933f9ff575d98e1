import Foundation
import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Testing

@testable import GlassesAgent

@Suite("The control socket of glasses", .exclusive(.mockKit))
struct ControlServiceTests {
  /// One connection to the socket; what it was answered, line by line.
  private final class Client: Sendable {
    let transport: UnixTransport
    let lines = Observed<String>()
    private let rest = Mutex("")

    init(_ glasses: ServedGlasses) {
      transport = UnixTransport(to: "\(glasses.folder)/control.sock")
      transport.open(
        TransportHandlers(
          received: { [weak self] bytes in self?.received(bytes) }, writable: {},
          closed: { _ in }))
    }

    private func received(_ bytes: [UInt8]) {
      transport.consumed(bytes.count)
      let whole: [String] = rest.withLock { rest in
        var parts = (rest + String(decoding: bytes, as: UTF8.self)).components(separatedBy: "\n")
        rest = parts.popLast() ?? ""
        return parts
      }
      for line in whole { lines.record(line) }
    }

    func send(_ text: String) { transport.write(Array(text.utf8)) }

    func ask(_ text: String) async throws -> String {
      let count = lines.values.count
      send(text + "\n")
      try await lines.wait("the answer") { $0.count == count + 1 }
      return lines.values[count]
    }
  }

  @Test("Lines that come at once are answered in order; of two hosts of one name the pin says which is unpaired")
  func actions() async throws {
    let host = try HostParty()
    let glasses = try ServedGlasses(pairedWith: [host, try HostParty("twin"), try HostParty("twin")])
    let client = Client(glasses)
    client.send("{\"action\":\"don\"}\n{\"action\":\"burn\"}\n{\"action\":\"pair\",\"value\":\"off\"}\n")
    try await client.lines.wait("three answers") { $0.count == 3 }
    #expect(client.lines.values.map { $0.contains("none of status") } == [false, true, false])
    #expect(try await client.ask("{\"action\":\"unpair\",\"value\":\"twin\"}").contains("name one by its pin"))
    #expect(try await client.ask("{\"action\":\"unpair\",\"value\":\"nobody\"}").contains("no host is called so"))
    #expect(try await client.ask("{\"action\":\"unpair\",\"value\":\"\(host.key.pin.text)\"}") == "{}")
    #expect(try glasses.storedHosts().map(\.name) == ["twin", "twin"])
    await glasses.server.end()
  }
}
