import Units

/// Who may knock: the connections that have not said who they are, as a value. Nothing here is believed of a peer but its
/// address.
///
/// There are never more than `limit` of them, and each has until its deadline. When all places are taken a newcomer takes
/// that of another, so that strangers can't keep the door shut for as long as their deadlines last: the address with the most
/// connections gives one up, so no single address can push out those of others; of its connections the oldest that has said
/// nothing, else the oldest. So connections that never speak can't push out one that does.
package struct Admission {
  package struct Limits: Sendable {
    /// Connections that may be unauthenticated at a time.
    package var unauthenticated = 64
    /// How long one may take until it is authenticated.
    package var handshake: Duration = .seconds(5)
    /// Most bytes of one that are handed over and not consumed before it is authenticated.
    ///
    /// That bounds what strangers can take here at 1 MiB; what else they send the kernel keeps in each socket's receive
    /// buffer (`net.ipv4.tcp_rmem`, 128 KiB at first, and it grows only while it is read), 8 MiB at most.
    package var receiveLimit: ByteCount = .kibibytes(16)

    package init() {}
  }

  package struct Ticket: Hashable, Sendable {
    fileprivate let number: UInt64
  }

  /// What has become of connections, since the beginning.
  package struct Counts: Equatable, Sendable {
    package var arrived: UInt64 = 0
    package var authenticated: UInt64 = 0
    /// Gave their place to a newcomer.
    package var displaced: UInt64 = 0
    /// Were not authenticated in time.
    package var expired: UInt64 = 0
    /// Left, or were refused by what examines them, before they were authenticated.
    package var left: UInt64 = 0
    /// Most that were unauthenticated at a time.
    package var most = 0
  }

  /// The new one's ticket, and whose connection has to go for it.
  package struct Arrival: Equatable, Sendable {
    package let ticket: Ticket
    package let displaced: Ticket?
  }

  private struct Entry {
    let source: Source
    let deadline: Instant
    var hasSpoken = false
  }

  private let limits: Limits
  private var entries: [Ticket: Entry] = [:]
  private var nextNumber: UInt64 = 0
  package private(set) var counts = Counts()

  package init(_ limits: Limits = Limits()) { self.limits = limits }

  package var unauthenticated: Int { entries.count }

  /// When the next one has had its time.
  package var nextDeadline: Instant? { entries.values.lazy.map(\.deadline).min() }

  package mutating func arrived(from address: SocketAddress, at now: Instant) -> Arrival {
    counts.arrived += 1
    let source = Source(address)
    var displaced: Ticket?
    if entries.count >= max(1, limits.unauthenticated) {
      displaced = leastWorthy()
      if let displaced {
        entries[displaced] = nil
        counts.displaced += 1
      }
    }
    let ticket = Ticket(number: nextNumber)
    nextNumber += 1
    entries[ticket] = Entry(source: source, deadline: now + limits.handshake)
    counts.most = max(counts.most, entries.count)
    return Arrival(ticket: ticket, displaced: displaced)
  }

  /// The first bytes of it came.
  package mutating func spoke(_ ticket: Ticket) { entries[ticket]?.hasSpoken = true }

  /// It has said who it is, and that was verified: it leaves the count. False where its place is gone already: then it has
  /// to go.
  package mutating func authenticated(_ ticket: Ticket) -> Bool {
    guard entries.removeValue(forKey: ticket) != nil else { return false }
    counts.authenticated += 1
    return true
  }

  /// It is over. To be told of each connection; of one that was authenticated or has gone it changes nothing.
  package mutating func closed(_ ticket: Ticket) {
    if entries.removeValue(forKey: ticket) != nil { counts.left += 1 }
  }

  /// Those whose time is up, oldest first; they have to go.
  package mutating func timeout(at now: Instant) -> [Ticket] {
    let due = entries.filter { $0.value.deadline <= now }.keys.sorted { $0.number < $1.number }
    for ticket in due { entries[ticket] = nil }
    counts.expired += UInt64(due.count)
    return due
  }

  private func leastWorthy() -> Ticket? {
    let sizes = Dictionary(grouping: entries.keys) { entries[$0]?.source }.mapValues(\.count)
    let most = sizes.values.max()
    // Of two addresses with as many the one with the oldest connection gives it up.
    let candidates = entries.filter { sizes[$0.value.source] == most }
    return candidates.min { a, b in
      a.value.hasSpoken != b.value.hasSpoken ? !a.value.hasSpoken : a.key.number < b.key.number
    }?.key
  }
}

extension Admission {
  /// What one host can be expected to have: an IPv4 address, or the first half of an IPv6 address, of which each host has as
  /// many as it likes. On the same wire (link-local) all hosts share that half, so there it is the whole.
  private enum Source: Hashable {
    case ipv4(UInt32)
    case network(UInt64)
    case neighbour(UInt64, zone: UInt32)

    init(_ address: SocketAddress) {
      switch address.host {
      case .ipv4(let value): self = .ipv4(value)
      case .ipv6(_, let low, let zone) where address.isLinkLocal: self = .neighbour(low, zone: zone)
      case .ipv6(let high, _, _): self = .network(high)
      }
    }
  }
}
