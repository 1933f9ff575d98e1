import Foundation
import LinkProtocol
import LinkTransport
import Units

/// What a socket adds to a link: the same units through memory, TCP and a Unix socket of this host, in turn.
struct SocketBench {
  struct Figures: BenchFigures {
    let framesPerSecond: Int
    let unitBytes: Int
    let runs: Int
    let memory: Spread
    let tcp: Spread
    let unix: Spread
    let lost: Int
    let congestionControl: String

    enum CodingKeys: String, CodingKey {
      case runs, memory, tcp, unix, lost
      case framesPerSecond = "fps"
      case unitBytes = "unit_bytes"
      case congestionControl = "congestion_control"
    }

    var text: String {
      """
      memory  \(memory.text)
      tcp     \(tcp.text)
      unix    \(unix.text)
      units of \(unitBytes) bytes, \(framesPerSecond) a second, \(lost) lost; medians of \(runs) runs; tcp has \
      \(congestionControl)

      """
    }
  }

  private enum Medium: CaseIterable {
    case memory, tcp, unix
  }

  /// What 1 Mbit/s at 24 pictures a second come to.
  private static let unitBytes = 5000
  private static let usualRuns = 5

  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> Figures {
    let rate = arguments.text(.fps).flatMap { Int($0) } ?? 24
    let runs = arguments.has(.runs) ? arguments.count(.runs) ?? Self.usualRuns : Self.usualRuns
    let measurement = LinkMeasurement(
      unitBytes: Self.unitBytes, syncUnitBytes: Self.unitBytes, rate: rate,
      count: max(1, Int((arguments.duration(.seconds) ?? .seconds(3)).seconds * Double(rate))), timekeeper: timekeeper)
    var spreads: [Medium: [Spread]] = [:]
    var (lost, congestionControl) = (0, "")
    for _ in 0..<runs where Interruption.shared.signal == nil {
      for medium in Medium.allCases {
        let result = try await run(measurement, over: medium, &congestionControl)
        lost += result.sent - result.times.count
        if let spread = Spread(result.times) { spreads[medium, default: []].append(spread) }
      }
    }
    guard let memory = Spread(medianOf: spreads[.memory] ?? []), let tcp = Spread(medianOf: spreads[.tcp] ?? []),
      let unix = Spread(medianOf: spreads[.unix] ?? [])
    else { throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure") }
    return Figures(
      framesPerSecond: rate, unitBytes: Self.unitBytes, runs: runs, memory: memory, tcp: tcp, unix: unix, lost: lost,
      congestionControl: congestionControl)
  }

  private func run(
    _ measurement: LinkMeasurement, over medium: Medium, _ congestionControl: inout String
  ) async throws(CommandFailure) -> LinkMeasurement.Result {
    do {
      switch medium {
      case .memory:
        let ends = MemoryLink.makePair(timekeeper: timekeeper)
        return try await measurement.run(app: ends.app) { ends.glasses }
      case .tcp:
        let accepted = ResumeOnce<TCPTransport>()
        let listener = try TCPListener(on: HostPort(host: "127.0.0.1", port: 0))
        try listener.start { transport, _ in accepted.resume(with: transport) }
        var algorithm: String?
        let result = try await measurement.run(app: TCPTransport(to: listener.addresses)) {
          let transport = await accepted.value()
          algorithm = transport.congestionControl
          return transport
        }
        congestionControl = algorithm ?? congestionControl
        return result
      case .unix:
        let accepted = ResumeOnce<UnixTransport>()
        let path = FileManager.default.temporaryDirectory
          .appendingPathComponent("glasswing-\(UUID().uuidString.prefix(8))").path
        let listener = try UnixListener(on: path)
        try listener.start { accepted.resume(with: $0) }
        return try await measurement.run(app: UnixTransport(to: path)) { await accepted.value() }
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(subject: "bench", "\(error)", next: "see glasswing doctor")
    }
  }
}
