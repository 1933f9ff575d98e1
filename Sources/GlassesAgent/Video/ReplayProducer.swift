import LinkProtocol
import PortableMedia
import Synchronization
import Units

/// Plays access units from the cache, in loops, at the times they would have been captured.
///
/// A keyframe request moves on to the next sync unit of the loop, a new bit rate to the first unit of its loop: the
/// picture jumps, the stamps don't.
final class ReplayProducer: UnitProducer {
  private struct Playback {
    var key: AccessUnitCache.Key
    var loop: UnitLoop
    /// Of the unit that is due next.
    var index = 0
    /// When it is due.
    var due: Instant
    /// What the feed showed last, in its own time, and when; for photos.
    var shown: (time: Duration, captured: Instant)
  }

  private let context: PipelineContext
  private let cache: AccessUnitCache
  private let lane: any Lane
  /// Touched on the lane only, so no one ever waits for the lock.
  private let playback = Mutex<Playback?>(nil)

  init(_ context: PipelineContext, cache: AccessUnitCache) {
    self.context = context
    self.cache = cache
    lane = context.timekeeper.makeLane("replay")
  }

  func start() { lane.run { [self] in open() } }

  func takeStill(_ ticket: StillTickets.Ticket) {
    lane.run { [self] in
      let shown = playback.withLock { $0?.shown }
      guard let shown else { return context.stills.finish(ticket, .failure(.stopped)) }
      do throws(SourceError) {
        // The loop holds no pictures; a source opened anew shows the same one at the same time.
        let source = try context.openSource(context.configuration.video.size, context.requestedRate)
        _ = try source.picture(at: shown.time)
        let captured = context.deviceClock.time(at: shown.captured)
        context.stills.finish(ticket, .success(.init(buffer: try source.still(), captured: captured)))
      } catch {
        context.stills.finish(ticket, .failure(.source(error)))
      }
    }
  }

  func stop() {
    lane.run { [self] in
      playback.withLock { $0 = nil }
      lane.end()
    }
  }

  private func open() {
    guard context.isRunning else { return }
    let key = currentKey(feed: FeedIdentity(context.configuration.feed))
    let now = context.timekeeper.now
    playback.withLock {
      $0 = Playback(key: key, loop: loop(for: key), due: now, shown: (.zero, now))
    }
    step()
  }

  private func step() {
    guard context.isRunning else { return }
    let result: Result<(UnitLoop.Unit, Instant, next: Instant)?, PipelineFailure> = playback.withLock { state in
      guard var playback = state else { return .success(nil) }
      do throws(PipelineFailure) {
        let played = try playNext(&playback)
        state = playback
        return .success(played)
      } catch {
        cache.remove(playback.key)
        return .failure(error)
      }
    }
    switch result {
    case .success(nil): return
    case .success(.some(let (unit, captured, next))):
      context.count { $0.captured += 1 }
      context.send(unit.picture, captured: captured)
      lane.run(at: next) { [weak self] in self?.step() }
    case .failure(let failure): context.fail(failure, stopping: self)
    }
  }

  /// The unit that is due, and when the one after it is.
  private func playNext(_ playback: inout Playback) throws(PipelineFailure) -> (UnitLoop.Unit, Instant, next: Instant) {
    let key = currentKey(feed: playback.key.feed)
    if key != playback.key {
      playback.key = key
      playback.loop = loop(for: key)
      playback.index = 0
    }
    if context.keyframeRequests.take() { playback.index = try playback.loop.syncIndex(from: playback.index) }
    let (index, unit, gap) = try playback.loop.unit(at: playback.index)
    let captured = playback.due
    playback.index = index + 1
    playback.due = captured + max(gap, .nanoseconds(1))
    playback.shown = (unit.time, captured)
    return (unit, captured, playback.due)
  }

  private func loop(for key: AccessUnitCache.Key) -> UnitLoop {
    cache.loop(for: key, openSource: context.openSource)
  }

  private func currentKey(feed: FeedIdentity) -> AccessUnitCache.Key {
    let configuration = context.configuration
    return AccessUnitCache.Key(
      feed: feed, size: configuration.video.size, frameRate: configuration.video.frameRate,
      bitrate: AccessUnitCache.rounded(context.targetBitrate), keyframeInterval: configuration.keyframeInterval,
      writesPictureHashes: configuration.writesPictureHashes)
  }
}
