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

/// The stream of a camera: pictures and, where they were asked for, samples of sound.
///
/// All members may be used from any thread. States and errors are announced on one thread of the stream's, in order: an
/// error before the state it explains, with `state` already at the new value or a later one. A listener that blocks there
/// keeps the others waiting for this stream's states and errors, and nothing else. Photos come on a thread of their own.
/// Frames come on a thread for each listener, so that a slow one loses frames of its own alone. Nothing is replayed. Sound
/// has the stream's states and errors, and none of its own.
///
/// While a `.stopped` stream costs nothing, a streaming one ends with its camera, its session, or an error; after an
/// error, or the camera's end, it can't be started again: add a new camera.
public final class Stream: Sendable {
  struct State {
    var machine: StreamMachine
    var timer: LaneTimer?
    /// When the timer fires.
    var deadline: Instant?
    /// What is known of the failure that is being handled: where the event came in, where it comes from, and in words.
    var failureStage = StreamMachine.Stage.connect
    var failureCause = FailureCause.here
    var failureText = ""
    var lastFailure: StreamFailure?
    weak var owner: (any StreamOwner)?
    var stall = StallWatch()
    /// What is missing in the stall that goes on; empty outside one.
    var missing: MissingMedia = []
    /// Sound is due from here on, if none has come since.
    var audioExpected = Instant.distantPast
    var budget: RecoveryBudget
    var news = StreamNews()
  }

  /// What was asked for, as it was asked.
  public let streamConfiguration: StreamConfiguration

  let context: CameraContext
  let recorder: TelemetryRecorder
  let limits: StreamMachine.Limits
  let current: Mutex<State>
  let frames: FrameReceiver
  let sound: AudioReceiver
  let audioArrivals = AudioArrivals()
  private let desk: PhotoDesk
  private let lane: any Lane
  private let photoLane: any Lane
  private let states: Broadcaster<StreamState>
  private let errors: Broadcaster<StreamError>
  private let photos: Broadcaster<PhotoData>

  init(_ configuration: StreamConfiguration, _ context: CameraContext, desk: PhotoDesk) {
    streamConfiguration = configuration
    self.context = context
    self.desk = desk
    lane = context.timekeeper.makeLane("stream")
    states = Broadcaster(lane: lane)
    errors = Broadcaster(lane: lane)
    photoLane = context.timekeeper.makeLane("stream-photos")
    photos = Broadcaster(lane: photoLane)
    recorder = TelemetryRecorder(timekeeper: context.timekeeper, lane: lane)
    let limits = Self.limits
    self.limits = limits
    current = Mutex(
      State(machine: StreamMachine(device: context.device, limits: limits), budget: RecoveryBudget(limits.budget)))
    frames = FrameReceiver(
      codec: configuration.videoCodec, link: context.link, timekeeper: context.timekeeper, telemetry: recorder,
      verifiesPictures: Self.verifiesPictures)
    sound = AudioReceiver(
      asked: configuration.audioParameters, link: context.link, timekeeper: context.timekeeper, events: recorder,
      arrivals: audioArrivals)
    frames.serve(self)
    audioArrivals.serve(self)
  }

  /// Where the stream stands.
  public var state: StreamState { current.withLock { $0.machine.state } }

  /// Announces each new state.
  public var statePublisher: any Announcer<StreamState> { states }

  /// Announces frames, to each listener on a thread of its own. While one is busy the newest three wait for it (of
  /// compressed ones 32); older ones are dropped, of compressed ones all up to the next sync unit. A listener that comes
  /// while the stream runs gets its first frame within a second; a compressed one that came before it did, where the
  /// glasses make no sync unit on request.
  public var videoFramePublisher: any Announcer<VideoFrame> { frames.outlet }

