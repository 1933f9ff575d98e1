import Foundation
import GlassesAgent
import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// `glasswing glasses-ctl`: one request to the control socket of glasses on this machine.
struct GlassesControlCommand {
  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, timekeeper: any Timekeeper = SystemTimekeeper.shared) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> ExitStatus {
    let action = arguments.operand ?? ""
    let value = arguments.operands.dropFirst().first
    // Here as well as there, so that wrong words need no glasses.
    do throws(ControlAction.Problem) {
      _ = try ControlAction(action, value)
    } catch {
      throw CommandFailure(subject: "glasses-ctl", error.description, next: "see glasswing help glasses-ctl")
    }
    let reply = try await ask(ControlRequest(action: action, value: value))
    if let error = reply.error { throw CommandFailure(subject: "glasses-ctl", error) }
    try tell(reply)
    return .done
  }

  private func tell(_ reply: ControlReply) throws(CommandFailure) {
    if arguments.has(.json) { return try Console.shared.result(JSONResult.text(reply)) }
    if let uri = reply.uri { try PairingText.show(uri) }
    if let hosts = reply.hosts {
      let width = hosts.map(\.name.count).max() ?? 0
      for host in hosts {
        let gap = String(repeating: " ", count: width - host.name.count + 2)
        try Console.shared.result(host.name + gap + host.pin + "\n")
      }
      if hosts.isEmpty { Console.shared.log("paired with no host") }
    }
    if let status = reply.status { try Console.shared.result(Self.text(status)) }
  }

  static func text(_ status: ControlReply.Status) -> String {
    let rows = [
      ("name", status.name), ("identifier", status.identifier), ("model", status.model.isEmpty ? "-" : status.model),
      ("addresses", status.addresses.joined(separator: ", ")), ("power", status.power ? "on" : "off"),
      ("hinge", status.hinge), ("worn", status.wear), ("battery", status.battery.map { "\($0) %" } ?? "unknown"),
      ("charging", status.charging == "notCharging" ? "no" : status.charging == "charging" ? "yes" : "unknown"),
      ("thermal", status.thermal), ("links", "\(status.links)"), ("sessions", "\(status.sessions)"),
      ("streams", "\(status.streams)"), ("pairing", status.pairing ? "open" : "closed"), ("hosts", "\(status.hosts)"),
    ]
    return rows.map { $0.0 + String(repeating: " ", count: 12 - $0.0.count) + $0.1 + "\n" }.joined()
  }

  // MARK: - The socket

  private func ask(_ request: ControlRequest) async throws(CommandFailure) -> ControlReply {
    let folder = StateFolder.glasses(arguments)
    let path = "\(folder)/control.sock"
    let transport = UnixTransport(to: path)
    let answer = ResumeOnce<[UInt8]?>()
    let received = Received()
    transport.open(
      TransportHandlers(
        received: { bytes in
          transport.consumed(bytes.count)
          if let line = received.line(with: bytes) { answer.resume(with: line) }
        }, writable: {}, closed: { _ in answer.resume(with: nil) }))
    guard let data = try? JSONEncoder().encode(request) else {
      throw CommandFailure(subject: "glasses-ctl", "the request can't be written")
    }
    transport.write(Array(data) + [UInt8(ascii: "\n")])
    let line = await answer.value(within: .seconds(5), on: timekeeper, else: nil)
    transport.close()
    guard let line, let reply = try? JSONDecoder().decode(ControlReply.self, from: Data(line)) else {
      throw CommandFailure(
        subject: "glasses-ctl", "no glasses answer at \(path)",
        next: "start glasswing glasses, or name their folder after --state-dir")
    }
    return reply
  }

  /// What has come of the answer.
  private final class Received: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    func line(with more: [UInt8]) -> [UInt8]? {
      bytes.withLock { bytes in
        bytes += more
        return bytes.firstIndex(of: UInt8(ascii: "\n")).map { Array(bytes[..<$0]) }
      }
    }
  }
}
