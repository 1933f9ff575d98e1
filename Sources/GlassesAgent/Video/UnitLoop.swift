import MediaEncoding
import Synchronization
import Units

/// A stretch of a feed as access units that can be replayed in loops: its first unit is a sync unit.
///
/// Units are encoded when they are first asked for, in order and each once, with what the loop keeps open for that; so
/// whoever asks, and however often, gets the same bytes. When the stretch is complete, source and encoder are closed.
///
/// Any thread. A caller waits while another one encodes.
final class UnitLoop: Sendable {
  struct Unit: Sendable {
    let picture: EncodedPicture
    /// Since the stretch began.
    let time: Duration
    /// When the feed's round that it belongs to began.
    let roundBegan: Duration
  }

  /// What the loop is made of.
  struct Recipe: Sendable {
    var size: PixelSize
    var requestedRate: Double
    var bitrate: Bitrate
    /// Nil for the loop's own. Since each round begins with a sync unit, a stretch is made as long as several of them.
    var keyframeInterval: Duration?
    var writesPictureHashes: Bool
    var openSource: SourceOpener

    var longestCycle: Duration {
      guard let keyframeInterval, keyframeInterval > .zero else { return UnitLoop.longestCycle }
      let count = (UnitLoop.longestCycle.seconds / keyframeInterval.seconds).rounded(.up)
      return keyframeInterval * max(1, Int(Int64(saturating: count)))
    }
  }

  /// A source's first round, or so much of it; whole seconds, so that the pattern's flashes keep their period.
  static let longestCycle: Duration = .seconds(4)
  /// Denser than in a live stream, so that a jump to the next one skips little.
  static let keyframeInterval: Duration = .seconds(1)

  private struct Maker {
    let source: any VideoSource
    let encoder: UnitEncoder
    var cadence: CaptureCadence
  }

  private struct State {
    var units: [Unit] = []
    var maker: Maker?
    /// The stretch's length, known when it is complete.
    var cycle: Duration?
    /// The length of the source's round, once it is known.
    var round: Duration?
    var failure: PipelineFailure?
  }

  private let recipe: Recipe
  private let state = Mutex(State())
  private let bytes = Atomic<Int>(0)

  init(_ recipe: Recipe) { self.recipe = recipe }

  /// Bytes of the units made so far. Does not wait.
  var byteCount: Int { bytes.load(ordering: .relaxed) }

  /// When the feed begins anew, in its own time, once that is known: with its own end, or with the stretch's.
  var feedCycle: Duration? {
    state.withLock { state in [state.cycle, state.round].compactMap { $0 }.min() }
  }

  /// The unit at an index, with how long after it the next one follows. An index beyond the end begins the next round:
  /// it reads as 0.
  func unit(at wanted: Int) throws(PipelineFailure) -> (index: Int, unit: Unit, gap: Duration) {
    try state.withLock { (state) throws(PipelineFailure) in
      try make(through: wanted.addingSaturating(1), &state)
      let index = state.units.indices.contains(wanted) ? wanted : 0
      guard state.units.indices.contains(index) else { throw .source(.noPicture) }
      let unit = state.units[index]
      let next = state.units.indices.contains(index + 1) ? state.units[index + 1].time : state.cycle
      return (index, unit, (next ?? unit.time) - unit.time)
    }
  }

  /// The first sync unit at or after an index; 0 when there is none.
  func syncIndex(from index: Int) throws(PipelineFailure) -> Int {
    var candidate = index
    while true {
      let found = try unit(at: candidate)
      if found.index < candidate || found.unit.picture.isSync { return found.index }
      candidate += 1
    }
  }

  /// Makes units until there are more than `index`, or the stretch is complete.
  private func make(through index: Int, _ state: inout State) throws(PipelineFailure) {
    if let failure = state.failure { throw failure }
    do throws(PipelineFailure) {
      while state.units.count <= index, state.cycle == nil { try makeNext(&state) }
    } catch {
      state.failure = error
      state.maker = nil
      throw error
    }
  }

  private func makeNext(_ state: inout State) throws(PipelineFailure) {
    var maker: Maker
    if let open = state.maker { maker = open } else { maker = try open() }
    let picture = try nextPicture(of: maker)
    state.round = maker.source.roundLength
    let longest = recipe.longestCycle
    let isRound = recipe.keyframeInterval == nil && picture.roundBegan > .zero
    let end = isRound ? min(picture.roundBegan, longest) : longest
    guard picture.time < end else {
      state.cycle = end
      state.maker = nil
      return
    }
    maker.cadence.took(picture.time)
    let encoded = try maker.encoder.encode(picture.buffer, forcesSync: state.units.isEmpty)
    state.units.append(Unit(picture: encoded, time: picture.time, roundBegan: picture.roundBegan))
    bytes.add(encoded.payload.count, ordering: .relaxed)
    state.maker = maker
  }

  private func nextPicture(of maker: Maker) throws(PipelineFailure) -> SourcePicture {
    do throws(SourceError) {
      return try maker.source.picture(at: try maker.cadence.next(of: maker.source))
    } catch {
      throw .source(error)
    }
  }

  private func open() throws(PipelineFailure) -> Maker {
    let source: any VideoSource
    do throws(SourceError) {
      source = try recipe.openSource(recipe.size, recipe.requestedRate)
    } catch {
      throw .source(error)
    }
    let encoder = try UnitEncoder(
      size: recipe.size, rate: min(recipe.requestedRate, source.frameRate), bitrate: recipe.bitrate,
      keyframeInterval: recipe.keyframeInterval ?? Self.keyframeInterval,
      writesPictureHashes: recipe.writesPictureHashes)
    return Maker(
      source: source, encoder: encoder, cadence: CaptureCadence(requested: recipe.requestedRate))
  }
}
