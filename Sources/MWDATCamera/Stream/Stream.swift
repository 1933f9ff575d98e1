import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import Units

/// Who owns a stream, and ends with its failure.
protocol StreamOwner: AnyObject, Sendable {
  /// Called under the stream's lock: not to call the stream.
  func streamFailed()
}

/// The video stream of a camera.
///
/// All members may be used from any thread. States, errors and photos are announced on one thread of the stream's, in
/// order: an error before the state it explains, with `state` already at the new value or a later one. Frames come on a
/// thread for each listener, so that a slow one loses frames of its own alone. Nothing is replayed.
///
/// While a `.stopped` stream costs nothing, a streaming one ends with its camera, its session, or an error; after an
/// error, or the camera's end, it can't be started again: add a new camera.
public final class Stream: Sendable {
  private struct State {
    var machine: StreamMachine
    var timer: LaneTimer?
    /// What is known of the failure that is being handled: where the event came in, where it comes from, and in words.
    var failureStage = StreamMachine.Stage.connect
    var failureCause = FailureCause.here
    var failureText = ""
    var lastFailure: StreamFailure?
    weak var owner: (any StreamOwner)?
    var stall = StallWatch()
    var budget: RecoveryBudget
    var news = StreamNews()
  }

  /// What was asked for, as it was asked.
  public let streamConfiguration: StreamConfiguration

  private let context: CameraContext
  private let desk: PhotoDesk
  private let lane: any Lane
  private let states: Broadcaster<StreamState>
  private let errors: Broadcaster<StreamError>
  private let photos: Broadcaster<PhotoData>
  private let recorder: TelemetryRecorder
  private let limits: StreamMachine.Limits
  private let current: Mutex<State>
  private let frames: FrameReceiver

  init(_ configuration: StreamConfiguration, _ context: CameraContext, desk: PhotoDesk) {
    streamConfiguration = configuration
    self.context = context
    self.desk = desk
    lane = context.timekeeper.makeLane("stream")
    states = Broadcaster(lane: lane)
    errors = Broadcaster(lane: lane)
    photos = Broadcaster(lane: lane)
    recorder = TelemetryRecorder(timekeeper: context.timekeeper, lane: lane)
    let limits = Self.limits
    self.limits = limits
    current = Mutex(
      State(machine: StreamMachine(device: context.device, limits: limits), budget: RecoveryBudget(limits.budget)))
    frames = FrameReceiver(
      codec: configuration.videoCodec, link: context.link, timekeeper: context.timekeeper, telemetry: recorder,
      verifiesPictures: Self.verifiesPictures)
    frames.serve(self)
  }

  /// Where the stream stands.
  public var state: StreamState { current.withLock { $0.machine.state } }

  /// Announces each new state.
  public var statePublisher: any Announcer<StreamState> { states }

  /// Announces frames, to each listener on a thread of its own. While one is busy the newest three wait for it (of
  /// compressed ones 32); older ones are dropped, of compressed ones all up to the next sync unit. A listener that comes
  /// while the stream runs gets its first frame within a second.
  public var videoFramePublisher: any Announcer<VideoFrame> { frames.outlet }

  /// Announces each photo taken while streaming.
  public var photoDataPublisher: any Announcer<PhotoData> { photos }

  /// Announces what goes wrong.
  public var errorPublisher: any Announcer<StreamError> { errors }

  /// Starts, and returns at once. `.streaming` is announced with the first picture; else an error and `.stopped`, by
  /// default within 10 s of `.starting`. Nothing happens when the stream is under way; while it stops, it starts again
  /// after that.
  public func start() { handle(.start(LinkNumbers.nextStream())) }

  /// Stops, and returns at once; `.stopped` is announced within 2 s, whether the glasses answer or not. Harmless when
  /// repeated.
  public func stop() { handle(.stop) }

