import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// Encoded pictures into a link to the same ones out of it, at a stream's pace and with a stream's sizes of units.
struct LinkMeasurement {
  struct Result: Sendable {
    /// Of each unit that came out, from the moment at which it went in.
    var times: [Duration]
    var sent: Int
  }

  let unitBytes: Int
  /// Of the first unit, and of one each two seconds.
  let syncUnitBytes: Int
  /// Units a second.
  let rate: Int
  let count: Int
  let timekeeper: any Timekeeper

  private static let stream = StreamID(1)

  /// - Parameter glassesEnd: asked for once the app's end is open.
  func run(
    app appEnd: any ByteTransport, glasses glassesEnd: () async -> any ByteTransport
  ) async throws(CommandFailure) -> Result {
    let app = connection(.app, appEnd)
    let opened = ResumeOnce<Bool>()
    let closed = ResumeOnce<Void>()
    let times = Mutex<[Duration]>([])
    app.start { [timekeeper] event in
      switch event {
      case .opened: opened.resume(with: true)
      case .accessUnit(let received):
        // Each unit carries the moment at which it went in: both ends have one clock here.
        let sent = Instant(nanoseconds: received.unit.captured.nanoseconds)
        times.withLock { $0.append(timekeeper.now - sent) }
      case .closed: opened.resume(with: false)
      case .message, .photoProgress, .photo, .videoDropped, .audio, .audioDropped, .clockRealigned, .silent,
        .heardAgain:
        break
      }
    }
    let glasses = connection(.glasses, await glassesEnd())
    glasses.start { event in
      if case .closed = event { closed.resume(with: ()) }
    }
    guard await opened.value() else {
      throw CommandFailure(subject: "link", "did not open", next: "see glasswing doctor")
    }
    let sent = await send(over: glasses)
    glasses.close(Goodbye(reason: .finished))
    await closed.value()
    return Result(times: times.withLock { $0 }, sent: sent)
  }

  private func send(over connection: LinkConnection) async -> Int {
    let lane = timekeeper.makeLane("bench-link")
    defer { lane.end() }
    let begun = timekeeper.now
    for number in 0..<count {
      guard Interruption.shared.signal == nil else { return number }
      await timekeeper.sleep(until: begun + .seconds(1) * number / rate, on: lane)
      let isSync = number % (2 * rate) == 0
      let payload = [UInt8](repeating: 0x5a, count: isSync ? syncUnitBytes : unitBytes)
      connection.send(
        AccessUnit(
          stream: Self.stream, flags: isSync ? [.sync, .parameterSets] : [], codec: .hevc,
          size: PixelSize(width: 504, height: 896), captured: DeviceTime(nanoseconds: timekeeper.now.nanoseconds),
          payload: payload))
    }
    await timekeeper.sleep(until: timekeeper.now + .milliseconds(200), on: lane)
    return count
  }

  private func connection(_ role: LinkRole, _ transport: any ByteTransport) -> LinkConnection {
    let hello = Hello(
      role: role, capabilities: [.videoHEVC], identifier: "bench", name: "bench",
      softwareVersion: GlasswingProgram.version, nonce: Nonce())
    return LinkConnection(
      endpoint: LinkEndpoint(hello: hello), transport: transport, timekeeper: timekeeper, name: "bench-\(role)")
  }
}
