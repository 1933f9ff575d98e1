import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// Where what was seen goes, and how it is judged.
struct WalkJudge: Sendable {
  let findings = Findings()
  let coverage: Coverage
  let strictness: Strictness
  let timekeeper: any Timekeeper

  var now: Instant { timekeeper.now }

  /// Notes that something came by.
  func passed(_ event: String) { coverage.add(event, at: now) }

  func report(_ wrong: [String]) {
    for text in wrong { findings.add("at \(now.nanoseconds / 1_000_000) ms: \(text)") }
  }
}

/// Listens to a session from its making on, without holding it.
final class SessionWatch: Sendable {
  private let judge: WalkJudge
  private let model: Mutex<SessionModel>
  private let tokens = ListenerTokenBag()
  private let watched: Reference<DeviceSession>

  init(_ session: DeviceSession, name: String, _ judge: WalkJudge) {
    self.judge = judge
    model = Mutex(SessionModel(name, from: session.state, at: judge.now, judge.strictness))
    watched = Reference(session)
    session.statePublisher.listen { [weak self] state in
      judge.passed("session \(state)")
      self?.note { $0.moved(to: state, at: judge.now) }
    }.store(in: tokens)
    session.errorPublisher.listen { [weak self] error in
      judge.passed("session's error \(error)")
      self?.note { $0.failed(error) }
    }.store(in: tokens)
  }

  /// The session is ending or over, or nobody has it.
  var isEnding: Bool {
    switch watched.object?.state {
    case .stopping, .stopped, nil: true
    case .idle, .starting, .started, .paused: false
    }
  }

  func endWished() { model.withLock { $0.endWished() } }
  func settled() { note { $0.settled(state: watched.object?.state, at: judge.now) } }

  /// True when it never began or has ended.
  var isOver: Bool { model.withLock { $0.path.state == .idle || $0.path.state == .stopped } }
  var description: String { model.withLock { "\($0.path.name) \($0.path.state)" } }

  private func note(_ event: (inout SessionModel) -> [String]) { judge.report(model.withLock { event(&$0) }) }
}

/// Listens to a camera, its stream and its photos from its making on, without holding it.
final class CameraWatch: Sendable {
  private let judge: WalkJudge
  private let session: SessionWatch
  private let path: Mutex<StatePath<CameraState>>
  private let streamModel: Mutex<StreamModel>
  private let photoModel: Mutex<PhotoModel>
  private let tokens = ListenerTokenBag()
  private let camera: Reference<Camera>
  private let stream: Reference<MWDATCamera.Stream>
  /// Stopped by the app.
  private let wasStopped = Atomic<Bool>(false)

  init(_ camera: Camera, of session: SessionWatch, name: String, _ judge: WalkJudge) {
    self.judge = judge
    self.session = session
    self.camera = Reference(camera)
    stream = Reference(camera.stream)
    let now = judge.now
    path = Mutex(
      StatePath("camera \(name)", from: .started, at: now, legal: LegalPaths.camera, bound: StateBounds.bound))
    streamModel = Mutex(
      StreamModel("stream \(name)", camera.stream.streamConfiguration, at: now, judge.strictness))
    photoModel = Mutex(PhotoModel("photo \(name)", at: now, judge.strictness))
    listen(to: camera)
    listen(to: camera.stream)
    listen(to: camera.photo)
  }

  private func listen(to camera: Camera) {
    camera.statePublisher.listen { [weak self, judge] state in
      guard let self else { return }
      let (before, text) = path.withLock { ($0.state, $0.move(to: state, at: judge.now)) }
      // Where threads run, another may have ended the camera before it was listened to.
      if !judge.strictness.isExact, before == .started, state == .stopped { return }
      if let text { judge.report([text]) }
    }.store(in: tokens)
  }

