import GlassesAgent
import LinkProtocol
import LinkTransport
import Synchronization
import Units

/// An app's end of a link to an agent, as bare as can be: sends messages, keeps what comes.
final class AppProbe: Sendable {
  private let connection: LinkConnection
  private let transport: MutableTransport
  private let seen = Mutex<[LinkEvent]>([])

  init(_ agent: GlassesAgent, timekeeper: any Timekeeper, app: String = "app") {
    var generator = SeededGenerator(seed: 7)
    let hello = Hello(
      role: .app, capabilities: [.videoHEVC, .photoJPEG, .audioPCM, .audioOpus], identifier: app, name: app,
      softwareVersion: "1",
      nonce: Nonce(from: &generator))
    let pair = MemoryLink.makePair(timekeeper: timekeeper)
    agent.accept(pair.glasses)
    transport = MutableTransport(pair.app)
    connection = LinkConnection(
      endpoint: LinkEndpoint(hello: hello), transport: transport, timekeeper: timekeeper, name: "probe")
    connection.start { [weak self] event in self?.seen.withLock { $0.append(event) } }
  }

  func send(_ message: Message) { connection.send(message) }
  /// The app is gone without a word.
  func vanish() { transport.mute() }
  func leave() { connection.close(Goodbye(reason: .finished)) }

  var events: [LinkEvent] { seen.withLock { $0 } }

  var messages: [Message] {
    events.compactMap {
      if case .message(let message) = $0 { message } else { nil }
    }
  }

  var reports: [DeviceStateReport] {
    messages.compactMap {
      if case .deviceState(let report) = $0 { report } else { nil }
    }
  }

  var units: [ReceivedUnit] {
    events.compactMap {
      if case .accessUnit(let unit) = $0 { unit } else { nil }
    }
  }

  var sound: [ReceivedAudio] {
    events.compactMap {
      if case .audio(let unit) = $0 { unit } else { nil }
    }
  }

  var photoResults: [PhotoResult] {
    messages.compactMap {
      if case .photoResult(let result) = $0 { result } else { nil }
    }
  }

  var photos: [PhotoID: [UInt8]] {
    events.reduce(into: [:]) {
      if case .photo(let id, let bytes) = $1 { $0[id] = bytes }
    }
  }

  var close: LinkClose? {
    if case .closed(let close) = events.last { close } else { nil }
  }

  var goodbye: Goodbye.Reason? {
    if case .goodbye(let goodbye) = close?.cause { goodbye.reason } else { nil }
  }
}

/// Grants the sensors to apps by name; the microphone unless it is denied to all.
final class ListedPermissions: AgentPermissions {
  private let allowed: Mutex<Set<String>>
  private let isMicrophoneDenied = Mutex(false)

  init(_ allowed: Set<String>) { self.allowed = Mutex(allowed) }

  var denyMicrophone: Bool {
    get { isMicrophoneDenied.withLock { $0 } }
    set { isMicrophoneDenied.withLock { $0 = newValue } }
  }

  func allow(_ app: String) { _ = allowed.withLock { $0.insert(app) } }
  func allowsCamera(app: String) -> Bool { allowed.withLock { $0.contains(app) } }
  func allowsMicrophone(app: String) -> Bool { !denyMicrophone && allowed.withLock { $0.contains(app) } }
}
