import LinkProtocol
import PortableMedia
import Synchronization
import Units

/// Encodes the pictures of a live feed as they come: those that the cadence takes, at once.
final class ArrivalProducer: UnitProducer {
  private struct Capture {
    var cadence: CaptureCadence
    var video: VideoParameters
    /// When the first picture came; the cadence counts from it.
    var origin: Instant?
    var newest: LiveFeed.Picture?
  }

  private let context: PipelineContext
  private let feed: LiveFeed
  private let stage: EncodeStage
  private let capture: Mutex<Capture>
  private let observation = Mutex<UInt64?>(nil)

  init(_ context: PipelineContext, _ feed: LiveFeed) {
    self.context = context
    self.feed = feed
    let video = context.rung.video
    capture = Mutex(Capture(cadence: CaptureCadence(requested: video.rate), video: video))
    let me = WeakProducer()
    stage = EncodeStage(context) { failure in
      if let producer = me.producer { context.fail(failure, stopping: producer) }
    }
    me.producer = self
  }

  func start() {
    _ = context.feedClock.begin(context.configuration.feed, at: context.timekeeper.now)
    let number = feed.observe { [weak self] news in self?.take(news) }
    observation.withLock { $0 = number }
    // Stopped meanwhile, by a failure that was known.
    if !context.isRunning { stopObserving() }
  }

  func takeStill(_ ticket: StillTickets.Ticket) {
    let newest = capture.withLock { $0.newest } ?? feed.newest
    guard let newest else { return context.stills.finish(ticket, .failure(.source(.live(feed.failure ?? feed.name)))) }
    context.stills.finish(
      ticket, .success(.init(buffer: newest.buffer, captured: context.deviceClock.time(at: newest.captured))))
  }

  func stop() {
    stopObserving()
    stage.stop()
  }

  private func stopObserving() {
    if let number = observation.withLock({ $0.take() }) { feed.stopObserving(number) }
  }

  /// On the reader's thread.
  private func take(_ news: LiveFeed.News) {
    guard context.isRunning else { return }
    switch news {
    case .failed(let words): context.fail(.source(.live(words)), stopping: self)
    case .picture(let picture): take(picture)
    }
  }

  private func take(_ picture: LiveFeed.Picture) {
    let video = context.rung.video
    let isTaken = capture.withLock { capture in
      if video.frameRate != capture.video.frameRate { capture.cadence.change(requested: video.rate) }
      capture.video = video
      capture.newest = picture
      let origin = capture.origin ?? picture.captured
      capture.origin = origin
      let time = picture.captured - origin
      // The next one is expected an interval of the feed's rate later.
      guard capture.cadence.takes(time, before: time + .seconds(1 / feed.frameRate)) else { return false }
      capture.cadence.took(time)
      return true
    }
    guard isTaken else { return }
    let rate = min(video.rate, feed.frameRate)
    stage.handOver(
      EncodeStage.Picture(buffer: picture.buffer, captured: picture.captured, video: video, rate: rate))
  }
}

/// A producer as what it owns sees it.
final class WeakProducer: Sendable {
  private struct Reference: Sendable {
    weak var producer: (any UnitProducer)?
  }

  private let reference = Mutex(Reference())

  var producer: (any UnitProducer)? {
    get { reference.withLock { $0.producer } }
    set { reference.withLock { $0.producer = newValue } }
  }
}
