import Testing

@testable import Trust

/// `#expect` for calls that change what they are called on, which the macro can't take.
func check(_ isSo: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  #expect(isSo, sourceLocation: sourceLocation)
}

/// A key with its certificate, made for one test.
struct Party {
  let key: SigningKey
  let certificate: Certificate
  let identity: TLSIdentity

  /// Glasses or a host.
  init(_ role: CertificateRole) throws {
    let key = try SigningKey()
    try self.init(key, Certificate.selfSigned(key, as: role))
  }

  init(app identifier: String, of host: Party) throws {
    let key = try SigningKey()
    try self.init(
      key, Certificate.app(identifier, key: key.publicKey, signedBy: host.key, validity: .unlimited))
  }

  init(_ key: SigningKey, _ certificate: Certificate) throws {
    self.key = key
    self.certificate = certificate
    identity = try #require(TLSIdentity(key: key, certificate: certificate))
  }

  var pin: KeyPin { key.pin }
}

func makeOffer(_ device: String = "lab-3", secret: PairingSecret = PairingSecret()) throws -> PairingOffer {
  PairingOffer(device: try #require(GlassesIdentifier(device)), secret: secret)
}

/// Two engines joined by arrays, and all that they said.
final class TLSPair {
  let client: TLSEngine
  let server: TLSEngine
  private(set) var clientEvents: [TLSEvent] = []
  private(set) var serverEvents: [TLSEvent] = []
  /// What each side has sent, a flight each.
  private(set) var fromClient: [[UInt8]] = []
  private(set) var fromServer: [[UInt8]] = []

  /// What a network does to a flight: the portions that arrive instead.
  var disturbsClient: (Int, [UInt8]) -> [[UInt8]] = { [$1] }
  var disturbsServer: (Int, [UInt8]) -> [[UInt8]] = { [$1] }
  /// If given, flights arrive byte by byte, and it is called after each.
  var onByteToServer: (() -> Void)?
  var onByteToClient: (() -> Void)?

  init(client: TLSConfiguration, server: TLSConfiguration) throws {
    self.client = try TLSEngine(client)
    self.server = try TLSEngine(server)
  }

  convenience init(
    client: TLSConfiguration.Authentication, agent: Party, hosts: [PublicKey], pairing: PairingOffer? = nil
  ) throws {
    try self.init(
      client: TLSConfiguration(client),
      server: TLSConfiguration(.agent(agent.identity, hosts: hosts, pairing: pairing)))
  }

  /// Both begin; returns when nothing moves any more.
  func start() {
    let toServer = take(client: client.start())
    let toClient = take(server: server.start())
    exchange(toServer: toServer, toClient: toClient)
  }

  func clientSends(_ bytes: [UInt8]) { exchange(toServer: take(client: client.send(bytes)), toClient: []) }
  func serverSends(_ bytes: [UInt8]) { exchange(toServer: [], toClient: take(server: server.send(bytes))) }
  func clientCloses() { exchange(toServer: take(client: client.close()), toClient: []) }
  func serverCloses() { exchange(toServer: [], toClient: take(server: server.close())) }

  var clientPeer: TLSPeer? { Self.peer(clientEvents) }
  var serverPeer: TLSPeer? { Self.peer(serverEvents) }
  var clientError: TLSError? { Self.error(clientEvents) }
  var serverError: TLSError? { Self.error(serverEvents) }
  var serverReceived: [UInt8] { Self.received(serverEvents) }
  var clientReceived: [UInt8] { Self.received(clientEvents) }

  private func exchange(toServer: [UInt8], toClient: [UInt8]) {
    var (toServer, toClient) = (toServer, toClient)
    while !toServer.isEmpty || !toClient.isEmpty {
      let (arriving, answering) = (toServer, toClient)
      (toServer, toClient) = ([], [])
      if !arriving.isEmpty {
        for portion in disturbsClient(fromClient.count - 1, arriving).flatMap({ cut($0, onByteToServer) }) {
          toClient += take(server: server.receive(portion))
          onByteToServer?()
        }
      }
      if !answering.isEmpty {
        for portion in disturbsServer(fromServer.count - 1, answering).flatMap({ cut($0, onByteToClient) }) {
          toServer += take(client: client.receive(portion))
          onByteToClient?()
        }
      }
    }
  }

  private func cut(_ portion: [UInt8], _ watcher: (() -> Void)?) -> [[UInt8]] {
    watcher == nil ? [portion] : portion.map { [$0] }
  }

  private func take(client output: TLSOutput) -> [UInt8] {
    clientEvents += output.events
    if !output.bytes.isEmpty { fromClient.append(output.bytes) }
    return output.bytes
  }

  private func take(server output: TLSOutput) -> [UInt8] {
    serverEvents += output.events
    if !output.bytes.isEmpty { fromServer.append(output.bytes) }
    return output.bytes
  }

  static func peer(_ events: [TLSEvent]) -> TLSPeer? {
    events.lazy.compactMap { if case .established(let peer) = $0 { peer } else { nil } }.first
  }

  static func error(_ events: [TLSEvent]) -> TLSError? {
    events.lazy.compactMap { if case .failed(let error) = $0 { error } else { nil } }.first
  }

  static func received(_ events: [TLSEvent]) -> [UInt8] {
    events.flatMap { if case .received(let bytes) = $0 { bytes } else { [UInt8]() } }
  }
}
