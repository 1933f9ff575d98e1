/// A unit number that wraps around (RFC 1982, serial number arithmetic with 32 bits).
package struct SerialNumber: Hashable, Sendable {
  package let value: UInt32

  package init(_ value: UInt32) { self.value = value }

  /// True if this one comes before the other, by less than half the circle. For two that are exactly half the circle
  /// apart RFC 1982 leaves the order undefined; here neither precedes the other.
  package func precedes(_ other: SerialNumber) -> Bool {
    let distance = other.value &- value
    return distance != 0 && distance < 1 << 31
  }

  /// Steps from this one forward to the other.
  package func distance(to other: SerialNumber) -> UInt32 { other.value &- value }

  package func advanced(by steps: UInt32) -> SerialNumber { SerialNumber(value &+ steps) }
}
