import LinkProtocol
import LinkTransport
import Units

// What the agent does with photos, on its lane.
extension GlassesAgent {
  func takePhoto(_ key: PhotoKey, _ request: PhotoRequest) {
    let running = state.withLock { state in state.videos.first { $0.key.link == key.link }?.value }
    photographer.take(key, request, of: camera.takeShot(request), running: running) { [weak self] outcome in
      self?.photoReady(key, outcome)
    }
  }

  private func photoReady(_ key: PhotoKey, _ outcome: Photographer.Outcome) {
    guard case .delay(let delay) = faults.photo else { return enqueue { $0.photoTaken(key, outcome) } }
    lane.run(at: timekeeper.now + delay) { [weak self] in self?.photoTaken(key, outcome) }
  }

  private func photoTaken(_ key: PhotoKey, _ outcome: Photographer.Outcome) {
    guard state.withLock({ $0.sessions.photoFinished(key) }), let connection = link(key.link) else { return }
    switch outcome {
    case .taken(let facts, let bytes):
      connection.send(.photoResult(PhotoResult(photo: key.photo, outcome: .taken(facts))))
      connection.send(photo: key.photo, bytes: bytes)
    case .failed(let code, let text):
      connection.send(.photoResult(PhotoResult(photo: key.photo, outcome: .failed(code), text: text)))
    }
  }
}
