import Foundation
import LinkProtocol
import LinkTransport
import Synchronization
import Trust

/// Serves the control socket of glasses: a line of JSON a request, a line an answer, for the user that runs them and for root.
package final class ControlService: Sendable {
  /// Longest line that is read; a request has a hundred bytes.
  package static let longestLine = 4096

  private let server: GlassesServer
  private let lane: any Lane

  package init(_ server: GlassesServer, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.server = server
    lane = timekeeper.makeLane("gw-control")
  }

  deinit { lane.end() }

  /// Begins to serve. Once.
  package func start() throws(SocketFailure) {
    try server.home.control.start { [weak self] transport in
      // The file's mode says so already; this holds where a file system does not.
      guard let user = transport.peerCredentials?.user, user == geteuid() || user == 0 else { return }
      self?.serve(transport)
    }
  }

  private func serve(_ transport: UnixTransport) {
    let buffer = LineBuffer()
    // Held by its handlers until it is closed.
    transport.open(
      TransportHandlers(
        received: { [weak self, lane] bytes in
          transport.consumed(bytes.count)
          guard let lines = buffer.take(bytes) else { return transport.close() }
          for line in lines { lane.run { [weak self] in self?.answer(line, transport) } }
        }, writable: {}, closed: { _ in }))
  }

  private func answer(_ line: [UInt8], _ transport: UnixTransport) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let reply = reply(to: line)
    guard let data = try? encoder.encode(reply) else { return transport.close() }
    transport.write(Array(data) + [UInt8(ascii: "\n")])
  }

  private func reply(to line: [UInt8]) -> ControlReply {
    guard let request = try? JSONDecoder().decode(ControlRequest.self, from: Data(line)) else {
      return ControlReply(error: "not a request: write {\"action\":\"status\"}")
    }
    do throws(ControlAction.Problem) {
      return perform(try ControlAction(request.action, request.value))
    } catch {
      return ControlReply(error: error.description)
    }
  }

  private func perform(_ action: ControlAction) -> ControlReply {
    let hardware = server.agent.hardware
    switch action {
    case .status:
      var reply = ControlReply()
      reply.status = status
      return reply
    case .fold: hardware.fold()
    case .unfold: hardware.unfold()
    case .don: hardware.don()
    case .doff: hardware.doff()
    case .tap: hardware.tap()
    case .hold: hardware.tapAndHold()
    case .power(true): hardware.powerOn()
    case .power(false): hardware.powerOff()
    case .battery(let level): hardware.setBatteryLevel(level)
    case .charging(let isCharging): hardware.setCharging(isCharging ? .charging : .notCharging)
    case .thermal(let level): hardware.setThermal(level)
    case .pair(true): return openPairing()
    case .pair(false): server.closePairing()
    case .hosts:
      var reply = ControlReply()
      reply.hosts = server.hosts.hosts.map { ControlReply.Host(name: $0.name, pin: $0.key.pin.text) }
      return reply
    case .unpair(let host): return unpair(host)
    }
    return ControlReply()
  }

  private func openPairing() -> ControlReply {
    do throws(PairingURIError) {
      var reply = ControlReply()
      reply.uri = try server.openPairing().revealed()
      return reply
    } catch {
      return ControlReply(error: "\(error)")
    }
  }

  private func unpair(_ text: String) -> ControlReply {
    let hosts = server.hosts.hosts.filter { $0.name == text || $0.key.pin == KeyPin(text: text) }
    guard let host = hosts.first else { return ControlReply(error: "no host is called so; see hosts") }
    guard hosts.count == 1 else { return ControlReply(error: "several hosts are called so: name one by its pin") }
    do throws(StoreError) {
      _ = try server.unpair(host.key.pin)
      return ControlReply()
    } catch {
      return ControlReply(error: "\(error)")
    }
  }

  private var status: ControlReply.Status {
    let (agent, hardware) = (server.agent, server.agent.hardware.current)
    return ControlReply.Status(
      identifier: agent.identity.identifier, name: agent.identity.name, model: agent.identity.model,
      addresses: server.addresses.map(\.description), power: hardware.isPoweredOn, hinge: "\(hardware.hinge)",
      wear: "\(hardware.wear)", battery: hardware.batteryLevel, charging: "\(hardware.charging)",
      thermal: "\(hardware.thermal)", links: agent.linkCount, sessions: agent.sessionCount,
      streams: agent.runningVideoCount, pairing: server.isPairing, hosts: server.hosts.hosts.count)
  }
}

/// Cuts a stream of bytes into lines of bounded length.
private final class LineBuffer: Sendable {
  private let rest = Mutex<[UInt8]>([])

  /// The lines that are whole; nil when one is longer than may be.
  func take(_ bytes: [UInt8]) -> [[UInt8]]? {
    rest.withLock { rest in
      var parts = (rest + bytes).split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      rest = parts.popLast().map(Array.init) ?? []
      let isTooLong =
        rest.count > ControlService.longestLine || parts.contains { $0.count > ControlService.longestLine }
      return isTooLong ? nil : parts.map(Array.init)
    }
  }
}
