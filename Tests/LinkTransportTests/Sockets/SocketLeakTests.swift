import LinkProtocol
import TestSupport
import Testing
import Units

@testable import LinkTransport

@Suite("Sockets' threads and descriptors")
struct SocketLeakTests {
  // Exit tests came with Swift 6.2. A process of its own, so that others' descriptors don't count.
  #if compiler(>=6.2)
    @Test("a hundred connections, ended in every way, leave no thread and no descriptor")
    func hundred() async {
      await #expect(processExitsWith: .success) {
        struct LeftBehind: Error { let before, after: ProcessResources }
        let before = ProcessResources.now()
        let reactor = SocketReactor(name: "leak sockets", idleLimit: .milliseconds(50))
        // A thread that waits for a deadline which was cancelled waits on.
        var options = StreamOptions()
        options.connectLimit = .milliseconds(1000)
        options.lingerLimit = .milliseconds(500)
        for round in 0..<100 {
          let pair = try await JoinedSockets(SocketKind.allCases[round % 3], options: options, reactor: reactor)
          pair.client.transport.write([UInt8](repeating: 1, count: 100_000))
          pair.server.open()
          switch round / 3 % 5 {
          case 0: pair.client.transport.close()
          case 1: pair.server.transport.close()
          case 2:
            (pair.client.transport as? TCPTransport)?.abort()
            pair.server.transport.close()
          case 3:
            pair.client.transport.close()
            pair.server.transport.close()
          default: break
          }
        }
        // The runtime opens descriptors of its own when it likes; the reactor's goes with its thread.
        @Sendable func holdsNoMore(_ now: ProcessResources) -> Bool {
          now.threads(named: "leak sockets").isEmpty && now.sockets.count <= before.sockets.count
        }
        let after = await ProcessResources.settled(within: .seconds(60), until: holdsNoMore)
        guard holdsNoMore(after) else { throw LeftBehind(before: before, after: after) }
        // And again from nothing.
        let pair = try await JoinedSockets(.ipv4, reactor: reactor)
        pair.client.transport.write([1])
        pair.server.open()
        try await pair.server.waitFor(bytes: 1)
      }
    }
  #endif
}

extension ProcessResources {
  var sockets: [String] { descriptors.filter { $0.hasPrefix("socket:") } }
}
