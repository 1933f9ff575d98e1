import MediaEngine
import Units

/// Injected samples of another form than a stream's, in that of the stream.
///
/// Pieces that follow each other without a gap go through one resampler and lie side by side in the stream, so that they
/// sound like one. For that the later one must be there when the end of the earlier one is captured. Converted as they
/// are needed, so that a long piece costs nothing at once; of pieces that are over nothing is kept.
struct ConvertedInjections {
  /// Where a piece lies in a stream.
  struct Place {
    var first: Int
    var frames: Int
  }

  private struct Converted {
    let place: Place
    /// Interleaved; those that there are by now.
    var samples: [Float] = []
  }

  /// Pieces that follow each other.
  private struct Run {
    let resampler: Resampler
    /// The last of them.
    var last: Int
    /// When it ends, and where in the stream.
    var end: Instant
    var next: Int
    /// Of all of them.
    var framesIn = 0
    var framesOut = 0
    /// What the resampler is still to get, in order, and how much of the first it has.
    var waiting: [PCMBlock] = []
    var fed = 0
    /// Pieces that lack samples, in order, and how many.
    var owed: [(piece: Int, samples: Int)] = []
  }

  /// Frames that a resampler gets at a time.
  private static let portion = 2048

  private let format: PCMFormat
  private var converted: [Int: Converted] = [:]
  private var runs: [Run] = []

  init(format: PCMFormat) { self.format = format }

  /// Pieces of which something is kept.
  var count: Int { converted.count }

  /// Call before a block's pieces are asked for, with all that are near it.
  ///
  /// - Parameter index: the frame of the stream whose time is nearest.
  mutating func take(_ pieces: [Injections.Piece], index: (Instant) -> Int) throws(MediaError) {
    if !converted.isEmpty { forget(allBut: pieces) }
    let new = pieces.filter { $0.block.format != format && converted[$0.number] == nil }
    for piece in new.sorted(by: { $0.start < $1.start }) { try add(piece, at: index(piece.start)) }
  }

  /// Nil for a piece that needs no conversion.
  func place(of piece: Injections.Piece) -> Place? { converted[piece.number]?.place }

  /// The piece's first frames, interleaved: so many of them, if it has as many.
  mutating func samples(of piece: Injections.Piece, frames: Int) throws(MediaError) -> [Float] {
    guard piece.block.format != format else { return piece.block.samples }
    while let known = converted[piece.number], known.samples.count < min(frames, known.place.frames) * format.channels,
      let run = runs.firstIndex(where: { run in run.owed.contains { $0.piece == piece.number } })
    {
      try advance(run)
    }
    return converted[piece.number]?.samples ?? []
  }

  private mutating func add(_ piece: Injections.Piece, at place: Int) throws(MediaError) {
    let own = piece.block.format
    // Half a sample of its own: as near as a stamp says.
    let margin = Duration.nanoseconds(500_000_000 / Int64(max(1, own.sampleRate)))
    let known = runs.firstIndex { run in
      run.resampler.from == own && piece.start >= run.end - margin && piece.start <= run.end + margin
    }
    var run: Run
    if let known {
      run = runs.remove(at: known)
    } else {
      run = Run(
        resampler: try Resampler(from: own, to: format), last: piece.number, end: piece.start, next: place)
    }
    run.framesIn = run.framesIn.addingSaturating(piece.block.frames)
    // As many as the resampler makes of them in all.
    let all = Int((Double(run.framesIn) * Double(format.sampleRate) / Double(own.sampleRate)).rounded())
    // Side by side, until a clock that is out of step has taken them apart.
    let first = abs(place.subtractingSaturating(run.next)) <= 1 ? run.next : place
    let new = Place(first: first, frames: all - run.framesOut)
    converted[piece.number] = Converted(place: new)
    run.last = piece.number
    run.end = piece.end
    run.next = first.addingSaturating(new.frames)
    run.framesOut = all
    run.waiting.append(piece.block)
    run.owed.append((piece.number, new.frames * format.channels))
    runs.append(run)
  }

  /// Converts something more of a run; its end, where nothing follows by now.
  private mutating func advance(_ index: Int) throws(MediaError) {
    var run = runs.remove(at: index)
    guard let block = run.waiting.first else { return fill(&run, with: try run.resampler.flush()) }
    let end = min(run.fed + Self.portion, block.frames)
    let channels = block.format.channels
    fill(&run, with: try run.resampler.convert(Array(block.samples[run.fed * channels..<end * channels])))
    run.fed = end
    if end == block.frames {
      run.waiting.removeFirst()
      run.fed = 0
    }
    runs.append(run)
  }

  private mutating func fill(_ run: inout Run, with samples: [Float]) {
    var left = samples[...]
    while let (piece, missing) = run.owed.first {
      let part = left.prefix(missing)
      converted[piece]?.samples.append(contentsOf: part)
      left = left.dropFirst(part.count)
      guard part.count == missing else {
        run.owed[0].samples -= part.count
        return
      }
      run.owed.removeFirst()
    }
  }

  private mutating func forget(allBut pieces: [Injections.Piece]) {
    let near = Set(pieces.lazy.map(\.number))
    for number in converted.keys where !near.contains(number) {
      converted[number] = nil
      runs.removeAll { $0.last == number }
    }
  }
}
