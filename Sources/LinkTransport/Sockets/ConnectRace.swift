import Units

/// Which address of several to try when, as a value: the next one begins when the one before has failed or has had a head
/// start, and the first to come up wins. (RFC 8305, 5, without its sorting by what was learnt before.)
struct ConnectRace {
  enum Action: Equatable {
    case begin(Int)
    /// This one is up; the others are given up.
    case won(Int)
    case lost(SocketFailure)
  }

  private enum State {
    /// The addresses are not known.
    case waiting
    case running(nextStart: Instant)
    case over
  }

  private let openedAt: Instant
  private let limit: Duration
  private let headStart: Duration
  private var state = State.waiting
  private var addresses: [String] = []
  private var begun = 0
  private var underWay: Set<Int> = []
  private var failures: [ConnectFailure] = []

  /// RFC 8305, 5: "Connection Attempt Delay".
  static let headStart: Duration = .milliseconds(250)

  init(openedAt: Instant, limit: Duration, headStart: Duration = Self.headStart) {
    self.openedAt = openedAt
    self.limit = limit
    self.headStart = headStart
  }

  var nextDeadline: Instant? {
    switch state {
    case .waiting: openedAt + limit
    case .running(let nextStart): min(openedAt + limit, nextStart)
    case .over: nil
    }
  }

  mutating func resolved(_ addresses: [String], at now: Instant) -> [Action] {
    guard case .waiting = state else { return [] }
    self.addresses = addresses
    guard !addresses.isEmpty else { return end(.lost(.noAddress)) }
    return begin(at: now)
  }

  mutating func notResolved(_ failure: SocketFailure) -> [Action] {
    guard case .waiting = state else { return [] }
    return end(.lost(failure))
  }

  mutating func connected(_ index: Int) -> [Action] {
    guard case .running = state, underWay.contains(index) else { return [] }
    return end(.won(index))
  }

  mutating func failed(_ index: Int, _ cause: SocketFailure, at now: Instant) -> [Action] {
    guard case .running = state, underWay.remove(index) != nil else { return [] }
    failures.append(ConnectFailure(address: addresses[index], cause: cause))
    if begun < addresses.count { return begin(at: now) }
    return underWay.isEmpty ? end(.lost(.unreachable(failures))) : []
  }

  mutating func timeout(at now: Instant) -> [Action] {
    switch state {
    case .over: return []
    case .waiting, .running:
      if now >= openedAt + limit {
        guard !addresses.isEmpty else { return end(.lost(.timedOut(after: limit))) }
        let silent = addresses.indices.filter { underWay.contains($0) || $0 >= begun }
        return end(
          .lost(
            .unreachable(
              failures + silent.map { ConnectFailure(address: addresses[$0], cause: .timedOut(after: limit)) })))
      }
      guard case .running(let nextStart) = state, nextStart <= now else { return [] }
      return begin(at: now)
    }
  }

  private mutating func begin(at now: Instant) -> [Action] {
    let index = begun
    begun += 1
    underWay.insert(index)
    state = .running(nextStart: begun < addresses.count ? now + headStart : .distantFuture)
    return [.begin(index)]
  }

  private mutating func end(_ action: Action) -> [Action] {
    state = .over
    underWay = []
    return [action]
  }
}
