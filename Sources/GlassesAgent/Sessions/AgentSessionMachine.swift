import LinkProtocol
import Units

/// The sessions of a pair of glasses as a state machine: what links bring and what happens to the glasses goes in,
/// actions come out.
///
/// A link carries one session at a time, a session one stream at a time. The camera is lent to one link (the one with
/// a stream or a photo in flight); others are answered `heldByOther` until it is free.
package struct AgentSessionMachine: Sendable {
  /// Photos of one session that may be in flight. An app that gave up on one asks for the next before the glasses are
  /// done with the first, and must not be refused for that; more is an app that does not wait at all.
  package static let photosInFlight = 2

  struct Session: Sendable {
    enum Phase: Sendable { case running, paused }
    let id: SessionID
    var phase = Phase.running
    /// What was agreed; its pictures come while the phase is `running`.
    var stream: (id: StreamID, video: VideoParameters)?
    var photos: [PhotoID] = []
  }

  struct Link: Sendable {
    let key: LinkKey
    /// The app's identifier.
    let app: String
    var session: Session?

    var usesCamera: Bool { session?.stream != nil || session?.photos.isEmpty == false }
  }

  /// In order of arrival, so that what concerns all links is done in one order.
  var links: [Link] = []

  package init() {}

  /// Sessions that are open, running or paused.
  package var sessionCount: Int { links.count { $0.session != nil } }

  // MARK: - Links

  /// A peer's hello was accepted.
  package mutating func linkOpened(_ key: LinkKey, hello: Hello, report: DeviceStateReport) -> [SessionAction] {
    guard hello.role != .glasses else {
      return [.close(key, Goodbye(reason: .protocolViolation, text: "glasses don't serve glasses"))]
    }
    links.append(Link(key: key, app: hello.identifier))
    return [.send(key, .deviceState(report))]
  }

  /// The link is gone; nothing can be sent on it.
  package mutating func linkClosed(_ key: LinkKey) -> [SessionAction] {
    guard let index = index(of: key) else { return [] }
    let actions = release(index)
    links.remove(at: index)
    return actions
  }

  package mutating func received(_ message: Message, from key: LinkKey, conditions: SessionConditions)
    -> [SessionAction]
  {
    guard !conditions.faults.ignoresMessages, let index = index(of: key) else { return [] }
    switch message {
    case .sessionOpen(let open): return openSession(open, index, conditions)
    case .sessionClose(let close): return closeSession(close, index)
    case .streamStart(let start): return startStream(start, index, conditions)
    case .streamStop(let stop): return stopStream(stop, index)
    case .keyframeRequest(let request): return requestKeyframe(request, index, conditions)
    case .photoRequest(let request): return requestPhoto(request, index, conditions)
    // The rate follows no feedback yet: the encoder keeps what the size was given. A failure on the app's side is for
    // its own log.
    case .feedback, .failure: return []
    // The endpoint answers these itself.
    case .hello, .goodbye, .ping, .pong, .clockRequest, .clockReply: return []
    // Only glasses send these.
    case .deviceState, .sessionOpened, .sessionPaused, .sessionResumed, .sessionClosed, .streamStarted,
      .streamChanged, .streamStopped, .photoResult:
      return violation(index, "a message that only glasses send")
    }
  }

  /// Media came from a peer; glasses only send it.
  package mutating func receivedMedia(from key: LinkKey) -> [SessionAction] {
    guard let index = index(of: key) else { return [] }
    return violation(index, "media that only glasses send")
  }

  // MARK: - The glasses

  /// The state that apps are told of is a new one.
  package func reportChanged(_ report: DeviceStateReport) -> [SessionAction] {
    links.map { .send($0.key, .deviceState(report)) }
  }

  /// A tap on the touchpad: what runs rests, what the wearer paused goes on.
  package mutating func tapped() -> [SessionAction] {
    links.indices.flatMap { index -> [SessionAction] in
      guard let session = links[index].session else { return [] }
      switch session.phase {
      case .running: return pause(index, session, reason: .wearer)
      case .paused: return resume(index, session)
      }
    }
  }

  /// A finger that stayed on the touchpad ends sessions.
  package mutating func held() -> [SessionAction] {
    links.indices.flatMap { endSession($0, reason: .endedByDevice, text: "ended at the touchpad") }
  }

  /// The hinge was closed on glasses that stay reachable.
  package mutating func folded() -> [SessionAction] {
    links.indices.flatMap { index in
      endStream(index, code: .hingeClosed, text: "the hinge was closed")
        + endSession(index, reason: .endedByDevice, text: "the hinge was closed")
    }
  }

  /// The glasses' condition forbids what went on.
  package mutating func forbidden(_ verdict: HealthVerdict) -> [SessionAction] {
    links.indices.flatMap { index -> [SessionAction] in
      switch verdict {
      case .good: return []
      case .noStream(let code): return endStream(index, code: code, text: "the glasses' condition")
      case .noSession(let code): return endSession(index, reason: .failed(code), text: "the glasses' condition")
      }
    }
  }

  /// Every link ends. Their `linkClosed` comes when each has.
  package mutating func leave(_ reason: Goodbye.Reason, text: String = "") -> [SessionAction] {
    let actions = links.indices.flatMap { index in
      release(index) + [.close(links[index].key, Goodbye(reason: reason, text: text))]
    }
    links.removeAll()
    return actions
  }

  // MARK: - The camera

  /// The pictures of a stream can't begin or go on.
  package mutating func videoFailed(_ key: StreamKey, code: LinkErrorCode, text: String) -> [SessionAction] {
    guard let index = index(of: key.link), links[index].session?.stream?.id == key.stream else { return [] }
    return endStream(index, code: code, text: text)
  }

  /// The camera shows something else from now on: running streams begin anew, with a sync unit.
  package func feedChanged() -> [SessionAction] {
    links.flatMap { link -> [SessionAction] in
      guard let session = link.session, let stream = session.stream else { return [] }
      switch session.phase {
      case .paused: return []
      case .running:
        let key = StreamKey(link: link.key, stream: stream.id)
        return [.stopVideo(key), .startVideo(key, stream.video)]
      }
    }
  }

  /// A photo that was asked for is done: true when its result (and bytes) are still wanted.
  package mutating func photoFinished(_ key: PhotoKey) -> Bool {
    guard let index = index(of: key.link),
      let place = links[index].session?.photos.firstIndex(of: key.photo)
    else { return false }
    links[index].session?.photos.remove(at: place)
    return true
  }

  // MARK: - Helpers

  private func index(of key: LinkKey) -> Int? { links.firstIndex { $0.key == key } }

  func cameraIsHeld(byOtherThan key: LinkKey) -> Bool { links.contains { $0.key != key && $0.usesCamera } }

  mutating func violation(_ index: Int, _ text: String) -> [SessionAction] {
    let key = links[index].key
    let actions = release(index)
    links.remove(at: index)
    return actions + [.close(key, Goodbye(reason: .protocolViolation, text: text))]
  }

  /// Lets go of all the link's session holds.
  mutating func release(_ index: Int) -> [SessionAction] {
    guard let session = links[index].session else { return [] }
    let key = links[index].key
    links[index].session = nil
    var actions: [SessionAction] = []
    if let stream = session.stream, session.phase == .running {
      actions.append(.stopVideo(StreamKey(link: key, stream: stream.id)))
    }
    return actions + session.photos.map { .dropPhoto(PhotoKey(link: key, photo: $0)) }
  }
}
