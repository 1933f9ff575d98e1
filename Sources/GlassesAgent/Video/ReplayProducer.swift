import LinkProtocol
import PortableMedia
import Synchronization
import Units

/// Plays access units from the cache, in loops, at the times they would have been captured.
///
/// A keyframe request moves on to the next sync unit of the loop, a new size or frame rate to the first unit of its loop:
/// the picture jumps, the stamps don't. A unit that was encoded once keeps its size in bytes, so the target bit rate
/// changes nothing; a stream that a link can't carry is helped by the ladder alone.
final class ReplayProducer: UnitProducer {
  private struct Playback {
    var rung: Ladder.Rung
    var key: AccessUnitCache.Key
    var loop: UnitLoop
    /// Of the unit that is due next.
    var index = 0
    /// When it is due.
    var due: Instant
    /// What the feed showed last, in its own time, and when; for photos.
    var shown: (time: Duration, captured: Instant)
    let opening: FeedClock.Opening
  }

  private struct Played: Sendable {
    var unit: UnitLoop.Unit
    var video: VideoParameters
    var captured: Instant
    /// When the one after it is due.
    var next: Instant
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
    let rung = context.rung
    let key = key(for: rung, feed: FeedIdentity(context.configuration.feed))
    let now = context.timekeeper.now
    let opening = context.feedClock.begin(context.configuration.feed, at: now)
    playback.withLock {
      $0 = Playback(rung: rung, key: key, loop: loop(for: key), due: now, shown: (.zero, now), opening: opening)
    }
    step()
  }

  private func step() {
    guard context.isRunning else { return }
    let result: Result<Played?, PipelineFailure> = playback.withLock { state in
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
    case .success(.some(let played)):
      context.count { $0.captured += 1 }
      context.send(played.unit.picture, as: played.video, captured: played.captured)
      lane.run(at: played.next) { [weak self] in self?.step() }
    case .failure(let failure): context.fail(failure, stopping: self)
    }
  }

  /// The unit that is due.
  private func playNext(_ playback: inout Playback) throws(PipelineFailure) -> Played {
    let rung = context.rung
    if rung != playback.rung {
      let key = key(for: rung, feed: playback.key.feed)
      playback.rung = rung
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
    context.feedClock.move(
      playback.opening, to: unit.time - unit.roundBegan, at: captured, cycle: playback.loop.feedCycle)
    return Played(unit: unit, video: rung.video, captured: captured, next: playback.due)
  }

  private func loop(for key: AccessUnitCache.Key) -> UnitLoop {
    cache.loop(for: key, openSource: context.openSource)
  }

  private func key(for rung: Ladder.Rung, feed: FeedIdentity) -> AccessUnitCache.Key {
    AccessUnitCache.Key(
      feed: feed, size: rung.video.size, frameRate: rung.video.frameRate, bitrate: rung.bitrate,
      keyframeInterval: context.configuration.keyframeInterval,
      writesPictureHashes: context.configuration.writesPictureHashes)
  }
}
