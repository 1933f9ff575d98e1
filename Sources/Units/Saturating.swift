extension FixedWidthInteger {
  /// Sum, held at the type's bounds where it would overflow.
  package func addingSaturating(_ other: Self) -> Self {
    let (sum, overflow) = addingReportingOverflow(other)
    guard overflow else { return sum }
    return other < 0 ? .min : .max
  }

  /// Difference, held at the type's bounds where it would overflow.
  package func subtractingSaturating(_ other: Self) -> Self {
    let (difference, overflow) = subtractingReportingOverflow(other)
    guard overflow else { return difference }
    return other < 0 ? .max : .min
  }

  /// Product, held at the type's bounds where it would overflow.
  package func multipliedSaturating(by other: Self) -> Self {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    guard overflow else { return product }
    return (self < 0) == (other < 0) ? .max : .min
  }
}

extension Int64 {
  /// The value without its fraction, held at the type's bounds; 0 for what is not a number.
  package init(saturating value: Double) {
    // Int64.max is not a Double; the next one up is 2^63, which is already out of range.
    if value.isNaN {
      self = 0
    } else if value >= 0x1p63 {
      self = .max
    } else if value <= -0x1p63 {
      self = .min
    } else {
      self = Int64(value)
    }
  }
}
