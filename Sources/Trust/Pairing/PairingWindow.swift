import Units

/// The limits of a pairing.
package struct PairingRules: Sendable {
  /// Failures of one address that cost nothing: a text that was mistyped or has become old.
  package var freeFailures = 3
  /// The wait after the first failure beyond those; it doubles with each further one.
  package var firstDelay = Duration.seconds(1)
  package var longestDelay = Duration.seconds(60)
  /// An address that has been quiet for so long begins anew.
  package var forgetting = Duration.seconds(600)
  /// Addresses that are remembered.
  package var mostAddresses = 256

  package init() {}
}

/// When glasses may be paired, and by whom it may be tried: a value that is told the time.
///
/// It is opened with a new secret for a while. The first success ends it and the secret with it; failures never do, or
/// anybody on the network could keep glasses from being paired. What they cost is time, by address.
package struct PairingWindow: Sendable {
  /// Why nobody may try now.
  package enum Refusal: Error, Hashable, Sendable {
    case notOpen
    /// This address has failed too often.
    case tooManyFailures(until: Instant)
  }

  /// One connection's permission to try, which must be shown again when it succeeds.
  package struct Attempt: Sendable {
    package let offer: PairingOffer
    fileprivate let number: UInt64
    fileprivate let source: PairingSource
  }

  private struct Open {
    let offer: PairingOffer
    let until: Instant
  }

  private struct Failures {
    var count: Int
    var last: Instant
    var blockedUntil: Instant
  }

  private let rules: PairingRules
  private var open: Open?
  /// Which opening; an attempt of an earlier one is worth nothing.
  private var number: UInt64 = 0
  private var failures: [PairingSource: Failures] = [:]

  package init(rules: PairingRules = PairingRules()) { self.rules = rules }

  /// Opens it, in place of one that may be open: that one's secret is dead.
  package mutating func open(_ offer: PairingOffer, for length: Duration, at now: Instant) {
    number &+= 1
    open = Open(offer: offer, until: now + length)
  }

  /// Closes it; the secret is dead. Nothing when it is not open.
  package mutating func close() { open = nil }

  /// Never more than `PairingRules.mostAddresses`.
  var rememberedAddresses: Int { failures.count }

  package func isOpen(at now: Instant) -> Bool { open.map { now < $0.until } ?? false }

  /// When it will close by itself; nil when it is not open.
  package var deadline: Instant? { open?.until }

  /// Forgets the secret once its time is over.
  package mutating func timeout(at now: Instant) {
    if let open, now >= open.until { close() }
  }

  /// Whether a connection from this address may try, and with which secret.
  ///
  /// - Parameter address: an IP address as text, or any name of where a peer comes from.
  package mutating func attempt(from address: String, at now: Instant) throws(Refusal) -> Attempt {
    timeout(at: now)
    guard let open else { throw .notOpen }
    let source = PairingSource(address)
    if let known = failures[source], now < known.blockedUntil { throw .tooManyFailures(until: known.blockedUntil) }
    return Attempt(offer: open.offer, number: number, source: source)
  }

  /// The connection did not know the secret. Not for one that broke off or came by certificate.
  package mutating func failed(_ attempt: Attempt, at now: Instant) {
    forget(at: now)
    var known = failures[attempt.source] ?? Failures(count: 0, last: now, blockedUntil: .distantPast)
    known.count = known.count.addingSaturating(1)
    known.last = now
    known.blockedUntil = now + delay(after: known.count)
    failures[attempt.source] = known
  }

  /// The connection knew the secret. True for the first of an opening, which closes it; false for one that comes when it
  /// is closed, however long ago it began: that peer is not paired.
  package mutating func succeeded(_ attempt: Attempt, at now: Instant) -> Bool {
    timeout(at: now)
    guard open != nil, attempt.number == number else { return false }
    close()
    failures[attempt.source] = nil
    return true
  }

  private func delay(after count: Int) -> Duration {
    guard count > rules.freeFailures else { return .zero }
    var delay = rules.firstDelay
    for _ in 1..<min(count - rules.freeFailures, 64) where delay < rules.longestDelay { delay = delay * 2 }
    return min(delay, rules.longestDelay)
  }

  /// Makes room for one more. Whoever has many addresses pushes out its own oldest failures: the secret is too long to be
  /// guessed at any rate, and one who is not an attacker must not wait for those who are.
  private mutating func forget(at now: Instant) {
    guard failures.count >= rules.mostAddresses else { return }
    failures = failures.filter { now - $0.value.last < rules.forgetting || now < $0.value.blockedUntil }
    guard failures.count >= rules.mostAddresses else { return }
    if let oldest = failures.min(by: { $0.value.last < $1.value.last }) { failures[oldest.key] = nil }
  }
}

/// Where a peer comes from, as far as it is one party: an IPv4 address, the first half of an IPv6 address, of which one
/// household has all (RFC 6177), or a name.
struct PairingSource: Hashable, Sendable {
  private let bytes: [UInt8]

  init(_ address: String) {
    guard let parsed = HostAddress(address)?.addressBytes else {
      bytes = Array(address.utf8.prefix(64))
      return
    }
    let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
    if parsed.count == 16, parsed.starts(with: mapped) {
      bytes = Array(parsed.dropFirst(12))
    } else {
      bytes = Array(parsed.prefix(8))
    }
  }
}
