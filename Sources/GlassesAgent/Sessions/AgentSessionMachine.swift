import LinkProtocol
import Units

/// The sessions of a pair of glasses as a state machine: what links bring and what happens to the glasses goes in,
/// actions come out.
///
/// A link carries one session at a time, a session one stream at a time. The camera is lent to one link (the one with
/// a stream or a photo in flight); others are answered `heldByOther` until it is free. It is lent to apps that are heard:
/// of a link that has fallen silent (`LinkLimits.lease`) the session stays and the camera is free.
package struct AgentSessionMachine: Sendable {
  /// Photos of one session that may be in flight. An app that gave up on one asks for the next before the glasses are
  /// done with the first, and must not be refused for that, however often it happens: one more ends the oldest.
  package static let photosInFlight = 2

  struct Session: Sendable {
    enum Phase: Hashable, Sendable { case running, paused(SessionPaused.Reason) }
    let id: SessionID
    var phase = Phase.running
    var stream: Stream?
    var photos: [PhotoID] = []
  }

  /// What was agreed; its media come while the session is `running` and the app is heard.
  struct Stream: Sendable {
    let id: StreamID
    let video: VideoParameters
    let audio: AudioParameters?
  }

  /// A stream whose media are being captured.
  struct Running: Sendable {
    let key: StreamKey
    let stream: Stream

    private var startAudio: [SessionAction] { stream.audio.map { [.startAudio(key, $0)] } ?? [] }

    var start: [SessionAction] { startAudio + [.startVideo(key, stream.video)] }
    var goOn: [SessionAction] { startAudio + [.continueVideo(key, stream.video)] }
    var stop: [SessionAction] { (stream.audio == nil ? [] : [.stopAudio(key)]) + [.stopVideo(key)] }
  }

  struct Link: Sendable {
    let key: LinkKey
    /// The app's identifier.
    let app: String
    /// Whether it can play sound.
    let takesAudio: Bool
    var session: Session?
    /// Nothing was heard of the app for a lease.
    var isSilent = false

    /// Whether others must wait for the camera; a stream that rests keeps it.
    var holdsCamera: Bool { !isSilent && (session?.stream != nil || session?.photos.isEmpty == false) }

    /// The stream whose pictures are being taken, if any.
    var running: Running? {
      guard !isSilent, let session, let stream = session.stream else { return nil }
      switch session.phase {
      case .running: return Running(key: StreamKey(link: key, stream: stream.id), stream: stream)
      case .paused: return nil
      }
    }
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
    links.append(
      Link(key: key, app: hello.identifier, takesAudio: hello.capabilities.contains(.audioPCM)))
    return [.send(key, .deviceState(report))]
  }

  /// The link is gone; nothing can be sent on it.
  package mutating func linkClosed(_ key: LinkKey) -> [SessionAction] {
    guard let index = index(of: key) else { return [] }
    let actions = release(index)
    links.remove(at: index)
    return actions
  }

  /// The app is not heard any more: its session stays, its camera is free, and its photos won't be taken. They are
  /// answered all the same; the answers wait on the link.
  package mutating func linkSilent(_ key: LinkKey) -> [SessionAction] {
    guard let index = index(of: key) else { return [] }
    let actions = letGoOfCamera(index)
    links[index].isSilent = true
    guard let photos = links[index].session?.photos else { return actions }
    links[index].session?.photos = []
    return actions
      + photos.map { photo in
        let text = "the app was not heard for \(LinkLimits().lease)"
        return .send(key, .photoResult(PhotoResult(photo: photo, outcome: .failed(.photoFailed), text: text)))
      }
  }

  /// The app is heard again: its stream goes on, unless somebody has the camera now.
  package mutating func linkHeardAgain(_ key: LinkKey, conditions: SessionConditions) -> [SessionAction] {
    guard let index = index(of: key), links[index].isSilent else { return [] }
    guard let holder = cameraHolder(otherThan: key) else {
      links[index].isSilent = false
      return links[index].running?.goOn ?? []
    }
    // Ended as of a silent app: none of its pictures are being taken.
    let actions = endStream(
      index, code: .heldByOther, retryAfter: conditions.leaseLeft(holder),
      text: "another app took the camera while this one was not heard")
    links[index].isSilent = false
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
    // The link's own endpoint reads feedback, for the rate control. A failure on the app's side is for its own log.
    case .feedback, .failure: return []
    // The endpoint answers these itself.
    case .hello, .goodbye, .ping, .pong, .clockRequest, .clockReply: return []
    // Of whoever serves the link's peer, not of its session.
    case .unpair: return []
    case .pairingRequest: return violation(index, "a pairing on a link that is not for one")
    // Only glasses send these, or companions to apps.
    case .deviceState, .sessionOpened, .sessionPaused, .sessionResumed, .sessionClosed, .streamStarted,
      .streamChanged, .streamStopped, .audioChanged, .photoResult, .pairingAccepted, .glassesListing, .glassesRemoved,
      .glassesListed, .certificateRequest, .certificateIssued, .pairGlasses, .unpairGlasses, .companionAnswer:
      return violation(index, "a message that glasses are not sent")
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
      case .paused(.wearer): return resume(index, session)
      // A finger doesn't cool the glasses.
      case .paused(.thermal), .paused(.system): return []
      }
    }
  }

  /// The glasses themselves need rest; a session that rests for another reason keeps that one.
  package mutating func rest(_ reason: SessionPaused.Reason) -> [SessionAction] {
    links.indices.flatMap { index -> [SessionAction] in
      guard let session = links[index].session, session.phase == .running else { return [] }
      return pause(index, session, reason: reason)
    }
  }

  /// The reason to rest is gone.
  package mutating func endRest(_ reason: SessionPaused.Reason) -> [SessionAction] {
    links.indices.flatMap { index -> [SessionAction] in
      guard let session = links[index].session, session.phase == .paused(reason) else { return [] }
      return resume(index, session)
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
      case .noSession(let code):
        return endStream(index, code: code, text: "the glasses' condition")
          + endSession(index, reason: .failed(code), text: "the glasses' condition")
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

  /// The camera shows something else from now on: the pictures of running streams begin anew, with a sync unit;
  /// their sound goes on. For those that rest it is looked at, so that an app hears of a feed that can't be played now and
  /// not when it goes on.
  package func feedChanged() -> [SessionAction] {
    links.flatMap { link -> [SessionAction] in
      if let running = link.running {
        return [.stopVideo(running.key), .startVideo(running.key, running.stream.video)]
      }
      guard let stream = link.session?.stream else { return [] }
      return [.checkFeed(StreamKey(link: link.key, stream: stream.id))]
    }
  }

  /// A feed that was looked at for a stream that rests can't be played. One that has gone on since says so itself.
  package mutating func feedRefused(_ key: StreamKey, code: LinkErrorCode, text: String) -> [SessionAction] {
    guard let index = index(of: key.link), links[index].running == nil else { return [] }
    return videoFailed(key, code: code, text: text)
  }

  /// The sound of a stream can't begin or go on.
  package mutating func audioFailed(_ key: StreamKey, text: String) -> [SessionAction] {
    guard let index = index(of: key.link), let stream = links[index].session?.stream, stream.id == key.stream,
      stream.audio != nil
    else { return [] }
    return endStream(index, code: .audioFailed, text: text)
  }

  /// The microphone has failed: streams with sound end.
  package mutating func microphoneFailed(text: String) -> [SessionAction] {
    links.compactMap { link in link.session?.stream.map { StreamKey(link: link.key, stream: $0.id) } }
      .flatMap { audioFailed($0, text: text) }
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

  func cameraHolder(otherThan key: LinkKey) -> LinkKey? { links.first { $0.key != key && $0.holdsCamera }?.key }

  /// Ends the pictures of the link's stream and its photos under way.
  func letGoOfCamera(_ index: Int) -> [SessionAction] {
    let link = links[index]
    return (link.running?.stop ?? [])
      + (link.session?.photos ?? []).map { .dropPhoto(PhotoKey(link: link.key, photo: $0)) }
  }

  mutating func violation(_ index: Int, _ text: String) -> [SessionAction] {
    let key = links[index].key
    let actions = release(index)
    links.remove(at: index)
    return actions + [.close(key, Goodbye(reason: .protocolViolation, text: text))]
  }

  /// Lets go of all the link's session holds.
  mutating func release(_ index: Int) -> [SessionAction] {
    let actions = letGoOfCamera(index)
    links[index].session = nil
    return actions
  }
}
