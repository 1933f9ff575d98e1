import Units

/// Rates of the last second, in bounded memory.
package struct RateMeter: Sendable {
  private static let window: Duration = .seconds(1)
  /// More than four times the pictures a second of the fastest stream; beyond, the window is that many units long.
  private static let capacity = 128

  private var times: [Instant] = []
  private var amounts: [Int] = []
  private var next = 0

  package init() {}

  package mutating func record(bytes: Int, at time: Instant) {
    if times.count < Self.capacity {
      times.append(time)
      amounts.append(bytes)
    } else {
      times[next] = time
      amounts[next] = bytes
    }
    next = (next + 1) % Self.capacity
  }

  /// Units and bits a second over the second that ends at `now`.
  package func rates(at now: Instant) -> (unitsPerSecond: Double, bitrate: Bitrate) {
    let start = now - Self.window
    var units = 0
    var bytes: Int64 = 0
    for index in times.indices where times[index] > start && times[index] <= now {
      units += 1
      bytes = bytes.addingSaturating(Int64(amounts[index]))
    }
    return (Double(units), .bitsPerSecond(bytes.multipliedSaturating(by: 8)))
  }
}
