import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// The host's side of one pairing (docs/protocol.md, 11): connects with the URI's secret, hands over the host's key and
/// takes the glasses'.
final class PairingClient: Sendable {
  enum Outcome: Sendable {
    case paired(PairedGlasses.Glasses)
    case failed(CompanionAnswer.Outcome, String)
  }

  /// From the beginning to the glasses' answer, over the slowest link there is.
  static let deadline: Duration = .seconds(15)

  private struct State {
    var done: (@Sendable (Outcome) -> Void)?
    var peer: Hello?
    var timer: LaneTimer?
  }

  private let uri: PairingURI
  private let host: HostIdentity
  private let secure: SecureTransport
  private let link: LinkConnection
  private let state: Mutex<State>

  private init(
    _ uri: PairingURI, _ host: HostIdentity, _ timekeeper: any Timekeeper,
    _ done: @escaping @Sendable (Outcome) -> Void
  ) throws(TLSError) {
    self.uri = uri
    self.host = host
    let tcp = TCPTransport(places: uri.addresses.map(\.text), port: uri.port)
    secure = try SecureTransport(over: tcp, TLSConfiguration(.pairing(uri.offer)), timekeeper: timekeeper)
    link = LinkConnection(
      endpoint: LinkEndpoint(hello: .companion(host, .pairing)), transport: secure, timekeeper: timekeeper,
      name: "gw-pairing")
    state = Mutex(State(done: done))
  }

  /// - Parameter done: called once, on the pairing's own link lane.
  static func pair(
    _ uri: PairingURI, as host: HostIdentity, timekeeper: any Timekeeper,
    done: @escaping @Sendable (Outcome) -> Void
  ) {
    let client: PairingClient
    do throws(TLSError) {
      client = try PairingClient(uri, host, timekeeper, done)
    } catch {
      return done(.failed(.failed, "\(error)"))
    }
    let timer = client.link.lane.run(at: timekeeper.now + deadline) { [weak client] in
      client?.end(.failed(.notReachable, "the glasses did not answer in time; are they on, and on this network?"))
    }
    client.state.withLock { $0.timer = timer }
    // The handler holds the client until the link has closed.
    client.link.start { client.handle($0) }
  }

  private func handle(_ event: LinkEvent) {
    switch event {
    case .opened(let hello): request(hello)
    case .message(.pairingAccepted(let accepted)): take(accepted)
    case .closed(let close): end(outcome(of: close))
    case .message, .accessUnit, .audio, .photoProgress, .photo, .videoDropped, .audioDropped, .silent, .heardAgain,
      .clockRealigned:
      break
    }
  }

  private func request(_ hello: Hello) {
    guard let exported = secure.exportedKey(PairingProof.label) else { return }
    do throws(KeyError) {
      let signature = try PairingProof.signature(
        as: .host, by: host.key, exported: exported, host: host.key.publicKey)
      state.withLock { $0.peer = hello }
      link.send(
        .pairingRequest(
          PairingRequest(
            hostName: host.name, hostKey: host.key.publicKey.subjectPublicKeyInfo, signature: signature)))
    } catch {
      end(.failed(.failed, "\(error)"))
    }
  }

  private func take(_ accepted: PairingAccepted) {
    guard let hello = state.withLock({ $0.peer }), let exported = secure.exportedKey(PairingProof.label),
      let key = try? PublicKey(subjectPublicKeyInfo: accepted.agentKey), key.pin == uri.pin,
      hello.identifier == uri.device.text,
      PairingProof.isValid(
        accepted.signature, as: .agent, by: key, exported: exported, host: host.key.publicKey)
    else {
      return end(
        .failed(.secretRefused, "who answered is not the glasses that showed this code; show a new one and try again"))
    }
    // What they call themselves where it can be shown, else what their code said.
    let glasses =
      PairedGlasses.Glasses(
        device: uri.device, name: hello.name, model: hello.model, pin: uri.pin, addresses: uri.addresses,
        port: uri.port)
      ?? PairedGlasses.Glasses(
        device: uri.device, name: uri.name, model: "", pin: uri.pin, addresses: uri.addresses, port: uri.port)
    guard let glasses else { return end(.failed(.failed, "the code holds values that can't be kept")) }
    end(.paired(glasses))
  }

  private func end(_ outcome: Outcome) {
    let (done, timer) = state.withLock { ($0.done.take(), $0.timer.take()) }
    timer?.cancel()
    link.close(Goodbye(reason: .finished))
    done?(outcome)
  }

  private func outcome(of close: LinkClose) -> Outcome {
    switch close.cause {
    case .goodbye(let goodbye):
      .failed(.glassesRefused, goodbye.text.isEmpty ? "the glasses ended the pairing" : goodbye.text)
    case .protocolError(let error): .failed(.failed, "\(error)")
    case .silent, .finished: .failed(.notReachable, "the glasses fell silent; try again")
    case .transport(let cause):
      if let failure = secure.failure {
        .failed(.secretRefused, "\(failure)")
      } else if case .failed(let words) = cause {
        .failed(.notReachable, words)
      } else {
        .failed(.secretRefused, "the glasses closed the connection; show a new code and try again")
      }
    }
  }
}
