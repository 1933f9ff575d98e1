import LinkProtocol
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// Captures each picture when it is due and encodes it.
final class LiveProducer: UnitProducer {
  /// A source that lags further behind the clock than this can't be played in real time: its clock is set back, so that
  /// it plays on slowed down instead of ever later.
  private static let longestLag: Duration = .milliseconds(500)

  private struct Capture {
    let source: any VideoSource
    /// What the cadence is for.
    var video: VideoParameters
    /// When the source's clock showed 0.
    var origin: Instant
    var cadence: CaptureCadence
    /// The source's time of the picture to be taken next.
    var next: Duration = .zero
    /// When the newest picture taken was captured.
    var captured: Instant
    let opening: FeedClock.Opening
  }

  private let context: PipelineContext
  private let captureLane: any Lane
  private let stage: EncodeStage
  /// Touched on its lane only, so no one ever waits for this lock.
  private let capture = Mutex<Capture?>(nil)

  init(_ context: PipelineContext) {
    self.context = context
    captureLane = context.timekeeper.makeLane("capture")
    let me = WeakProducer()
    stage = EncodeStage(context) { failure in
      if let producer = me.producer { context.fail(failure, stopping: producer) }
    }
    me.producer = self
  }

  func start() { captureLane.run { [self] in open() } }

  func takeStill(_ ticket: StillTickets.Ticket) {
    captureLane.run { [self] in
      let result = capture.withLock { capture -> Result<VideoPipeline.Still, VideoPipeline.StillFailure> in
        guard let capture else { return .failure(.stopped) }
        do throws(SourceError) {
          let captured = context.deviceClock.time(at: capture.captured)
          return .success(.init(buffer: try capture.source.still(), captured: captured))
        } catch { return .failure(.source(error)) }
      }
      context.stills.finish(ticket, result)
    }
  }

  func stop() {
    // From the lanes themselves, after the work that runs there now: what it uses goes when it has returned.
    captureLane.run { [self] in
      capture.withLock { $0 = nil }
      captureLane.end()
    }
    stage.stop()
  }

  // MARK: Capture lane

  private func open() {
    guard context.isRunning else { return }
    do throws(SourceError) {
      let source = try context.openSource(context.configuration.video.size, context.requestedRate)
      let now = context.timekeeper.now
      let video = context.rung.video
      let cadence = CaptureCadence(requested: video.rate)
      let opening = context.feedClock.begin(context.configuration.feed, at: now)
      capture.withLock {
        $0 = Capture(source: source, video: video, origin: now, cadence: cadence, captured: now, opening: opening)
      }
    } catch {
      return context.fail(.source(error), stopping: self)
    }
    step()
  }

  /// Takes the picture that is due and plans the next.
  private func step() {
    guard context.isRunning else { return }
    let now = context.timekeeper.now
    do throws(SourceError) {
      let next = try capture.withLock { (capture) throws(SourceError) -> Instant? in
        guard capture != nil else { return nil }
        return try take(at: now, &capture)
      }
      guard let next else { return }
      captureLane.run(at: next) { [weak self] in self?.step() }
    } catch {
      context.fail(.source(error), stopping: self)
    }
  }

  /// - Returns: when the next picture is due.
  private func take(at now: Instant, _ state: inout Capture?) throws(SourceError) -> Instant? {
    guard var capture = state else { return nil }
    defer { state = capture }
    let video = context.rung.video
    if video.frameRate != capture.video.frameRate {
      capture.cadence.change(requested: video.rate)
    }
    capture.video = video
    let elapsed = now - capture.origin
    let picture = try capture.source.picture(at: elapsed)
    if elapsed - picture.time > Self.longestLag {
      capture.origin = capture.origin + (elapsed - picture.time)
      context.count { $0.sourceDelays += 1 }
    }
    // A source that could not follow gives an older one.
    if picture.time >= capture.next {
      capture.cadence.took(picture.time)
      capture.captured = capture.origin + picture.time
      let rate = min(video.rate, capture.source.frameRate)
      stage.handOver(EncodeStage.Picture(buffer: picture.buffer, captured: capture.captured, video: video, rate: rate))
    }
    capture.next = try capture.cadence.next(of: capture.source)
    context.feedClock.move(
      capture.opening, to: picture.time - picture.roundBegan, at: capture.origin + picture.time,
      cycle: capture.source.roundLength)
    return capture.origin + capture.next
  }
}