  private func listen(to stream: MWDATCamera.Stream) {
    stream.statePublisher.listen { [weak self, judge] state in
      guard let self else { return }
      judge.passed("stream \(state)")
      let isParentEnding = isParentEnding
      note { $0.moved(to: state, isParentEnding: isParentEnding, at: judge.now) }
    }.store(in: tokens)
    stream.errorPublisher.listen { [weak self, judge] error in
      judge.passed("stream's error \(error)".prefix { $0 != "(" }.description)
      self?.note { $0.failed(error, at: judge.now) }
    }.store(in: tokens)
    stream.videoFramePublisher.listen { [weak self, judge] frame in
      guard let self else { return }
      let stamp = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
      judge.passed("frame")
      let state = self.stream.object?.state
      note { $0.delivered(stamp, state: state, at: judge.now) }
    }.store(in: tokens)
    stream.audioFramePublisher.listen { [weak self, judge] frame in
      guard let self else { return }
      judge.passed("sound")
      let state = self.stream.object?.state
      note { $0.heard(frame, state: state, at: judge.now) }
    }.store(in: tokens)
    stream.photoDataPublisher.listen { [weak self, judge] _ in
      judge.passed("photo of a stream")
      self?.note { $0.photoCame() }
    }.store(in: tokens)
  }

  private func listen(to photo: Photo) {
    photo.statePublisher.listen { [weak self, judge] state in
      guard let self else { return }
      judge.passed("photo \(state)")
      let isParentEnding = isParentEnding || isCameraEnding
      notePhoto { $0.moved(to: state, isParentEnding: isParentEnding, at: judge.now) }
    }.store(in: tokens)
    photo.errorPublisher.listen { [weak self, judge] error in
      judge.passed("photo's error \(error)".prefix { $0 != "(" }.description)
      self?.notePhoto { $0.failed(error, at: judge.now) }
    }.store(in: tokens)
    photo.photoDataPublisher.listen { [weak self, judge] _ in
      judge.passed("photo alone")
      self?.notePhoto { $0.came() }
    }.store(in: tokens)
    photo.transferProgressPublisher.listen { [weak self] _ in self?.notePhoto { $0.moves() } }.store(in: tokens)
  }

  /// The session ends, or the app has stopped the camera. (A stream's own failure ends its camera too, and does need an
  /// error.)
  private var isParentEnding: Bool { session.isEnding || wasStopped.load(ordering: .acquiring) }

  private var isCameraEnding: Bool {
    switch camera.object?.state {
    case .stopping, .stopped, nil: true
    case .starting, .started: false
    }
  }

  func cameraEndWished() { wasStopped.store(true, ordering: .releasing) }
  func streamEndWished() { streamModel.withLock { $0.endWished() } }
  func photoEndWished() { photoModel.withLock { $0.endWished() } }
  func captured() { photoModel.withLock { $0.captured() } }

  /// Asks the stream for a photo, and expects its result when it is accepted. Under the model's lock, since the result
  /// may come before the call returns.
  func capture(_ format: PhotoCaptureFormat, of stream: MWDATCamera.Stream) {
    streamModel.withLock { if stream.capturePhoto(format: format) { $0.photoAccepted() } }
  }

  var photoState: PhotoState { photoModel.withLock { $0.path.state } }

  func settled() {
    note { $0.settled(state: stream.object?.state, at: judge.now) }
    notePhoto { $0.settled(at: judge.now) }
    if let text = path.withLock({ $0.overdue(at: judge.now, slack: judge.strictness.slack) }) { judge.report([text]) }
    guard judge.strictness.isExact else { return }
    let states = (
      path.withLock { $0.state }, streamModel.withLock { $0.path.state }, photoModel.withLock { $0.path.state }
    )
    if session.isOver, states.0 != .stopped { judge.report(["\(description): outlives \(session.description)"]) }
    if states.0 == .stopped, states.1 != .stopped || states.2 != .stopped {
      judge.report(["\(description): a child outlives its camera"])
    }
  }

  /// All of it has ended, and stays so.
  var isOver: Bool {
    streamModel.withLock { $0.path.state } == .stopped && photoModel.withLock { $0.path.state } == .stopped
  }

  var description: String {
    let stream = streamModel.withLock { "\($0.path.name) \($0.path.state)" }
    return "\(stream), photo \(photoModel.withLock { $0.path.state }), camera \(path.withLock { $0.state })"
  }

  private func note(_ event: (inout StreamModel) -> [String]) { judge.report(streamModel.withLock { event(&$0) }) }
  private func notePhoto(_ event: (inout PhotoModel) -> [String]) { judge.report(photoModel.withLock { event(&$0) }) }
}

/// A weak reference that any thread may follow.
final class Reference<Object: AnyObject & Sendable>: Sendable {
  private struct Weak: Sendable { weak var object: Object? }
  private let weakly: Mutex<Weak>

  init(_ object: Object) { weakly = Mutex(Weak(object: object)) }

  var object: Object? { weakly.withLock { $0.object } }
}