  /// Takes a photo without stopping the stream, and returns at once.
  ///
  /// True: exactly one of a photo and `.photoCaptureFailed` is announced, within 10 s of the last progress of its
  /// transfer. False, and nothing is announced: the stream is not `.streaming`, or a capture is in flight.
  @discardableResult
  public func capturePhoto(format: PhotoCaptureFormat) -> Bool {
    current.withLock { state in
      guard state.machine.state == .streaming else { return false }
      return desk.begin(for: .stream, format: PhotoFormat(format), size: .source, quality: .high)
    }
  }
}

// MARK: - What our own modules see

extension Stream {
  /// How long streams that are made from now on may take for what they wait for.
  package static var limits: StreamMachine.Limits {
    get { StreamDefaults.shared.limits }
    set { StreamDefaults.shared.limits = newValue }
  }

  /// Whether `.raw` streams that are made from now on compare each decoded picture with the hash that the encoder wrote
  /// of it (H.265, D.3.19), and treat one that differs, or whose hash is not there or damaged, as undecodable. For tests;
  /// a decoder takes twice as long by it.
  package static var verifiesPictures: Bool {
    get { StreamDefaults.shared.verifiesPictures }
    set { StreamDefaults.shared.verifiesPictures = newValue }
  }

  /// Counters and rates at this moment. Any thread, any time.
  package var telemetry: StreamTelemetry {
    var telemetry = recorder.snapshot()
    telemetry.drops.listeners = UInt64(frames.outlet.droppedFrames)
    return telemetry
  }

  /// What each listener for frames has had, oldest first; those that left are not in it.
  package var frameListenerCounts: [(number: Int, counts: FrameListenerCounts)] { frames.outlet.listenerStatistics }

  /// Announces what the public events don't say, on the stream's thread, in order with states and errors.
  package var telemetryPublisher: any Announcer<StreamTelemetryEvent> { recorder.events }

  /// What the glasses agreed to send; nil before they did.
  package var negotiatedVideo: VideoParameters? { recorder.snapshot().negotiatedVideo }

  /// What ended the stream by an error; nil while nothing has.
  /// (Glasswing makes it public as `lastFailure`.)
  package var streamFailure: StreamFailure? { current.withLock { $0.lastFailure } }

  /// The clock that frames and photos are stamped by.
  package var timekeeper: any Timekeeper { context.timekeeper }

  /// Asks the glasses for a sync unit, and again until one has come; one request serves all who ask within 100 ms.
  /// Nothing happens while nothing runs.
  /// (Glasswing makes it public as `requestKeyframe()`; the same name here would hide that in our own modules.)
  package func askForKeyframe() { frames.requestKeyframe(.application) }
}

// MARK: - Events

extension Stream {
  func serve(_ owner: any StreamOwner) { current.withLock { $0.owner = owner } }

  func parentEnded() { handle(.parentEnded) }

  func sessionPaused(_ reason: SessionPaused.Reason) { rest(.sessionPaused, .paused(reason)) }
  func sessionResumed() { rest(.sessionResumed, .resumed) }

  private func rest(_ event: StreamMachine.Event, _ news: StreamTelemetryEvent.Kind) {
    current.withLock { state in
      if state.machine.currentAttempt != nil { recorder.note(news) }
      apply(event, &state)
    }
  }

  /// On the link lane.
  func handle(_ event: LinkEvent) {
    switch event {
    case .accessUnit(let unit):
      frames.receive(unit)
    case .message(.streamStarted(let started)):
      guard isCurrent(started.stream) else { return }
      recorder.note(.negotiated(started.video))
    case .message(.streamChanged(let changed)):
      guard isCurrent(changed.stream) else { return }
      recorder.note(
        .changed(from: recorder.snapshot().negotiatedVideo, to: changed.video, changed.reason))
    case .message(.streamStopped(let stopped)):
      ended(stopped)
    case .message(.failure(let failure)):
      guard case .stream(let stream) = failure.scope else { return }
      handle(
        .failed(stream, StreamError(ending: failure.code)), .reported(failure.code),
        text: "\(failure.code): \(failure.text)")
    case .closed(let close):
      handle(.linkLost(StreamError(close, device: context.device)), FailureCause(close), text: close.words)
    case .clockRealigned(let step):
      recorder.note(.clockRealigned(by: step))
    // That units stop coming says more, and sooner.
    case .silent, .heardAgain: break
    case .opened, .message, .photoProgress, .photo, .videoDropped, .audio, .audioDropped:
      break
    }
  }

