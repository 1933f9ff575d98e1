import Units

/// Where each unit's samples lie on the host's clock: its capture stamps and the count of samples go in, gaps and a
/// correction of the rate come out.
package struct AudioTimeline: Hashable, Sendable {
  /// What to do with a unit.
  package struct Placement: Hashable, Sendable {
    /// Of the first frame that is delivered next.
    package var start: Instant
    /// Frames that are missing right before it: the frame delivered last, these, then `start`.
    package var missing: Int
    /// Frames at the unit's begin whose time was already delivered: they are to be left out.
    package var skip: Int
    package var isDiscontinuity: Bool
    /// How many more frames than came are to be delivered, in parts per million; exactly 0: leave the samples alone.
    package var correction: Double
  }

  private let sampleRate: Int
  private var anchor: Instant?
  /// Frames delivered or declared missing since the anchor.
  private var frames = 0

  package init(sampleRate: Int) { self.sampleRate = max(1, sampleRate) }

  /// Stamp of the frame that is delivered next, unless something is missing; nil before the first unit.
  package var next: Instant? { anchor.map { $0 + Self.duration(frames, at: sampleRate) } }

  /// True where `place` would declare a gap or leave something out. What a resampler still holds is then to be taken out
  /// of it and told with `delivered` first, so that it stands before the gap.
  package func breaks(at start: Instant, lost: Int = 0, isBreak: Bool) -> Bool {
    guard let next else { return false }
    return isBreak || lost > 0 || (start - next) >= .milliseconds(100)
  }

  /// Gives a unit its place. Follow it by `delivered`.
  ///
  /// - Parameters:
  ///   - start: the capture stamp of the unit's first frame on the host's clock.
  ///   - frames: of the unit, at this timeline's rate.
  ///   - lost: units known to be missing right before it.
  ///   - isBreak: something before it is missing by the sender's decision, or can't be used.
  package mutating func place(_ start: Instant, frames: Int, lost: Int = 0, isBreak: Bool) -> Placement {
    guard let next else {
      anchor = start
      return Placement(start: start, missing: 0, skip: 0, isDiscontinuity: isBreak, correction: 0)
    }
    guard breaks(at: start, lost: lost, isBreak: isBreak) else {
      return Placement(start: next, missing: 0, skip: 0, isDiscontinuity: false, correction: 0)
    }
    let hole = max(0, (start - next).seconds * Double(sampleRate))
    let missing = Int(clamping: Int64(saturating: hole.rounded()))
    self.frames = self.frames.addingSaturating(missing)
    return Placement(
      start: self.next ?? start, missing: missing, skip: 0, isDiscontinuity: true, correction: 0)
  }

  /// Frames that were delivered of what was placed, after resampling.
  ///
  /// - Parameter held: the time that the resampler still holds.
  package mutating func delivered(frames: Int, held: Duration = .zero) {
    self.frames = self.frames.addingSaturating(max(0, frames))
  }

  /// Of so many frames, in whole nanoseconds.
  private static func duration(_ frames: Int, at rate: Int) -> Duration {
    let seconds = Int64(frames / rate)
    return .nanoseconds(
      seconds.multipliedSaturating(by: 1_000_000_000)
        .addingSaturating(Int64(frames % rate) * 1_000_000_000 / Int64(rate)))
  }
}
