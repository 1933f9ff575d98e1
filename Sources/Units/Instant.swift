/// A moment on this process's monotonic clock (`CLOCK_MONOTONIC`), in nanoseconds.
///
/// Every presentation time that an app sees is on this clock. Arithmetic saturates: a stamp that came from outside
/// can be as large as it likes without trapping.
package struct Instant: Comparable, Hashable, Sendable {
  package let nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Before everything that can happen; "never so far" where a last time is kept.
  package static let distantPast = Instant(nanoseconds: .min)
  /// After everything that can happen; "no deadline" where the earliest is sought.
  package static let distantFuture = Instant(nanoseconds: .max)

  package static func < (a: Instant, b: Instant) -> Bool { a.nanoseconds < b.nanoseconds }

  package static func + (a: Instant, b: Duration) -> Instant {
    Instant(nanoseconds: a.nanoseconds.addingSaturating(b.nanoseconds))
  }

  package static func - (a: Instant, b: Duration) -> Instant {
    Instant(nanoseconds: a.nanoseconds.subtractingSaturating(b.nanoseconds))
  }

  package static func - (a: Instant, b: Instant) -> Duration {
    .nanoseconds(a.nanoseconds.subtractingSaturating(b.nanoseconds))
  }
}

/// A moment on the monotonic clock of a pair of glasses, in nanoseconds from an origin of their own.
///
/// A type apart from `Instant`, so that a stamp can reach an app only through the clock alignment.
package struct DeviceTime: Comparable, Hashable, Sendable {
  package let nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func < (a: DeviceTime, b: DeviceTime) -> Bool { a.nanoseconds < b.nanoseconds }

  package static func + (a: DeviceTime, b: Duration) -> DeviceTime {
    DeviceTime(nanoseconds: a.nanoseconds.addingSaturating(b.nanoseconds))
  }

  package static func - (a: DeviceTime, b: DeviceTime) -> Duration {
    .nanoseconds(a.nanoseconds.subtractingSaturating(b.nanoseconds))
  }
}

extension Duration {
  /// Whole nanoseconds, saturating at the ends of 64 bits (292 years).
  package var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds.multipliedSaturating(by: 1_000_000_000).addingSaturating(attoseconds / 1_000_000_000)
  }

  /// As a fraction of seconds, for figures that people read.
  package var seconds: Double { Double(nanoseconds) / 1e9 }

  /// As a fraction of milliseconds, for figures that people read.
  package var milliseconds: Double { Double(nanoseconds) / 1e6 }
}