  private func ended(_ stopped: StreamStopped) {
    switch stopped.reason {
    case .requested:
      handle(.glassesStopped(stopped.stream, nil), .ended, text: stopped.text)
    case .failed(let code):
      handle(
        .glassesStopped(stopped.stream, StreamError(ending: code)),
        .reported(code, retryAfter: stopped.retryAfter),
        text: stopped.text.isEmpty ? "\(code)" : stopped.text)
    }
  }

  private func isCurrent(_ stream: StreamID) -> Bool { current.withLock { $0.machine.currentAttempt } == stream }

  private func handle(_ event: StreamMachine.Event, _ cause: FailureCause = .here, text: String = "") {
    current.withLock { apply(event, &$0, cause: cause, text: text) }
  }

  /// - Parameters:
  ///   - cause: where it comes from if the event is a failure, and what is known of it in words.
  private func apply(
    _ event: StreamMachine.Event, _ state: inout State, cause: FailureCause = .here, text: String = ""
  ) {
    let before = state.machine.phase
    let stage = state.machine.stage(of: event)
    let actions = state.machine.handle(event)
    guard before != state.machine.phase || !actions.isEmpty else { return }
    let now = context.timekeeper.now
    let news = state.news.tell(
      of: event, from: before, to: state.machine.phase, lastUnit: state.stall.lastUnit, at: now)
    for kind in news {
      recorder.note(kind)
      if case .stallEnded = kind { state.budget.end(at: now) }
    }
    (state.failureStage, state.failureCause, state.failureText) = (stage, cause, text)
    for action in actions { carryOut(action, &state) }
  }

  /// With the lock held: everything here is queued or takes locks that lie below this one.
  private func carryOut(_ action: StreamMachine.Action, _ state: inout State) {
    switch action {
    case .announce(let new):
      if new == .stopping, desk.cancel(.stream) { captureFailed(.cancelled) }
      states.send(new)
    case .report(let error):
      let failure = StreamFailure(
        error, state.failureCause, at: state.failureStage, text: state.failureText)
      state.lastFailure = failure
      recorder.note(.failed(failure))
      errors.send(error)
    case .refuse(let error):
      errors.send(error)
    case .check(let attempt):
      recorder.note(.started(attempt))
      state.stall.restart()
      state.budget = RecoveryBudget(limits.budget)
      lane.run { [weak self] in self?.check(attempt) }
    case .open(let attempt):
      frames.open(attempt)
      context.link.send(
        .streamStart(
          StreamStart(stream: attempt, session: context.session, video: streamConfiguration.videoParameters)))
    case .watch: watch(&state)
    case .askForKeyframe: frames.requestKeyframe(.loss)
    case .hold: frames.hold()
    case .resume: frames.resume()
    case .close(let attempt, let tellsGlasses):
      frames.close()
      if tellsGlasses { context.link.send(.streamStop(StreamStop(stream: attempt))) }
    case .setDeadline(let id, let length):
      state.timer?.cancel()
      // On the link's lane, since a listener that blocks the stream's must not keep it from ending.
      state.timer = context.link.lane.run(at: context.timekeeper.now + length) { [weak self] in
        self?.deadlineCame(id, after: length)
      }
    case .clearDeadline:
      state.timer?.cancel()
      state.timer = nil
    case .endCamera:
      state.owner?.streamFailed()
    }
  }

  /// On the link lane.
  private func deadlineCame(_ id: StreamMachine.DeadlineID, after length: Duration) {
    current.withLock { state in
      let text = state.machine.phase.missing(after: length, hasAgreed: recorder.frameRate != nil)
      apply(.deadline(id), &state, cause: .silence, text: text)
    }
  }

