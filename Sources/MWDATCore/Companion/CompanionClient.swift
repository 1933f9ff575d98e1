import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// An app's standing connection to its user's companion: made again whenever it ends, or when a companion comes up.
///
/// Knows the paired glasses as the companion tells of them, and has a certificate for this process's key. Any thread.
package final class CompanionClient: Sendable {
  private struct State {
    var link: LinkConnection?
    /// Which link; news of an earlier one count no more.
    var number: UInt64 = 0
    var isJoined = false
    /// Complete, as of the last companion.
    var listings: [GlassesListing] = []
    /// What a new connection has told so far.
    var incoming: [GlassesListing] = []
    var key: SigningKey?
    var identity: TLSIdentity?
    var pause = CompanionClient.firstPause
    var timer: LaneTimer?
    /// Forgets what the last companion said, unless a new one comes before.
    var forgetting: LaneTimer?
    var answers: [UInt32: ResumeOnce<CompanionAnswer?>] = [:]
    var nextRequest: UInt32 = 1
    var waiting: [ResumeOnce<Bool>] = []
    var isOver = false
  }

  private static let firstPause: Duration = .milliseconds(100)
  private static let longestPause: Duration = .seconds(2)
  /// How long what a companion said counts after it has gone: long enough that another process can take its place.
  private static let memory: Duration = .seconds(3)
  /// Longer than a pairing may take.
  private static let answerDeadline: Duration = .seconds(20)

  private let dial: @Sendable () -> (any ByteTransport)?
  private let hello: @Sendable () -> Hello
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let changed: @Sendable () -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - dial: a connection to the companion, not opened; nil while there is none. On the client's lane.
  ///   - hello: what the app says of itself, at each connection.
  ///   - changed: something of what can be read here is other than before. On the client's lane.
  package init(
    timekeeper: any Timekeeper, dial: @escaping @Sendable () -> (any ByteTransport)?,
    hello: @escaping @Sendable () -> Hello, changed: @escaping @Sendable () -> Void = {}
  ) {
    self.timekeeper = timekeeper
    self.dial = dial
    self.hello = hello
    self.changed = changed
    lane = timekeeper.makeLane("companion")
  }

  deinit { end() }

  /// Begins to connect. Once.
  package func start() { lane.run { [weak self] in self?.connect() } }

  /// Ends the connection, and what waits for an answer. Idempotent.
  package func end() {
    let old = state.withLock { state in
      let old = state
      state.isOver = true
      state.isJoined = false
      state.link = nil
      state.answers = [:]
      state.waiting = []
      return old
    }
    old.link?.close(Goodbye(reason: .finished))
    for answer in old.answers.values { answer.resume(with: nil) }
    for one in old.waiting { one.resume(with: false) }
    lane.end()
  }

  // MARK: - What is known

  /// A companion is there and has told of all its glasses.
  package var isJoined: Bool { state.withLock { $0.isJoined } }

  /// The paired glasses, in the companion's order.
  package var listings: [GlassesListing] { state.withLock { $0.listings } }

  /// With which glasses let this app in; nil before the companion has certified it.
  package var identity: TLSIdentity? { state.withLock { $0.identity } }

  /// True when a companion is there by then.
  package func joined(within limit: Duration) async -> Bool {
    let gate = ResumeOnce<Bool>()
    let isDecided = state.withLock { state in
      guard !state.isJoined, !state.isOver else { return true }
      state.waiting.append(gate)
      return false
    }
    guard !isDecided else { return isJoined }
    return await gate.value(within: limit, on: timekeeper, else: false)
  }

  /// Asks the companion; nil when it went away, or is not there.
  ///
  /// - Parameter message: makes the request for a number.
  package func answer(to message: (UInt32) -> Message) async -> CompanionAnswer? {
    let gate = ResumeOnce<CompanionAnswer?>()
    let request: (LinkConnection, UInt32)? = state.withLock { state in
      guard state.isJoined, let link = state.link else { return nil }
      defer { state.nextRequest &+= 1 }
      state.answers[state.nextRequest] = gate
      return (link, state.nextRequest)
    }
    guard let (link, number) = request else { return nil }
    link.send(message(number))
    defer { state.withLock { $0.answers[number] = nil } }
    return await gate.value(within: Self.answerDeadline, on: timekeeper, else: nil)
  }

  // MARK: - On the lane

  private func connect() {
    guard let transport = dial() else { return tryLater() }
    let link = LinkConnection(
      endpoint: LinkEndpoint(hello: hello()), transport: transport, timekeeper: timekeeper, name: "companion")
    let number: UInt64? = state.withLock { state in
      guard !state.isOver else { return nil }
      state.number += 1
      state.link = link
      state.incoming = []
      return state.number
    }
    guard let number else { return }
    link.start { [weak self, lane] event in lane.run { [weak self] in self?.handle(event, of: number) } }
  }

  private func tryLater() {
    let now = timekeeper.now
    let old: LaneTimer? = state.withLock { state in
      guard !state.isOver else { return nil }
      let pause = state.pause
      state.pause = min(pause * 2, Self.longestPause)
      defer { state.timer = lane.run(at: now + pause) { [weak self] in self?.connect() } }
      return state.timer
    }
    old?.cancel()
  }

  private func handle(_ event: LinkEvent, of number: UInt64) {
    guard state.withLock({ $0.number == number && !$0.isOver }) else { return }
    switch event {
    case .opened: askForCertificate()
    case .message(let message): take(message)
    case .closed: lost()
    case .accessUnit, .audio, .photoProgress, .photo, .videoDropped, .audioDropped, .silent, .heardAgain,
      .clockRealigned:
      break
    }
  }

  private func askForCertificate() {
    let (link, key): (LinkConnection?, SigningKey?) = state.withLock { state in
      // Without a key there is no link to glasses, and they read as connecting; the next connection tries again.
      if state.key == nil { state.key = try? SigningKey() }
      return (state.link, state.key)
    }
    guard let key else { return }
    link?.send(.certificateRequest(CertificateRequest(appKey: key.publicKey.subjectPublicKeyInfo)))
  }

  private func take(_ message: Message) {
    switch message {
    case .glassesListing(let listing): take(listing)
    case .glassesRemoved(let removed):
      state.withLock { state in state.listings.removeAll { $0.identifier == removed.identifier } }
      changed()
    case .glassesListed: joined()
    case .certificateIssued(let issued):
      state.withLock { state in
        guard let key = state.key, let certificate = try? Certificate(der: issued.certificate) else { return }
        state.identity = TLSIdentity(key: key, certificate: certificate)
      }
      changed()
    case .companionAnswer(let answer):
      state.withLock { $0.answers.removeValue(forKey: answer.number) }?.resume(with: answer)
    // The endpoint lets nothing else through that a companion may send.
    case _: break
    }
  }

  private func take(_ listing: GlassesListing) {
    let isNews = state.withLock { state in
      guard state.isJoined else {
        state.incoming.append(listing)
        return false
      }
      if let index = state.listings.firstIndex(where: { $0.identifier == listing.identifier }) {
        state.listings[index] = listing
      } else {
        state.listings.append(listing)
      }
      return true
    }
    if isNews { changed() }
  }

  private func joined() {
    let (waiting, forgetting) = state.withLock { state in
      state.isJoined = true
      state.listings = state.incoming
      state.incoming = []
      state.pause = Self.firstPause
      defer { state.waiting = [] }
      return (state.waiting, state.forgetting.take())
    }
    forgetting?.cancel()
    changed()
    for one in waiting { one.resume(with: true) }
  }

  private func lost() {
    let now = timekeeper.now
    let answers = state.withLock { state in
      state.link = nil
      if state.isJoined {
        state.forgetting = lane.run(at: now + Self.memory) { [weak self] in self?.forget() }
      }
      state.isJoined = false
      defer { state.answers = [:] }
      return Array(state.answers.values)
    }
    for answer in answers { answer.resume(with: nil) }
    tryLater()
  }

  /// No companion has come in the place of the last one.
  private func forget() {
    state.withLock { state in
      guard !state.isJoined else { return }
      state.listings = []
      state.identity = nil
    }
    changed()
  }

  /// What the last companion said still counts.
  package var isRemembered: Bool { state.withLock { $0.isJoined || $0.forgetting.map { !$0.isSpent } ?? false } }
}
