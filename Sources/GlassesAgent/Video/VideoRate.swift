import LinkProtocol
import Synchronization
import Units

/// What one stream is sent as, over all its runs of pictures: a pause, or another feed, does not make the link wider.
///
/// Any thread; nothing here waits for long.
final class VideoRate: Sendable {
  private struct State {
    var rate: SendingRate
    /// What the app was told last.
    var announced: VideoParameters
  }

  private let state: Mutex<State>

  /// - Parameters:
  ///   - asked: what app and glasses agreed on.
  ///   - bitrate: of it; nil for what suits its size and rate.
  init(asked: VideoParameters, bitrate: Bitrate?) {
    state = Mutex(State(rate: SendingRate(Ladder(asked: asked, bitrate: bitrate)), announced: asked))
  }

  var current: SendingRate { state.withLock { $0.rate } }
  /// What the link is known to carry, sound and pictures together; nil while nothing limits what is sent.
  var estimate: Bitrate? { state.withLock { $0.rate.limit } }
  var rung: Ladder.Rung { state.withLock { $0.rate.rung } }
  var target: Bitrate { state.withLock { $0.rate.target } }

  /// What to make of what the link shows; nil when it was looked at only just now.
  func look(_ flow: VideoFlow) -> (Ladder.Rung, Bitrate)? {
    state.withLock { state in
      guard state.rate.look(flow) else { return nil }
      return (state.rate.rung, state.rate.target)
    }
  }

  /// Why the app has to be told, before the unit, of the form that a unit is in; nil when it knows it.
  func announce(_ video: VideoParameters) -> StreamChanged.Reason? {
    state.withLock { state in
      guard video != state.announced else { return nil }
      defer { state.announced = video }
      return video.samplesPerSecond < state.announced.samplesPerSecond ? .linkNarrowed : .linkWidened
    }
  }
}

extension VideoParameters {
  fileprivate var samplesPerSecond: Int {
    size.width.multipliedSaturating(by: size.height).multipliedSaturating(by: Int(frameRate))
  }
}

extension Ladder {
  /// The rungs below what was agreed on: the smaller sizes, then the slower rates of the smallest.
  init(asked: VideoParameters, bitrate: Bitrate?) {
    let usual = VideoBitrate.default(for: asked.size, frameRate: Double(asked.frameRate))
    // A bit rate that was given in place of the usual one holds for the rungs below in proportion.
    let share = bitrate.map { Double($0.bitsPerSecond) / Double(max(usual.bitsPerSecond, 1)) } ?? 1
    let pixels = asked.size.width.multipliedSaturating(by: asked.size.height)
    let smaller = StreamNegotiation.sizes.filter { $0.width * $0.height < pixels }
    let smallest = smaller.last ?? asked.size
    func least(_ size: PixelSize, _ frameRate: UInt8) -> Bitrate? {
      guard size == smallest, frameRate <= RateRules.slowestMovement else { return nil }
      return frameRate == RateRules.slowestMovement ? RateRules.leastOfMovement : RateRules.leastOfSlower
    }
    func rung(_ size: PixelSize, _ frameRate: UInt8) -> Rung {
      let usual = VideoBitrate.default(for: size, frameRate: Double(frameRate))
      return Rung(
        video: VideoParameters(codec: asked.codec, size: size, frameRate: frameRate),
        bitrate: Bitrate(bitsPerSecond: Int64(saturating: Double(usual.bitsPerSecond) * share)),
        least: least(size, frameRate))
    }
    let slower = GlassesFrameRate.all.reversed().filter { $0 < asked.frameRate }
    self.init(
      top: Rung(video: asked, bitrate: bitrate ?? usual, least: least(asked.size, asked.frameRate)),
      lower: smaller.map { rung($0, asked.frameRate) } + slower.map { rung(smallest, $0) })
  }
}
