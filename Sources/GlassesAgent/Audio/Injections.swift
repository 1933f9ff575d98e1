import MediaEngine
import Units

/// Why sound can't be put into what a microphone hears.
package enum InjectionError: Error, Hashable, Sendable {
  /// It was to be heard before now, by so much.
  case tooLate(by: Duration)
  /// More would wait than may: sound of `Injections.longestPending`, or `Injections.mostPending` pieces.
  case tooMuchPending
  /// No samples, or not of one or two channels at a rate that sound has.
  case formatNotSupported
}

/// Samples that are to be heard at given times in place of what a source has then.
///
/// Bounded: more than `longestPending` of sound, or than `mostPending` pieces, that are still to come are refused. What
/// is over is forgotten, heard or not.
struct Injections: Sendable {
  static let longestPending: Duration = .seconds(60)
  static let mostPending = 6000
  /// How long after its end a piece is kept: longer than any capture is late.
  private static let memory: Duration = .seconds(3)

  struct Piece: Sendable {
    let number: Int
    let block: PCMBlock
    let start: Instant
    var end: Instant { start + block.duration }
  }

  private let mostPending: Int
  /// In the order in which they came: the later ones win.
  private var pieces: [Piece] = []
  private var nextNumber = 0

  init(mostPending: Int = Injections.mostPending) { self.mostPending = mostPending }

  /// Of sound that is still to come at a moment.
  func pending(at now: Instant) -> Duration {
    pieces.reduce(.zero) { $1.end > now ? $0 + $1.block.duration : $0 }
  }

  mutating func add(_ block: PCMBlock, at start: Instant, now: Instant) throws(InjectionError) {
    let format = block.format
    guard block.frames > 0, 1...2 ~= format.channels, 4000...768_000 ~= format.sampleRate else {
      throw .formatNotSupported
    }
    guard start >= now else { throw .tooLate(by: now - start) }
    forget(before: now - Self.memory)
    guard pieces.count < mostPending || pieces.count(where: { $0.end > now }) < mostPending,
      pending(at: now) + block.duration <= Self.longestPending
    else {
      throw .tooMuchPending
    }
    pieces.append(Piece(number: nextNumber, block: block, start: start))
    nextNumber += 1
  }

  /// What may be heard between two moments or shortly after, the ones that win last.
  mutating func pieces(from start: Instant, to end: Instant) -> [Piece] {
    guard !pieces.isEmpty else { return [] }
    forget(before: start - Self.memory)
    // Before, half a sample of any rate, as samples are put to the nearest place; behind, as far as a filter sees that
    // converts what comes before.
    return pieces.filter { $0.start < end + .milliseconds(10) && $0.end > start - .milliseconds(1) }
  }

  private mutating func forget(before moment: Instant) { pieces.removeAll { $0.end < moment } }
}