  /// One look is queued at a time, for the moment at which a picture would be missing, as long as there is a stream that
  /// should have some.
  private func watch(_ state: inout State) {
    guard !state.stall.isWatching else { return }
    state.stall.isWatching = true
    look(at: state.stall.lastUnit + patience(state))
  }

  private func patience(_ state: borrowing State) -> Duration {
    state.stall.patience(
      limit: limits.stall, frameRate: recorder.frameRate ?? streamConfiguration.videoParameters.frameRate)
  }

  private func look(at time: Instant) {
    context.link.lane.run(at: time) { [weak self] in self?.lookForUnits() }
  }

  /// On the link lane.
  private func lookForUnits() {
    let now = context.timekeeper.now
    let statistics = context.link.statistics
    current.withLock { state in
      switch state.machine.phase {
      case .streaming(let attempt):
        let due = state.stall.lastUnit + patience(state)
        guard due <= now else { return look(at: due) }
        // Whether the link answers shows at the next look: a quiet one is just being asked for a sign of life.
        state.stall.noteReceived(statistics)
        let allowance = state.budget.begin(since: state.stall.lastUnit, at: now)
        apply(
          .unitsMissing(attempt, linkAnswers: true, allowance: allowance), &state, cause: .silence, text: Self.spent)
        look(at: now + StallWatch.linkLook)
      case .stalled(let attempt, _, _):
        let linkAnswers = state.stall.noteReceived(statistics)
        apply(.unitsMissing(attempt, linkAnswers: linkAnswers), &state)
        look(at: now + StallWatch.linkLook)
      case .stopped, .waitingForDevice, .starting, .paused, .resuming, .stopping, .invalidated:
        state.stall.isWatching = false
      }
    }
  }

  /// The text of an end by a spent budget, which is the only one that missing units bring by themselves.
  private static let spent = "recovery: pictures stopped coming too often, or for too long in all"

  private func check(_ attempt: StreamID) {
    if let audio = streamConfiguration.audioCodec {
      return handle(.refused(attempt, .audioStreamingError), text: audio.refusal)
    }
    CameraAvailability.check(context) { [weak self, device = context.device] availability in
      if let error = StreamError(availability, device: device) {
        self?.handle(.refused(attempt, error), text: "\(availability)")
      } else {
        self?.handle(.permitted(attempt))
      }
    }
  }
}

extension Stream: FrameOwner {
  func unitPassed(_ stream: StreamID, isFrame: Bool) {
    let now = context.timekeeper.now
    current.withLock { state in
      // While streaming, what goes to the decoder counts when it has come out of it: else a stream whose pictures can't
      // be decoded would be streaming, and its listeners would hear nothing.
      if isFrame || !state.machine.phase.wantsFrames { pass(stream, at: now, &state) }
    }
  }

  func frameDecoded(_ stream: StreamID) {
    let now = context.timekeeper.now
    current.withLock { state in
      if state.machine.phase.wantsFrames { pass(stream, at: now, &state) }
    }
  }

  private func pass(_ stream: StreamID, at now: Instant, _ state: inout State) {
    guard state.machine.currentAttempt == stream else { return }
    state.stall.passed(at: now)
    apply(.unitPassed(stream), &state)
  }

  func framesFailed(_ stream: StreamID, _ text: String) { handle(.failed(stream, .videoStreamingError), text: text) }
}

extension Stream: CaptureOwner {
  var captureLane: any Lane { lane }

  func exclusively(_ body: () -> Void) { current.withLock { _ in body() } }

  /// The interface tells of no progress here.
  func captureMoved(received: Int, total: Int) {}

  func captureTaken(_ facts: PhotoFacts, captured: Instant, bytes: [UInt8]) {
    photos.send(
      PhotoData(
        data: Data(bytes), format: PhotoCaptureFormat(facts.format), origin: PhotoOrigin(facts, captured: captured)))
  }

  func captureFailed(_ failure: CaptureMachine.Failure) {
    recorder.note(.photoFailed(text: failure.description))
    errors.send(.photoCaptureFailed)
  }
}