  /// Announces the sound that was asked for, in buffers of 20 ms as a rule, to each listener on a thread of its own.
  /// While one is busy the newest 25 wait for it; older ones are dropped. Sound comes while the stream is `.streaming`, and
  /// up to the glasses' answer after `stop()`; what was captured just before the first picture comes with it. Without an
  /// `audioCodec` in the configuration nothing is announced.
  public var audioFramePublisher: any Announcer<AudioFrame> { sound.outlet }

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
    telemetry.sound = sound.telemetry
    return telemetry
  }

  /// What each listener for frames has had, oldest first; those that left are not in it.
  package var frameListenerCounts: [(number: Int, counts: FrameListenerCounts)] { frames.outlet.listenerStatistics }

  /// As `frameListenerCounts`, of the listeners for sound.
  package var audioListenerCounts: [(number: Int, counts: FrameListenerCounts)] { sound.outlet.listenerStatistics }

  /// What the glasses send as sound, as they said last; nil before they did, and without sound.
  package var linkAudioStatus: LinkAudioStatus? { sound.status }

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
    case .audio(let unit):
      sound.receive(unit)
    case .message(.streamStarted(let started)):
      guard isCurrent(started.stream) else { return }
      recorder.note(.negotiated(started.video))
      agreed(on: started.audio, started.stream)
    case .message(.audioChanged(let changed)):
      guard isCurrent(changed.stream) else { return }
      sound.changed(changed)
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
    case .opened, .message, .photoProgress, .photo, .videoDropped, .audioDropped:
      break
    }
  }

  private func ended(_ stopped: StreamStopped) {
    switch stopped.reason {
    case .requested:
      // What was captured before the stop is on its way to listeners, and reaches them before they hear of the end.
      sound.finish(stopped.stream) { [weak self] in
        self?.handle(.glassesStopped(stopped.stream, nil), .ended, text: stopped.text)
      }
    case .failed(let code):
      handle(
        .glassesStopped(stopped.stream, StreamError(ending: code)),
        .reported(code, retryAfter: stopped.retryAfter),
        text: stopped.text.isEmpty ? "\(code)" : stopped.text)
    }
  }

  private func isCurrent(_ stream: StreamID) -> Bool { current.withLock { $0.machine.currentAttempt } == stream }

  func handle(_ event: StreamMachine.Event, _ cause: FailureCause = .here, text: String = "") {
    current.withLock { apply(event, &$0, cause: cause, text: text) }
  }

  /// - Parameters:
  ///   - cause: where it comes from if the event is a failure, and what is known of it in words.
  func apply(
    _ event: StreamMachine.Event, _ state: inout State, cause: FailureCause = .here, text: String = ""
  ) {
    let before = state.machine.phase
    let stage = state.machine.stage(of: event)
    let actions = state.machine.handle(event)
    guard before != state.machine.phase || !actions.isEmpty else { return }
    let now = context.timekeeper.now
    for action in actions {
      switch action {
      case .setDeadline(_, let length): state.deadline = now + length
      case .clearDeadline: state.deadline = nil
      default: break
      }
    }
    let news = state.news.tell(
      of: event, from: before, to: state.machine.phase, missingSince: missingSince(event, state),
      deadline: state.deadline, at: now)
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
      if new == .stopped { sound.close() }
      states.send(new)
      if new == .streaming { sound.begin() }
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
      nothingMissing(&state)
      state.budget = RecoveryBudget(limits.budget)
      // As every deadline, not on the lane of listeners: one that blocks must not keep the stream from starting.
      context.link.lane.run { [weak self] in self?.check(attempt) }
    case .open(let attempt):
      frames.open(attempt)
      sound.open(attempt)
      context.link.send(
        .streamStart(
          StreamStart(
            stream: attempt, session: context.session, video: streamConfiguration.videoParameters,
            audio: streamConfiguration.audioParameters)))
    case .watch: watch(&state)
    case .askForKeyframe: frames.requestKeyframe(.loss)
    case .hold:
      nothingMissing(&state)
      frames.hold()
      sound.hold()
    case .resume:
      frames.resume()
      sound.resume()
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

  private func check(_ attempt: StreamID) {
    if let refusal = streamConfiguration.audioCodec?.refusal {
      return handle(.refused(attempt, .audioStreamingError), text: refusal)
    }
    let withMicrophone = streamConfiguration.audioCodec != nil
    CameraAvailability.check(context, withMicrophone: withMicrophone) {
      [weak self, device = context.device] availability in
      if let error = StreamError(availability, device: device) {
        self?.handle(.refused(attempt, error), text: "\(availability)")
      } else {
        self?.handle(.permitted(attempt))
      }
    }
  }
}

extension Stream: CaptureOwner {
  var captureLane: any Lane { photoLane }

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
