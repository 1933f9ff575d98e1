import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Units

/// What scripted glasses do by themselves.
struct GlassesScript: Sendable {
  enum Answer: Sendable { case none, opened, closed(SessionClosed.Reason, text: String) }
  /// To `sessionOpen`.
  var open: Answer = .opened
  /// To `sessionClose`.
  var close: Answer = .closed(.requested, text: "")
  /// False: they don't even say hello.
  var answersHello = true
}

/// Glasses that a test drives: they keep to the script, record what they were sent and send what they are told.
final class ScriptedGlasses: Sendable {
  let connection: LinkConnection
  /// Has one element once the link is over.
  let closed = Observed<LinkClose>()
  private let transport: any ByteTransport
  private let script: GlassesScript
  private let received = Mutex<[Message]>([])

  init(identifier: String, transport: any ByteTransport, timekeeper: any Timekeeper, script: GlassesScript) {
    self.script = script
    self.transport = transport
    var generator = CountingGenerator()
    let hello = Hello(
      role: .glasses, capabilities: [.videoHEVC], identifier: identifier, name: "Scripted", model: "Ray-Ban Meta",
      softwareVersion: "1", nonce: Nonce(from: &generator))
    connection = LinkConnection(
      endpoint: LinkEndpoint(hello: hello), transport: transport, timekeeper: timekeeper, name: "glasses")
  }

  func begin() {
    guard script.answersHello else { return }
    connection.start { [weak self] in self?.receive($0) }
  }

  /// What the app said, in order.
  var messages: [Message] { received.withLock { $0 } }
  var closeCause: LinkClose.Cause? { closed.values.first?.cause }

  func send(_ message: Message) { connection.send(message) }

  /// The transport ends without a word.
  func breakLink() { transport.close() }

  private func receive(_ event: LinkEvent) {
    switch event {
    case .message(let message):
      received.withLock { $0.append(message) }
      answer(message)
    case .closed(let close): closed.record(close)
    case .opened, .accessUnit, .audio, .audioDropped, .photoProgress, .photo, .videoDropped, .clockRealigned, .silent,
      .heardAgain:
      break
    }
  }

  private func answer(_ message: Message) {
    switch message {
    case .sessionOpen(let open): give(script.open, to: open.session)
    case .sessionClose(let close): give(script.close, to: close.session)
    default: break
    }
  }

  private func give(_ answer: GlassesScript.Answer, to session: SessionID) {
    switch answer {
    case .none: break
    case .opened: send(.sessionOpened(SessionOpened(session: session)))
    case .closed(let reason, let text):
      send(.sessionClosed(SessionClosed(session: session, reason: reason, text: text)))
    }
  }
}

/// Bytes that are the same in every run. (The system's generator is an empty struct; handed to a generic function it
/// brings the thread sanitizer down.)
struct CountingGenerator: RandomNumberGenerator {
  private var count: UInt64 = 0
  mutating func next() -> UInt64 {
    count &+= 0x0101_0101_0101_0101
    return count
  }
}
