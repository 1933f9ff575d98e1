import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// An encoded picture into the link to the same one out of it: two connections joined in memory, at a stream's pace and with
/// a stream's sizes of units.
struct LinkBench {
  struct Figures: BenchFigures {
    let framesPerSecond: Int
    let unitBytes: Int
    let syncUnitBytes: Int
    let link: Spread
    let lost: Int

    enum CodingKeys: String, CodingKey {
      case link, lost
      case framesPerSecond = "fps"
      case unitBytes = "unit_bytes"
      case syncUnitBytes = "sync_unit_bytes"
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(framesPerSecond, forKey: .framesPerSecond)
      try container.encode(unitBytes, forKey: .unitBytes)
      try container.encode(syncUnitBytes, forKey: .syncUnitBytes)
      try container.encode(link, forKey: .link)
      try container.encode(lost, forKey: .lost)
      try link.encode(to: encoder)
    }

    var text: String {
      """
      link  \(link.text)
      units of \(unitBytes) bytes, sync units of \(syncUnitBytes), \(framesPerSecond) a second, \(lost) lost

      """
    }
  }

  /// What 1.5 Mbit/s at 30 pictures a second come to, and an IDR picture of 504x896.
  private static let unitBytes = 6000
  private static let syncUnitBytes = 20_000
  private static let stream = StreamID(1)

  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> Figures {
    let rate = arguments.text(.fps).flatMap { Int($0) } ?? 30
    let count = max(1, Int((arguments.duration(.seconds) ?? .seconds(10)).seconds * Double(rate)))
    let ends = MemoryLink.makePair(timekeeper: timekeeper)
    let glasses = connection(.glasses, ends.glasses)
    let app = connection(.app, ends.app)
    let opened = ResumeOnce<Bool>()
    let closed = ResumeOnce<Void>()
    let times = Mutex<[Duration]>([])
    glasses.start { event in
      if case .closed = event { closed.resume(with: ()) }
    }
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
    guard await opened.value() else {
      throw CommandFailure(subject: "link", "did not open", next: "see glasswing doctor")
    }
    let sent = await send(count, at: rate, over: glasses)
    glasses.close(Goodbye(reason: .finished))
    await closed.value()
    let measured = times.withLock { $0 }
    guard let spread = Spread(measured) else {
      throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure")
    }
    return Figures(
      framesPerSecond: rate, unitBytes: Self.unitBytes, syncUnitBytes: Self.syncUnitBytes, link: spread,
      lost: sent - measured.count)
  }

  private func send(_ count: Int, at rate: Int, over connection: LinkConnection) async -> Int {
    let lane = timekeeper.makeLane("bench-link")
    defer { lane.end() }
    let begun = timekeeper.now
    for number in 0..<count {
      guard Interruption.shared.signal == nil else { return number }
      await timekeeper.sleep(until: begun + .seconds(1) * number / rate, on: lane)
      let isSync = number % (2 * rate) == 0
      let payload = [UInt8](repeating: 0x5a, count: isSync ? Self.syncUnitBytes : Self.unitBytes)
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
