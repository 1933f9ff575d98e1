import LinkProtocol
import LinkTransport
import MWDATMockDevice
import TestSupport
import Units

/// Another app at the same glasses, as bare as can be: a link of its own that no fault of the first app's touches.
final class OtherApp: Sendable {
  let faults: LinkConditioner
  private let events = Observed<LinkEvent>()
  private let connection: LinkConnection
  private let transport: any ByteTransport
  private let session = SessionID(1)

  init(at glasses: SimulatedGlasses, _ clock: ManualTimekeeper) {
    var generator = SeededGenerator(seed: 9)
    let hello = Hello(
      role: .app, capabilities: [.videoHEVC, .photoJPEG], identifier: "other.app", name: "Other", softwareVersion: "1",
      nonce: Nonce(from: &generator))
    faults = LinkConditioner(timekeeper: clock, seed: 1)
    let wire = MemoryLink.makePair(timekeeper: clock)
    let pair = faults.join(app: wire.app, glasses: wire.glasses)
    glasses.agent.accept(pair.glasses)
    transport = pair.app
    connection = LinkConnection(
      endpoint: LinkEndpoint(hello: hello), transport: pair.app, timekeeper: clock, name: "other app")
    connection.start { [events] in events.record($0) }
    connection.send(.sessionOpen(SessionOpen(session: session)))
  }

  /// Takes the camera, or tries to.
  func startStream(_ number: UInt32) {
    let video = VideoParameters(codec: .hevc, size: PixelSize(width: 360, height: 640), frameRate: 15)
    connection.send(.streamStart(StreamStart(stream: StreamID(number), session: session, video: video)))
  }

  func stopStream(_ number: UInt32) { connection.send(.streamStop(StreamStop(stream: StreamID(number)))) }

  /// Gone without a word: its process is dead and nothing tells the glasses.
  func vanish() {
    faults.hold(.toApp)
    faults.hold(.toGlasses)
  }

  /// Its transport breaks.
  func breakLink() { transport.close() }

  func leave() { connection.close(Goodbye(reason: .finished)) }

  var unitCount: Int {
    events.values.count { if case .accessUnit = $0 { true } else { false } }
  }

  var lastStop: StreamStopped? {
    events.values.reversed().lazy.compactMap {
      if case .message(.streamStopped(let stopped)) = $0 { stopped } else { nil }
    }.first
  }
}
