import Units

/// The clock of a pair of glasses as a function of this process's clock.
///
/// Real glasses use `identity`; simulated ones get an origin and a rate of their own, so that nothing that mixes the
/// two clocks up can pass a test.
package struct DeviceClock: Hashable, Sendable {
  package static let identity = DeviceClock(offset: .zero, partsPerMillion: 0)

  private let offset: Int64
  package let partsPerMillion: Double

  /// - Parameters:
  ///   - offset: what the glasses' clock shows when the host's shows 0.
  ///   - partsPerMillion: how much faster it runs than the host's.
  package init(offset: Duration, partsPerMillion: Double) {
    self.offset = offset.nanoseconds
    self.partsPerMillion = partsPerMillion
  }

  package func time(at instant: Instant) -> DeviceTime {
    let drift = Int64(saturating: Double(instant.nanoseconds) * partsPerMillion / 1e6)
    return DeviceTime(nanoseconds: instant.nanoseconds.addingSaturating(drift).addingSaturating(offset))
  }
}
