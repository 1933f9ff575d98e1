import LinkProtocol
import Units

// What a session does with the camera: its stream and its photos.
extension AgentSessionMachine {
  mutating func startStream(_ start: StreamStart, _ index: Int, _ conditions: SessionConditions)
    -> [SessionAction]
  {
    let link = links[index]
    func refuse(_ code: LinkErrorCode, _ text: String) -> [SessionAction] {
      [.send(link.key, .streamStopped(StreamStopped(stream: start.stream, reason: .failed(code), text: text)))]
    }
    guard let session = link.session, session.id == start.session else {
      return refuse(.notOpen, "session \(start.session.value) is not open")
    }
    if let code = conditions.faults.refusesStart { return refuse(code, AgentFaults.text) }
    if let stream = session.stream {
      if stream.id == start.stream { return violation(index, "stream \(start.stream.value) was started twice") }
      return refuse(.unsupported, "a session carries one stream at a time")
    }
    guard let video = StreamNegotiation.agree(on: start.video) else {
      return refuse(.unsupported, "these glasses send HEVC only")
    }
    guard conditions.allowsCamera(link.app) else {
      return refuse(.cameraPermissionDenied, "the app may not use the camera")
    }
    switch conditions.health {
    case .good: break
    case .noStream(let code), .noSession(let code): return refuse(code, "the glasses' condition")
    }
    guard !cameraIsHeld(byOtherThan: link.key) else {
      return refuse(.heldByOther, "another app has the camera")
    }
    links[index].session?.stream = (start.stream, video)
    let started = SessionAction.send(
      link.key, .streamStarted(StreamStarted(stream: start.stream, video: video)))
    switch session.phase {
    case .running: return [started, .startVideo(StreamKey(link: link.key, stream: start.stream), video)]
    // Its pictures begin when the session goes on.
    case .paused: return [started]
    }
  }

  mutating func stopStream(_ stop: StreamStop, _ index: Int) -> [SessionAction] {
    // A stream that the glasses have just ended: the app's stop crossed the news on its way.
    guard links[index].session?.stream?.id == stop.stream else { return [] }
    return endStream(index, reason: .requested, text: "")
  }

  mutating func endStream(_ index: Int, code: LinkErrorCode, text: String) -> [SessionAction] {
    endStream(index, reason: .failed(code), text: text)
  }

  private mutating func endStream(_ index: Int, reason: StreamStopped.Reason, text: String) -> [SessionAction] {
    guard let session = links[index].session, let stream = session.stream else { return [] }
    links[index].session?.stream = nil
    let key = links[index].key
    let stopped = SessionAction.send(
      key, .streamStopped(StreamStopped(stream: stream.id, reason: reason, text: text)))
    switch session.phase {
    case .running: return [.stopVideo(StreamKey(link: key, stream: stream.id)), stopped]
    case .paused: return [stopped]
    }
  }

  func requestKeyframe(_ request: KeyframeRequest, _ index: Int, _ conditions: SessionConditions) -> [SessionAction] {
    guard !conditions.faults.ignoresKeyframeRequests, let session = links[index].session,
      session.stream?.id == request.stream
    else { return [] }
    switch session.phase {
    case .running: return [.requestKeyframe(StreamKey(link: links[index].key, stream: request.stream))]
    // The first unit after the pause is a sync unit anyway.
    case .paused: return []
    }
  }

  mutating func requestPhoto(_ request: PhotoRequest, _ index: Int, _ conditions: SessionConditions)
    -> [SessionAction]
  {
    let link = links[index]
    func refuse(_ code: LinkErrorCode, _ text: String) -> [SessionAction] {
      [.send(link.key, .photoResult(PhotoResult(photo: request.photo, outcome: .failed(code), text: text)))]
    }
    guard let session = link.session, session.id == request.session else {
      return refuse(.notOpen, "session \(request.session.value) is not open")
    }
    switch session.phase {
    case .running: break
    case .paused: return refuse(.notOpen, "the session is paused")
    }
    switch conditions.faults.photo {
    case .swallow: return []
    case .failure(let code): return refuse(code, AgentFaults.text)
    case .delay, nil: break
    }
    guard !session.photos.contains(request.photo) else {
      return violation(index, "photo \(request.photo.value) was asked for twice")
    }
    guard session.photos.count < Self.photosInFlight else {
      return refuse(.photoBusy, "\(session.photos.count) photos are being taken")
    }
    guard conditions.allowsCamera(link.app) else {
      return refuse(.cameraPermissionDenied, "the app may not use the camera")
    }
    switch conditions.health {
    case .good, .noStream: break
    case .noSession(let code): return refuse(code, "the glasses' condition")
    }
    guard !cameraIsHeld(byOtherThan: link.key) else {
      return refuse(.heldByOther, "another app has the camera")
    }
    links[index].session?.photos.append(request.photo)
    return [.takePhoto(PhotoKey(link: link.key, photo: request.photo), request)]
  }
}
