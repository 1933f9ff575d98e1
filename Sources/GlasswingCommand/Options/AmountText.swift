import Units

/// Amounts as people type them, and back.
enum AmountText {
  /// `4`, `4s`, `1.5s`, `500ms`, `2m`, `1h`; a bare number is seconds. nil for anything else, also for negative ones.
  static func duration(_ text: String) -> Duration? {
    guard let (number, suffix) = split(text) else { return nil }
    let seconds: Double
    switch suffix {
    case "", "s": seconds = number
    case "ms": seconds = number / 1000
    case "m", "min": seconds = number * 60
    case "h": seconds = number * 3600
    case _: return nil
    }
    // A year: more than anyone records, and far from where nanoseconds overflow.
    guard seconds <= 366 * 86_400 else { return nil }
    return .nanoseconds(Int64((seconds * 1e9).rounded()))
  }

  /// `800k`, `2M`, `2.5M`: bits a second, in powers of ten. nil for anything else.
  static func bitrate(_ text: String) -> Bitrate? {
    guard let (number, suffix) = split(text) else { return nil }
    let bits: Double
    switch suffix {
    case "": bits = number
    case "k": bits = number * 1e3
    case "M": bits = number * 1e6
    case "G": bits = number * 1e9
    case _: return nil
    }
    guard bits <= 1e12 else { return nil }
    return .bitsPerSecond(Int64(bits.rounded()))
  }

  /// As it would be typed: `2M`, `800k`.
  static func words(_ bitrate: Bitrate) -> String {
    let bits = bitrate.bitsPerSecond
    if bits % 1_000_000 == 0 { return "\(bits / 1_000_000)M" }
    return bits % 1000 == 0 ? "\(bits / 1000)k" : "\(bits)"
  }

  /// The shortest way to type a length of time.
  static func words(_ duration: Duration) -> String {
    let milliseconds = duration.nanoseconds / 1_000_000
    return milliseconds % 1000 == 0 ? "\(milliseconds / 1000)s" : "\(milliseconds)ms"
  }

  /// A plain decimal number and what follows it. Not `Double`'s own grammar, which takes `nan`, `0x1p3` and `1e99`.
  private static func split(_ text: String) -> (Double, String)? {
    let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
    guard digits.contains(where: \.isNumber), let number = Double(digits), number.isFinite else { return nil }
    return (number, String(text.dropFirst(digits.count)))
  }
}
