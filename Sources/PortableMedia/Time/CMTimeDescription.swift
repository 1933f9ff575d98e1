extension CMTime: CustomStringConvertible, CustomDebugStringConvertible {
  /// As ``CMTimeShow(_:)`` writes it: `{900/600 = 1.500}`, with `rounded` and the epoch where they apply.
  public var description: String {
    switch kind {
    case .invalid: return "{INVALID}"
    case .indefinite: return "{INDEFINITE}"
    case .positiveInfinity: return "{+INFINITY}"
    case .negativeInfinity: return "{-INFINITY}"
    case .number:
      var text = "{\(value)/\(timescale) = \(thousandths)"
      if hasBeenRounded { text += ", rounded" }
      if epoch != 0 { text += ", epoch = \(epoch)" }
      return text + "}"
    }
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// A number's seconds with three decimals.
  private var thousandths: String {
    let doubled = (Int128(value.magnitude) * 2000 + Int128(timescale)) / (Int128(timescale) * 2)
    let (seconds, rest) = doubled.quotientAndRemainder(dividingBy: 1000)
    let decimals = String(rest)
    let sign = value < 0 && doubled != 0 ? "-" : ""
    return "\(sign)\(seconds)." + String(repeating: "0", count: 3 - decimals.count) + decimals
  }
}

/// The text of a time.
public func CMTimeCopyDescription(allocator: CFAllocator?, time: CMTime) -> CFString? { time.description }

/// Writes a time and a line end to standard error, for debugging.
public func CMTimeShow(_ time: CMTime) { writeToStandardError(time.description + "\n") }
