import LinkProtocol
import PortableMedia
import Units

/// Captures and encodes one stream: pictures of a feed in, access units out.
///
/// The first picture is captured when the feed is open, and the cadence is the lower of the source's and the requested
/// rate (`CaptureCadence`). Units are stamped with the time of their capture on the glasses' clock; stamps rise.
///
/// Sync units: the first; the next one after each `requestKeyframe()`; and one every `keyframeInterval`, so that a
/// recording or a listener that joins late never waits longer, whoever asks.
///
/// Two lanes of its own. The capture lane reads, the encode lane scales and encodes; between them waits at most one
/// picture, which a newer one replaces (counted). So a slow encoder costs pictures and not delay.
///
/// `start()` and `stop()` are idempotent, all members may be called from any thread, none waits. `emit` is called on a
/// lane of the pipeline, in order; `failed` at most once, after the last unit, when the pipeline ended by itself. Once
/// `stop()` has returned neither begins again.
///
/// A pipeline that is let go without `stop()` ends by itself.
package final class VideoPipeline: Sendable {
  package struct Configuration: Sendable {
    package var feed: FeedDescription
    package var video: VideoParameters
    /// Nil: by size and rate (`VideoBitrate`).
    package var bitrate: Bitrate?
    /// Between two sync units that nobody asked for; nil: `VideoPipeline.keyframeInterval`, and `UnitLoop`'s own in
    /// replays.
    package var keyframeInterval: Duration?
    /// For verifying decoders; see `HEVCEncoder.Configuration`.
    package var writesPictureHashes = false
    /// Replays access units that were encoded once in this process, in loops, in place of encoding each picture. For
    /// simulated time, where a minute should cost no encoding; see `AccessUnitCache`.
    package var replaysCachedUnits: Bool

    package init(feed: FeedDescription, video: VideoParameters, bitrate: Bitrate? = nil, replaysCachedUnits: Bool) {
      self.feed = feed
      self.video = video
      self.bitrate = bitrate
      self.replaysCachedUnits = replaysCachedUnits
    }
  }

  /// A photo's picture.
  package struct Still: Sendable {
    package var buffer: CVPixelBuffer
    package var captured: DeviceTime
  }

  package enum StillFailure: Error, Hashable, Sendable {
    case source(SourceError)
    /// The pipeline was stopped, or failed, before the picture was taken.
    case stopped
  }

  /// The longest that a listener who joins without asking waits for a picture.
  package static let keyframeInterval: Duration = .seconds(2)

  private let context: PipelineContext
  private let producer: any UnitProducer

  /// - Parameter feedClock: as in the other initialiser.
  package convenience init(
    _ configuration: Configuration, timekeeper: any Timekeeper, deviceClock: DeviceClock,
    feedClock: FeedClock = FeedClock(),
    emit: @escaping @Sendable (EncodedUnit) -> Void, failed: @escaping @Sendable (PipelineFailure) -> Void
  ) {
    let feed = configuration.feed
    self.init(
      configuration, timekeeper: timekeeper, deviceClock: deviceClock,
      openSource: { (size, rate) throws(SourceError) in try feed.makeSource(size: size, frameRate: rate) },
      cache: .shared, feedClock: feedClock, emit: emit, failed: failed)
  }

  /// - Parameters:
  ///   - openSource: in place of the feed's own opening; for sources that no description names.
  ///   - cache: what is replayed from; one of its own unless the description names the source.
  ///   - feedClock: is told what the feed shows when, until the pipeline ends.
  package init(
    _ configuration: Configuration, timekeeper: any Timekeeper, deviceClock: DeviceClock,
    openSource: @escaping SourceOpener, cache: AccessUnitCache = AccessUnitCache(), feedClock: FeedClock = FeedClock(),
    emit: @escaping @Sendable (EncodedUnit) -> Void, failed: @escaping @Sendable (PipelineFailure) -> Void
  ) {
    context = PipelineContext(
      configuration: configuration, timekeeper: timekeeper, deviceClock: deviceClock, openSource: openSource,
      feedClock: feedClock, emit: emit, failed: failed)
    producer =
      if case .live(let feed) = configuration.feed {
        ArrivalProducer(context, feed)
      } else if configuration.replaysCachedUnits {
        ReplayProducer(context, cache: cache)
      } else {
        LiveProducer(context)
      }
  }

  deinit { stop() }

  /// Opens the feed and begins.
  package func start() {
    guard context.begin() else { return }
    producer.start()
  }

  /// Makes the next unit a sync unit. Requests before it is made count as one.
  package func requestKeyframe() { context.keyframeRequests.request() }

  /// What is sent from the next picture on: a new size or frame rate begins with a sync unit, a new target alone shows
  /// within ten pictures. The source stays as it was opened, for the configured size and rate; replayed units keep the
  /// bit rate of their rung.
  package func follow(_ rung: Ladder.Rung, target: Bitrate) { context.follow(rung, target: target) }

  package var rung: Ladder.Rung { context.rung }

  package var statistics: PipelineStatistics { context.statistics }

  /// Takes a photo's picture: what the source shows, at its full size. The stream goes on meanwhile.
  ///
  /// - Parameter completion: called exactly once, on a lane of the pipeline or from within this call.
  package func takeStill(_ completion: @escaping @Sendable (Result<Still, StillFailure>) -> Void) {
    let ticket = context.stills.add(completion)
    if context.isRunning {
      producer.takeStill(ticket)
    } else {
      context.stills.finish(ticket, .failure(.stopped))
    }
  }

  /// Ends capture and encoding and frees what they used, as soon as the work under way has returned.
  package func stop() {
    guard context.end() else { return }
    context.feedClock.end(at: context.timekeeper.now)
    producer.stop()
    context.stills.finishAll(.failure(.stopped))
  }
}

package typealias SourceOpener =
  @Sendable (_ size: PixelSize, _ frameRate: Double) throws(SourceError) -> any VideoSource

/// How a pipeline comes by its units. Called by the pipeline only: `start` once, `stop` once.
protocol UnitProducer: AnyObject, Sendable {
  func start()
  func takeStill(_ ticket: StillTickets.Ticket)
  func stop()
}
