import COpenSSL

/// What a connection tells its owner, in this order: `established` at most once, `received` only behind it, and at the
/// end at most one of `closed` and `failed`, with nothing after it.
package enum TLSEvent: Hashable, Sendable {
  /// The peer is known. A client that showed a certificate hears by `failed` or by its first answer whether it was taken:
  /// in TLS 1.3 the server looks at it when the client is already through (RFC 8446, 4.4).
  case established(TLSPeer)
  case received([UInt8])
  /// The peer said that it is done. A transport that ends without this was cut: what came may not be all.
  case closed
  case failed(TLSError)
}

/// What one call brought about.
package struct TLSOutput: Hashable, Sendable {
  /// To the peer, also when an event says that the connection is over: the alert that tells it why.
  package var bytes: [UInt8] = []
  package var events: [TLSEvent] = []
}

/// One end of a TLS 1.3 connection (RFC 8446): bytes go in, bytes and events come out. No socket, no thread, no clock.
///
/// Nothing of an application passes, in either direction, before the peer is known as `TLSConfiguration` demands; what is
/// not plainly right ends the connection. The owner sets deadlines and limits what it hands over at once.
///
/// Not thread-safe: its owner guards it, and each call returns without waiting. A handshake takes about a millisecond of
/// processor at either end; a record of 16 KiB some microseconds.
package final class TLSEngine {
  private enum State {
    case handshake(received: Int)
    case established
    case ended
  }

  private let handshake: TLSHandshake
  private let isServer: Bool
  private var state = State.handshake(received: 0)
  private var connection: TLSConnection?
  private var hello = HelloGuard()
  private var plain: [UInt8] = []

  /// Throws `TLSError.Cause.library` when OpenSSL has no memory or can't do what is asked.
  package init(_ configuration: TLSConfiguration) throws(TLSError) {
    handshake = TLSHandshake(configuration)
    switch configuration.authentication {
    case .agent: isServer = true
    case .client, .pairing: isServer = false
    }
    connection = try TLSConnection(handshake, isServer: isServer)
  }

  /// Nothing goes in or out any more.
  package var isOver: Bool {
    if case .ended = state { return true }
    return false
  }

  // MARK: Input

  /// Begins. A client's first bytes; a server waits for them.
  package func start() -> TLSOutput {
    guard let connection, !isServer else { return TLSOutput() }
    OpenSSL.clearErrors()
    var output = TLSOutput()
    advance(connection, &output)
    return finish(connection, output)
  }

  /// Takes bytes of the peer's, cut anywhere. Bytes behind the end are dropped.
  package func receive(_ bytes: [UInt8]) -> TLSOutput {
    OpenSSL.clearErrors()
    guard let connection else { return TLSOutput() }
    var output = TLSOutput()
    var rest = bytes[...]
    while !rest.isEmpty, !isOver {
      var portion = rest
      if case .handshake(let received) = state {
        portion = rest.prefix(TLSLimits.handshake - received)
        guard !portion.isEmpty, !isServer || hello.allows(portion) else {
          end(.handshakeTooLong(limit: TLSLimits.handshake), connection, &output)
          break
        }
        state = .handshake(received: received + portion.count)
      }
      rest = rest.dropFirst(portion.count)
      guard connection.take(portion) else {
        end(.library("no memory"), connection, &output)
        break
      }
      advance(connection, &output)
    }
    return finish(connection, output)
  }

  /// Encrypts; all of it, at once. Before `established` it ends the connection, since it can only be a fault of ours;
  /// after the end it does nothing.
  package func send(_ bytes: [UInt8]) -> TLSOutput {
    OpenSSL.clearErrors()
    guard let connection, !bytes.isEmpty else { return TLSOutput() }
    var output = TLSOutput()
    switch state {
    case .handshake: end(.notEstablished, connection, &output)
    case .established:
      if !connection.write(bytes) { end(failure(connection), &output) }
    case .ended: break
    }
    return finish(connection, output)
  }

  /// Ends it from this side and tells the peer, if the two are through the handshake. Idempotent; no event.
  package func close() -> TLSOutput {
    OpenSSL.clearErrors()
    guard let connection else { return TLSOutput() }
    if case .established = state { connection.sayDone() }
    state = .ended
    return finish(connection, TLSOutput())
  }

  /// Bytes that both ends of this connection have and nobody else (RFC 8446, 7.5; RFC 5705), which bind to it what is
  /// signed inside (RFC 9266). Nil before `established` and after the end.
  package func exportedKey(_ label: String, count: Int = 32) -> [UInt8]? {
    OpenSSL.clearErrors()
    defer { OpenSSL.clearErrors() }
    guard case .established = state, let connection, 1...255 ~= count else { return nil }
    return connection.exportedKey(label, count: count)
  }

  // MARK: Progress

  private func advance(_ connection: TLSConnection, _ output: inout TLSOutput) {
    if case .handshake = state {
      let result = SSL_do_handshake(connection.handle)
      guard result == 1 else {
        let code = SSL_get_error(connection.handle, result)
        if code != SSL_ERROR_WANT_READ { end(failure(connection), &output) }
        return
      }
      guard let peer = provedPeer(connection, &output) else { return }
      state = .established
      output.events.append(.established(peer))
    }
    guard case .established = state else { return }
    read(connection, &output)
  }

  /// All that can be decrypted, as one piece, and what comes behind it.
  private func read(_ connection: TLSConnection, _ output: inout TLSOutput) {
    if plain.isEmpty { plain = [UInt8](repeating: 0, count: TLSLimits.record) }
    var received: [UInt8] = []
    var count = 0
    var result = SSL_read_ex(connection.handle, &plain, plain.count, &count)
    while result == 1 {
      received += plain[..<count]
      result = SSL_read_ex(connection.handle, &plain, plain.count, &count)
    }
    let code = SSL_get_error(connection.handle, result)
    if !received.isEmpty { output.events.append(.received(received)) }
    switch code {
    case SSL_ERROR_WANT_READ: break
    case SSL_ERROR_ZERO_RETURN:
      connection.sayDone()
      state = .ended
      output.events.append(.closed)
    default: end(failure(connection), &output)
    }
  }

  /// Whom the finished handshake proved the peer to be. Nil, and the end, when it proved nothing: whatever OpenSSL
  /// thinks, a peer is known by our own checks or not at all.
  private func provedPeer(_ connection: TLSConnection, _ output: inout TLSOutput) -> TLSPeer? {
    if let refusal = handshake.refusal {
      end(refusal, &output)
      return nil
    }
    guard connection.applicationProtocol == Array(handshake.configuration.applicationProtocol.utf8) else {
      end(TLSError(.protocolRefused(offered: []), stage: .hello), &output)
      return nil
    }
    let usesSecret = SSL_session_reused(connection.handle) == 1
    switch (handshake.configuration.authentication, usesSecret) {
    case (.pairing(let offer), true): return .pairing(offer.device)
    case (.agent(_, _, let pairing?), true) where handshake.offered != nil: return .pairing(pairing.device)
    case (.agent, false), (.client, false):
      guard let certified = handshake.certified, connection.peerPin == certified.pin else {
        end(TLSError(.certificateMissing, stage: .certificate), &output)
        return nil
      }
      return certified.peer
    case (.pairing, false), (.agent, true), (.client, true):
      end(TLSError(.secretNotUsed, stage: .secret), &output)
      return nil
    }
  }

  // MARK: End

  private func end(_ cause: TLSError.Cause, _ connection: TLSConnection, _ output: inout TLSOutput) {
    end(TLSError(cause, stage: stage(connection)), &output)
  }

  private func end(_ error: TLSError, _ output: inout TLSOutput) {
    state = .ended
    output.events.append(.failed(error))
  }

  /// Takes what is to be sent; at the end gives back all that the connection held.
  private func finish(_ connection: TLSConnection, _ output: TLSOutput) -> TLSOutput {
    var output = output
    output.bytes = connection.takeOutgoing()
    if isOver {
      self.connection = nil
      plain = []
    }
    OpenSSL.clearErrors()
    return output
  }

  private func stage(_ connection: TLSConnection) -> TLSError.Stage {
    if case .established = state { return .records }
    return connection.stage
  }

  private func failure(_ connection: TLSConnection) -> TLSError {
    let failure = OpenSSL.takeError()
    if let refusal = handshake.refusal { return refusal }
    let stage = stage(connection)
    if let alert = handshake.alert {
      let isOpen = stage == .records
      switch alert {
      case Alert.protocolVersion where !isOpen: return TLSError(.versionRefused, stage: .hello)
      case Alert.noApplicationProtocol where !isOpen: return TLSError(.protocolRefused(offered: []), stage: .hello)
      default: return TLSError(.refusedByPeer(alert: alert), stage: stage)
      }
    }
    switch failure.reason {
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_UNSUPPORTED_SSL_VERSION, SSL_R_WRONG_SSL_VERSION, SSL_R_WRONG_VERSION_NUMBER,
      SSL_R_VERSION_TOO_LOW, SSL_R_NO_PROTOCOLS_AVAILABLE:
      return TLSError(.versionRefused, stage: .hello)
    case SSL_R_BINDER_DOES_NOT_VERIFY: return TLSError(.secretWrong, stage: .secret)
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return TLSError(.certificateMissing, stage: .certificate)
    case SSL_R_EXCESSIVE_MESSAGE_SIZE where stage == .certificate:
      return TLSError(.certificateRefused(.tooLong(limit: Certificate.longest)), stage: .certificate)
    default: return TLSError(.malformed(failure.text), stage: stage)
    }
  }
}
