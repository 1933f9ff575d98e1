import LinkProtocol
import Trust
import Units

/// What the companion's standing link to one pair of glasses says of them, and when the next try is due, as a value.
struct PresenceMachine: Sendable {
  /// Why a link to glasses is over, as far as it matters here.
  enum End: Hashable, Sendable {
    /// Not there, or off, or gone: they may come back any moment.
    case away
    /// They don't trust this host, or have another key than the paired one.
    case unpaired
    case incompatible
  }

  /// First pause between two tries, and longest: a board that has booted is found within seconds.
  static let firstPause: Duration = .milliseconds(250)
  static let longestPause: Duration = .seconds(5)
  /// Between tries where only people can change anything.
  static let hopelessPause: Duration = .seconds(30)

  private(set) var presence = GlassesListing.Presence.connecting
  /// When to try again; nil while a link is up or being tried.
  private(set) var nextTry: Instant?
  private var pause = firstPause

  /// They say how they are.
  mutating func reported() {
    presence = .connected
    pause = Self.firstPause
  }

  mutating func silent() { presence = .away }

  mutating func heardAgain() { presence = .connected }

  mutating func closed(_ end: End, at now: Instant) {
    switch end {
    case .away:
      // At once after a link that was up; what it then finds decides what is said.
      presence = presence == .connected ? .connecting : .away
      nextTry = now + pause
      pause = min(pause * 2, Self.longestPause)
    case .unpaired, .incompatible:
      presence = end == .unpaired ? .unpaired : .incompatible
      nextTry = now + Self.hopelessPause
      pause = Self.firstPause
    }
  }

  /// True when a try is due; then it counts as begun.
  mutating func timeout(at now: Instant) -> Bool {
    guard let nextTry, nextTry <= now else { return false }
    self.nextTry = nil
    return true
  }

  /// They were seen somewhere: a try that waits is due now.
  mutating func found(at now: Instant) {
    guard nextTry != nil else { return }
    nextTry = now
    pause = Self.firstPause
  }
}

extension PresenceMachine.End {
  /// - Parameter failure: of the last connection's TLS.
  init(_ close: LinkClose, failure: TLSError?) {
    self =
      switch close.cause {
      case .goodbye(let goodbye):
        switch goodbye.reason {
        case .unpaired: .unpaired
        case .versionMismatch: .incompatible
        case .finished, .protocolViolation, .poweringOff, .hingeClosed, .internalError, .refused: .away
        }
      case .protocolError(let error):
        if case .versionMismatch = error.cause { .incompatible } else { .away }
      case .transport: failure.map(Self.init) ?? .away
      case .finished, .silent: .away
      }
  }

  private init(_ failure: TLSError) {
    self =
      switch failure.cause {
      case .refusedByPeer, .agentUnknown: failure.isOfVersion ? .incompatible : .unpaired
      case .protocolRefused, .versionRefused: .incompatible
      case .notPaired, .pairingUnknown, .secretWrong, .secretNotUsed, .certificateMissing, .certificateRefused,
        .chainTooLong, .hostUnknown, .malformed, .handshakeTooLong, .notEstablished, .library:
        .away
      }
  }
}

extension TLSError {
  /// Protocol version, or no application protocol in common (RFC 8446, 6; RFC 7301, 3.2).
  fileprivate var isOfVersion: Bool {
    switch cause {
    case .refusedByPeer(70), .refusedByPeer(120): true
    case _: false
    }
  }
}
