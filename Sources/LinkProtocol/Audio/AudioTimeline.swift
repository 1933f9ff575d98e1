import Units

/// Where each unit's samples lie on the host's clock: its capture stamp and the count of samples go in; gaps, and a
/// correction of the rate, come out. What keeps sound in step with pictures (SYNC-2, AUD-2).
///
/// A stamp says when samples were taken but jitters; the count is exact but its clock drifts. So listeners get stamps by
/// the count, each block right after the one before, and the stamps say how far that is off. A line through what they
/// say (`DriftLine`) gives offset and drift without the jitter, and the count is held near it by resampling a little
/// (`RateCorrection`). Where stamps and count part by more than resampling can mend, frames are declared missing, or
/// left out:
///
/// - Lost units, or a mark of the sender: what is missing by the stamps. If that is the length of the units lost, exactly
///   that, so jitter does not enter the count.
/// - 100 ms or more too late: missing. As much too early: left out, since their time was delivered already.
/// - Less, and without a mark: worked off by resampling.
///
/// For listeners always: stamp = stamp before + (its frames + missing) / rate, so stamps strictly rise and count.
///
/// Use for each unit: if `breaks`, take what the resampler still holds out of it and tell `delivered`; then `place`, leave
/// out, resample, deliver, and tell `delivered`. A value without a clock; stamps may be anything.
package struct AudioTimeline: Hashable, Sendable {
  /// What to do with a unit.
  package struct Placement: Hashable, Sendable {
    /// Of the first frame that is delivered next.
    package var start: Instant
    /// Frames that are missing right before it.
    package var missing: Int
    /// Frames at the unit's begin whose time was already delivered: they are to be left out.
    package var skip: Int
    /// The samples don't go on from the ones before.
    package var isDiscontinuity: Bool
    /// How many more frames are to be made than came, in parts per million; exactly 0: leave the samples alone.
    package var correction: Double
  }

  /// How a unit follows what was placed before it.
  private enum Following: Hashable, Sendable {
    case closely
    /// After frames that are missing. Their number comes from units lost, or else from the stamp.
    case missing(Int, isCounted: Bool)
    case overlapping(Int)
  }

  /// Stamps in a row that are off to one side.
  private struct Outliers: Hashable, Sendable {
    var count = 0
    var sum = 0.0
  }

  /// Apart by this much, no resampling mends it: it would take 100 s.
  package static let largestOffset: Duration = .milliseconds(100)
  /// What a stamp may jitter by, and something more; beyond, and often, it is no jitter.
  private static let jitter = 8e-3
  private static let outlier = 12e-3
  /// Stamps in a row that are off to one side: 200 ms of units.
  private static let outliersOfStep = 10

  private let sampleRate: Int
  /// Stamp of the first frame; everything else is counted from it.
  private var anchor: Instant?
  /// Frames since then, delivered or missing.
  private var output = 0
  /// Frames since then that came or are known to be missing by count.
  private var input = 0
  /// What the resampler holds.
  private var held: Duration = .zero
  private var lastUnit = 0
  private var line = DriftLine()
  private var rate = RateCorrection()
  private var lastLook = 0.0
  private var outliers = Outliers()
  /// Frames are being left out until stamps have caught up.
  private var isOverlapping = false
  /// The mark of a unit of which nothing was delivered.
  private var owesMark = false

  package init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

  // MARK: What it knows

  /// Stamp of the frame that is delivered next, unless some are missing; nil before the first unit.
  package var next: Instant? { anchor.map { $0 + duration(output) } }

  /// How much faster the samples' clock runs than the host's, in parts per million; nil until it was measured.
  package var drift: Double? { line.isMeasured ? line.slope * -1e6 : nil }

  /// How far the stamps are ahead of what is delivered, jitter left out.
  package private(set) var offset: Duration = .zero

  // MARK: Units

  /// True where `place` would mark the unit: what is held belongs before it.
  ///
  /// - Parameters: as of `place`.
  package func breaks(at start: Instant, lost: Int = 0, isBreak: Bool) -> Bool {
    isBreak || owesMark || following(start, lost: lost, isBreak: isBreak) != .closely
  }

  /// Gives a unit its place. Follow it by `delivered`.
  ///
  /// - Parameters:
  ///   - start: the capture stamp of the unit's first frame, on the host's clock.
  ///   - frames: the unit's, at this timeline's rate.
  ///   - lost: units known to be missing right before it.
  ///   - isBreak: something before it is missing by the sender's decision, or came and can't be used.
  package mutating func place(_ start: Instant, frames: Int, lost: Int = 0, isBreak: Bool) -> Placement {
    let following = following(start, lost: lost, isBreak: isBreak)
    if anchor == nil { anchor = start }
    var placement = Placement(
      start: start, missing: 0, skip: 0, isDiscontinuity: isBreak || owesMark || following != .closely,
      correction: 0)
    isOverlapping = false
    owesMark = false
    switch following {
    case .closely:
      break
    case .missing(let count, let isCounted):
      placement.missing = count
      output = output.addingSaturating(count)
      if isCounted { input = input.addingSaturating(count) } else { restartLine() }
    case .overlapping(let count):
      placement.skip = min(count, max(0, frames))
      isOverlapping = count > placement.skip
      owesMark = frames > 0 && placement.skip == frames
      restartLine()
    }
    // What is left out never came.
    if !owesMark { observe(start + duration(placement.skip)) }
    input = input.addingSaturating(max(0, frames) - placement.skip)
    if frames > 0 { lastUnit = frames }
    placement.start = next ?? start
    placement.correction = rate.value
    return placement
  }

  /// Frames that were delivered after resampling.
  ///
  /// - Parameter held: the time that the resampler still holds of what was placed.
  package mutating func delivered(frames: Int, held: Duration = .zero) {
    output = output.addingSaturating(max(0, frames))
    self.held = held
  }

  // MARK: -

  private func following(_ start: Instant, lost: Int, isBreak: Bool) -> Following {
    guard let next else { return .closely }
    let apart = start - (next + held)
    let hole = apart.seconds - offset.seconds
    if lost > 0, lastUnit > 0 {
      let count = lost.multipliedSaturating(by: lastUnit)
      if abs(hole - Double(count) / Double(sampleRate)) <= Self.jitter { return .missing(count, isCounted: true) }
    }
    if apart >= Self.largestOffset { return .missing(frames(apart), isCounted: false) }
    if apart <= .zero - Self.largestOffset || isOverlapping && apart < .zero {
      return .overlapping(frames(.zero - apart))
    }
    // Within jitter the stamps speak against a gap, whatever was lost: it was another stream's.
    if isBreak || lost > 0, hole > Self.jitter, apart > .zero { return .missing(frames(apart), isCounted: false) }
    return .closely
  }

  /// Takes the stamp of the unit that comes next into the line, and looks at what is to be corrected.
  private mutating func observe(_ start: Instant) {
    guard let anchor else { return }
    let x = (start - anchor).seconds
    let counted = anchor + duration(input)
    let y = (start - counted).seconds
    if line.points < 1 || abs(y - line.value(at: x)) <= Self.outlier {
      outliers = Outliers()
      line.add(x: x, y: y)
    } else {
      takeOutlier(y - line.value(at: x))
    }
    let position = (anchor + duration(output) + held - counted).seconds
    let offset = line.value(at: x) - position
    self.offset = .nanoseconds(Int64(saturating: offset * 1e9))
    rate.look(line, offset: offset, elapsed: x - lastLook)
    lastLook = x
  }

  /// One stamp that is far off says nothing. Many in a row, all to one side, say that samples went missing, or too many
  /// came, without a mark.
  private mutating func takeOutlier(_ distance: Double) {
    if outliers.sum * distance < 0 { outliers = Outliers() }
    outliers.count += 1
    outliers.sum += distance
    guard outliers.count >= Self.outliersOfStep else { return }
    line.shift(by: outliers.sum / Double(outliers.count))
    outliers = Outliers()
  }

  private mutating func restartLine() {
    line.restart()
    offset = .zero
    outliers = Outliers()
  }

  private func frames(_ time: Duration) -> Int {
    Int(clamping: Int64(saturating: (time.seconds * Double(sampleRate)).rounded()))
  }

  /// Of so many frames, without an error that grows.
  private func duration(_ frames: Int) -> Duration {
    let (seconds, rest) = frames.quotientAndRemainder(dividingBy: sampleRate)
    return .nanoseconds(
      Int64(clamping: seconds).multipliedSaturating(by: 1_000_000_000)
        .addingSaturating(Int64(saturating: (Double(rest) * 1e9 / Double(sampleRate)).rounded(.down))))
  }
}
