import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// The glasses' side of one pairing (docs/protocol.md, 11): takes the host's key and hands over the glasses'. The peer has
/// proved that it knows the secret.
final class PairingConversation: Sendable {
  /// From knowing the peer to the end.
  static let deadline: Duration = .seconds(10)

  private let home: GlassesHome
  private let secure: SecureTransport
  private let link: LinkConnection
  /// Keeps the host, or says in words why not.
  private let keep: @Sendable (PairedHosts.Host) -> String?
  /// Says in words why there was no pairing.
  private let failed: @Sendable (String) -> Void
  private let progress = Mutex(Progress.waiting)

  private enum Progress {
    case waiting, asked, kept
    /// Refused, and why.
    case refused(String)
  }

  private init(
    _ secure: SecureTransport, _ home: GlassesHome, hello: Hello, timekeeper: any Timekeeper,
    keep: @escaping @Sendable (PairedHosts.Host) -> String?, failed: @escaping @Sendable (String) -> Void
  ) {
    self.secure = secure
    self.home = home
    self.keep = keep
    self.failed = failed
    link = LinkConnection(
      endpoint: LinkEndpoint(hello: hello), transport: secure, timekeeper: timekeeper, name: "gw-pairing")
  }

  /// - Parameters:
  ///   - keep: called once at most, with a host that has shown its key, on the conversation's lane. It may block. What it
  ///     returns is why the host can't be kept.
  ///   - failed: called once if it ends without a host, on the same lane.
  static func begin(
    on secure: SecureTransport, _ home: GlassesHome, hello: Hello, timekeeper: any Timekeeper,
    keep: @escaping @Sendable (PairedHosts.Host) -> String?, failed: @escaping @Sendable (String) -> Void
  ) {
    let conversation = PairingConversation(
      secure, home, hello: hello, timekeeper: timekeeper, keep: keep, failed: failed)
    let link = conversation.link
    let timer = link.lane.run(at: timekeeper.now + deadline) { [weak conversation] in
      conversation?.refuse("the pairing took too long")
    }
    // The handler holds the conversation until the link has closed.
    link.start { event in
      conversation.handle(event)
      if case .closed = event { timer.cancel() }
    }
  }

  private func handle(_ event: LinkEvent) {
    switch event {
    case .opened(let hello):
      if hello.role != .companion || hello.purpose != .pairing { refuse("only a companion pairs") }
    case .message(.pairingRequest(let request)): take(request)
    case .message, .accessUnit, .audio, .photoProgress, .photo, .videoDropped, .audioDropped, .silent, .heardAgain,
      .clockRealigned:
      break
    case .closed(let close): closed(close)
    }
  }

  private func take(_ request: PairingRequest) {
    let isFirst = progress.withLock { progress in
      guard case .waiting = progress else { return false }
      progress = .asked
      return true
    }
    guard isFirst else { return refuse("a pairing is of one host") }
    guard let exported = secure.exportedKey(PairingProof.label),
      let key = try? PublicKey(subjectPublicKeyInfo: request.hostKey),
      PairingProof.isValid(request.signature, as: .host, by: key, exported: exported, host: key)
    else { return refuse("the host has not shown that the key is its own") }
    guard let host = PairedHosts.Host(name: request.hostName, key: key) else {
      return refuse("the host's name can't be shown")
    }
    let signature: [UInt8]
    do throws(KeyError) {
      signature = try PairingProof.signature(as: .agent, by: home.key, exported: exported, host: key)
    } catch {
      return refuse("\(error)")
    }
    if let objection = keep(host) { return refuse(objection) }
    progress.withLock { $0 = .kept }
    link.send(
      .pairingAccepted(
        PairingAccepted(agentKey: home.key.publicKey.subjectPublicKeyInfo, signature: signature)))
  }

  private func refuse(_ words: String) {
    progress.withLock { progress in
      switch progress {
      case .waiting, .asked: progress = .refused(words)
      case .kept, .refused: break
      }
    }
    link.close(Goodbye(reason: .refused, text: words))
  }

  private func closed(_ close: LinkClose) {
    let words: String? = progress.withLock { progress in
      switch progress {
      case .kept: nil
      case .refused(let words): words
      case .waiting, .asked:
        if case .protocolError(let error) = close.cause { error.description } else { "the host left before the end" }
      }
    }
    if let words { failed(words) }
  }
}
