import LinkProtocol
import Units

// What a session does with the camera and the microphone: its stream and its photos.
extension AgentSessionMachine {
  mutating func startStream(_ start: StreamStart, _ index: Int, _ conditions: SessionConditions)
    -> [SessionAction]
  {
    let link = links[index]
    func refuse(_ code: LinkErrorCode, _ text: String, retryAfter: Duration? = nil) -> [SessionAction] {
      let refusal = StreamStopped(
        stream: start.stream, reason: .failed(code), retryAfter: retryAfter, text: text)
      return [.send(link.key, .streamStopped(refusal))]
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
    if start.audio != nil, !conditions.allowsMicrophone(link.app) {
      return refuse(.microphonePermissionDenied, "the app may not use the microphone")
    }
    switch conditions.health {
    case .good: break
    case .noStream(let code), .noSession(let code): return refuse(code, "the glasses' condition")
    }
    if let holder = cameraHolder(otherThan: link.key) {
      return refuse(.heldByOther, "another app has the camera", retryAfter: conditions.leaseLeft(holder))
    }
    // Sound that the glasses don't have is left out; whether to stay without is for the app to say.
    let isSilent = conditions.faults.refusesAudio || !link.takesAudio
    let audio = isSilent ? nil : start.audio.flatMap { StreamNegotiation.agree(on: $0) }
    links[index].session?.stream = Stream(id: start.stream, video: video, audio: audio)
    let started = SessionAction.send(
      link.key, .streamStarted(StreamStarted(stream: start.stream, video: video, audio: audio)))
    // Of a session that rests the media begin when it goes on.
    return [started] + (links[index].running?.start ?? [])
  }

  mutating func stopStream(_ stop: StreamStop, _ index: Int) -> [SessionAction] {
    // A stream that the glasses have just ended: the app's stop crossed the news on its way.
    guard links[index].session?.stream?.id == stop.stream else { return [] }
    return endStream(index, reason: .requested, text: "")
  }

  mutating func endStream(
    _ index: Int, code: LinkErrorCode, retryAfter: Duration? = nil, text: String
  ) -> [SessionAction] {
    endStream(index, reason: .failed(code), retryAfter: retryAfter, text: text)
  }

  private mutating func endStream(
    _ index: Int, reason: StreamStopped.Reason, retryAfter: Duration? = nil, text: String
  ) -> [SessionAction] {
    guard let stream = links[index].session?.stream else { return [] }
    let stop = links[index].running?.stop ?? []
    links[index].session?.stream = nil
    let stopped = StreamStopped(stream: stream.id, reason: reason, retryAfter: retryAfter, text: text)
    return stop + [.send(links[index].key, .streamStopped(stopped))]
  }

  /// Of a stream that rests the first unit is a sync unit anyway.
  func requestKeyframe(_ request: KeyframeRequest, _ index: Int, _ conditions: SessionConditions) -> [SessionAction] {
    guard !conditions.faults.ignoresKeyframeRequests, let key = links[index].running?.key, key.stream == request.stream
    else { return [] }
    return [.requestKeyframe(key)]
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
    guard conditions.allowsCamera(link.app) else {
      return refuse(.cameraPermissionDenied, "the app may not use the camera")
    }
    switch conditions.health {
    case .good, .noStream: break
    case .noSession(let code): return refuse(code, "the glasses' condition")
    }
    guard cameraHolder(otherThan: link.key) == nil else {
      return refuse(.heldByOther, "another app has the camera")
    }
    let displaced = session.photos.count < Self.photosInFlight ? [] : giveUpOldestPhoto(index)
    links[index].session?.photos.append(request.photo)
    return displaced + [.takePhoto(PhotoKey(link: link.key, photo: request.photo), request)]
  }

  private mutating func giveUpOldestPhoto(_ index: Int) -> [SessionAction] {
    guard let photo = links[index].session?.photos.first else { return [] }
    links[index].session?.photos.removeFirst()
    let result = PhotoResult(photo: photo, outcome: .failed(.photoFailed), text: "newer photos were asked for")
    return [
      .dropPhoto(PhotoKey(link: links[index].key, photo: photo)), .send(links[index].key, .photoResult(result)),
    ]
  }
}
