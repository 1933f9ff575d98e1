import PortableMedia
import Testing

private func time(_ value: Int64, _ scale: Int32, epoch: Int64 = 0) -> CMTime {
  CMTimeMakeWithEpoch(value: value, timescale: scale, epoch: epoch)
}

/// Field by field: `==` compares points in time, and here the fields matter.
private func fields(_ time: CMTime) -> [Int64] {
  [time.value, Int64(time.timescale), Int64(time.flags.rawValue), time.epoch]
}

@Suite("Times: arithmetic and order")
struct TimeArithmeticTests {
  @Test("A sum has the operands' least common timescale")
  func sumScale() {
    #expect(fields(time(1, 2) + time(1, 3)) == [5, 6, 1, 0])
    #expect(fields(time(1, 600) + time(1, 600)) == [2, 600, 1, 0])
    #expect(fields(time(1, 4) - time(1, 6)) == [1, 12, 1, 0])
    #expect(fields(CMTimeSubtract(time(1, 3), time(1, 2))) == [-1, 6, 1, 0])
  }

  @Test("A common timescale beyond 31 bits becomes the largest, and the sum is marked as rounded if it isn't exact")
  func sumLargeScale() {
    let sum = time(1, 1_000_000_007) + time(1, 998_244_353)
    #expect(sum.timescale == kCMTimeMaxTimescale && sum.hasBeenRounded)
    #expect(abs(sum.seconds - (1.0 / 1_000_000_007 + 1.0 / 998_244_353)) < 1e-9)
    // Zero of any scale is exact in every scale.
    #expect(!(time(0, 1_000_000_007) + time(0, 998_244_353)).hasBeenRounded)
  }

  @Test("A sum that leaves 64 bits takes a coarser timescale, then becomes infinite")
  func sumOverflow() {
    let halved = time(.max, 600) + time(.max, 600)
    #expect(fields(halved) == [.max, 300, 1, 0])
    let rounded = time(.max, 600) + time(.max - 1, 600)
    #expect(rounded.timescale == 300 && rounded.hasBeenRounded)
    #expect(time(.max, 1) + time(1, 1) == .positiveInfinity)
    #expect(time(.min, 1) - time(1, 1) == .negativeInfinity)
    #expect(time(.min, 1) + time(.min, 1) == .negativeInfinity)
    #expect(time(.max, 1) - time(.min, 1) == .positiveInfinity)
    #expect(fields(time(.min, 1) + time(.max, 1)) == [-1, 1, 1, 0])
    #expect(fields(time(.min, 1) - time(.min, 1)) == [0, 1, 1, 0])
  }

  @Test("A rounded operand makes the sum rounded")
  func roundingSpreads() {
    let rough = CMTime(seconds: 0.1, preferredTimescale: 3)
    #expect((rough + time(1, 3)).hasBeenRounded && (time(1, 3) - rough).hasBeenRounded)
    #expect(CMTimeMultiply(rough, multiplier: 2).hasBeenRounded)
    #expect(CMTimeMultiplyByRatio(rough, multiplier: 1, divisor: 2).hasBeenRounded)
    #expect(CMTimeMultiplyByFloat64(rough, multiplier: 0.5).hasBeenRounded)
  }

  @Test("Sums of times that aren't numbers")
  func specialSums() {
    let (plus, minus, unknown, bad, one) = (
      CMTime.positiveInfinity, CMTime.negativeInfinity, CMTime.indefinite, CMTime.invalid, time(1, 1)
    )
    #expect(plus + one == plus && one + minus == minus && one - plus == minus && one - minus == plus)
    #expect(plus + plus == plus && minus + minus == minus && plus - minus == plus && minus - plus == minus)
    #expect(plus + minus == unknown && minus + plus == unknown && plus - plus == unknown && minus - minus == unknown)
    #expect(unknown + one == unknown && one - unknown == unknown && unknown + plus == unknown)
    for time in [plus, minus, unknown, bad, one] { #expect(bad + time == bad && time - bad == bad) }
  }

  @Test("Epochs: durations join any, different ones don't mix, a difference within one is a duration")
  func epochs() {
    #expect(fields(time(1, 1, epoch: 2) + time(1, 1)) == [2, 1, 1, 2])
    #expect(fields(time(1, 1) + time(1, 1, epoch: 2)) == [2, 1, 1, 2])
    #expect(fields(time(1, 1, epoch: 2) + time(1, 1, epoch: 2)) == [2, 1, 1, 2])
    #expect(fields(time(3, 1, epoch: 2) - time(1, 1, epoch: 2)) == [2, 1, 1, 0])
    #expect(fields(time(3, 1, epoch: 2) - time(1, 1)) == [2, 1, 1, 2])
    #expect(!(time(1, 1, epoch: 1) + time(1, 1, epoch: 2)).isValid)
    #expect(!(time(1, 1, epoch: 1) - time(1, 1, epoch: 2)).isValid)
    #expect(time(9, 1, epoch: 1) < time(1, 1, epoch: 2))
    #expect(time(1, 1, epoch: 1) != time(1, 1, epoch: 2))
  }

  @Test("Multiples keep the timescale while they fit, then take coarser ones, then are infinite")
  func multiples() {
    #expect(fields(CMTimeMultiply(time(7, 600), multiplier: -3)) == [-21, 600, 1, 0])
    #expect(fields(CMTimeMultiply(time(.max, 600), multiplier: 2)) == [.max, 300, 1, 0])
    #expect(CMTimeMultiply(time(.max, 1), multiplier: 2) == .positiveInfinity)
    #expect(CMTimeMultiply(time(.min, 1), multiplier: -1) == .positiveInfinity)
    #expect(CMTimeMultiply(.positiveInfinity, multiplier: -2) == .negativeInfinity)
    #expect(CMTimeMultiply(.negativeInfinity, multiplier: 5) == .negativeInfinity)
    #expect(CMTimeMultiply(.positiveInfinity, multiplier: 0) == .indefinite)
    #expect(CMTimeMultiply(.indefinite, multiplier: 3) == .indefinite)
    #expect(!CMTimeMultiply(.invalid, multiplier: 3).isValid)
  }

  @Test("Ratios are exact wherever some timescale can hold them")
  func ratios() {
    #expect(fields(CMTimeMultiplyByRatio(time(600, 600), multiplier: 1, divisor: 4)) == [150, 600, 1, 0])
    #expect(fields(CMTimeMultiplyByRatio(time(1, 600), multiplier: 1, divisor: 7)) == [1, 4200, 1, 0])
    #expect(fields(CMTimeMultiplyByRatio(time(10, 600), multiplier: -2, divisor: 5)) == [-4, 600, 1, 0])
    #expect(fields(CMTimeMultiplyByRatio(time(10, 600), multiplier: 2, divisor: -5)) == [-4, 600, 1, 0])
    let smallest = CMTimeMultiplyByRatio(time(1, 1), multiplier: .min, divisor: .min)
    #expect(fields(smallest) == [1, 1, 1, 0])
    #expect(!CMTimeMultiplyByRatio(time(1, 1), multiplier: 1, divisor: 0).isValid)
    #expect(CMTimeMultiplyByRatio(time(.max, 1), multiplier: 2, divisor: 1) == .positiveInfinity)
    #expect(CMTimeMultiplyByRatio(.positiveInfinity, multiplier: 1, divisor: -2) == .negativeInfinity)
    // No 31-bit scale holds 1/(2^31-1)/2: the nearest there is, and marked.
    let tiny = CMTimeMultiplyByRatio(time(1, kCMTimeMaxTimescale), multiplier: 1, divisor: 2)
    #expect(tiny.hasBeenRounded && tiny.value == 1)
  }

  @Test("Multiplying by a floating-point number is exact where it can be")
  func floats() {
    #expect(fields(CMTimeMultiplyByFloat64(time(900, 600), multiplier: 0.5)) == [450, 600, 1, 0])
    #expect(fields(CMTimeMultiplyByFloat64(time(1, 600), multiplier: 0.25)) == [1, 2400, 1, 0])
    #expect(fields(CMTimeMultiplyByFloat64(time(3, 1), multiplier: -4)) == [-12, 1, 1, 0])
    #expect(fields(CMTimeMultiplyByFloat64(time(3, 5), multiplier: 0)) == [0, 5, 1, 0])
    let tenth = CMTimeMultiplyByFloat64(time(600, 600), multiplier: 0.1)
    #expect(tenth.hasBeenRounded && abs(tenth.seconds - 0.1) < 1e-9)
    #expect(tenth.timescale % 600 == 0)
    #expect(fields(CMTimeMultiplyByFloat64(time(1, 1), multiplier: 0x1p62)) == [1 << 62, 1, 1, 0])
    #expect(CMTimeMultiplyByFloat64(time(1, 1), multiplier: 0x1p63) == .positiveInfinity)
    #expect(CMTimeMultiplyByFloat64(time(1, 1), multiplier: -0x1p63) == time(.min, 1))
    #expect(fields(CMTimeMultiplyByFloat64(time(1, 1000), multiplier: 0x1p63))[1] < 1000)
  }

  @Test(
    "Extreme multipliers neither trap nor lie",
    arguments: [
      Double.greatestFiniteMagnitude, .leastNonzeroMagnitude, .leastNormalMagnitude, .infinity, .ulpOfOne, 1e300,
      1e-300,
      0x1.fffffffffffffp31, 0x1.fffffffffffffp-31, 0x1.fffffffffffffp-96,
    ])
  func extremeFloats(multiplier: Double) {
    for value in [1, -1, 3, 12_345_678_901, Int64.max, .min, .max - 1] {
      for scale in [1, 3, 600, 1_000_000_000, Int32.max] {
        for sign in [1.0, -1.0] {
          let product = CMTimeMultiplyByFloat64(time(value, scale), multiplier: multiplier * sign)
          let expected = Double(value) / Double(scale) * multiplier * sign
          if abs(expected) >= 0x1p63 * 1.000001 {
            #expect(product == (expected < 0 ? .negativeInfinity : .positiveInfinity))
          } else if abs(expected) < 0x1p62 {
            #expect(abs(product.seconds - expected) <= max(abs(expected) * 1e-9, 1e-9))
          }
        }
      }
    }
    #expect(!CMTimeMultiplyByFloat64(time(1, 1), multiplier: .nan).isValid)
  }

  @Test("All times have one order, and equal ones hash alike")
  func order() {
    let ordered = [
      .negativeInfinity, time(.min, 1), time(-1, 2), time(0, 7), time(1, 1000), time(1, 3), time(.max, 1),
      time(-5, 1, epoch: 1), .indefinite, .positiveInfinity, .invalid,
    ]
    for (i, a) in ordered.enumerated() {
      for (j, b) in ordered.enumerated() {
        #expect(CMTimeCompare(a, b) == (i < j ? -1 : i == j ? 0 : 1), "\(a) and \(b)")
        #expect((a < b) == (i < j) && (a == b) == (i == j))
      }
    }
    #expect(time(1, 2) == time(2, 4) && time(1, 2).hashValue == time(2, 4).hashValue)
    #expect(time(0, 2) == time(0, 600) && time(0, 2).hashValue == time(0, 600).hashValue)
    #expect(Set([time(1, 2), time(2, 4), time(300, 600), time(-1, 2)]).count == 2)
    #expect(CMTimeMinimum(time(1, 2), time(1, 3)) == time(1, 3))
    #expect(CMTimeMaximum(time(1, 2), .positiveInfinity) == .positiveInfinity)
  }

  @Test("The absolute value of the smallest number doesn't trap")
  func absolute() {
    #expect(fields(CMTimeAbsoluteValue(time(-3, 7))) == [3, 7, 1, 0])
    #expect(CMTimeAbsoluteValue(.negativeInfinity) == .positiveInfinity)
    #expect(CMTimeAbsoluteValue(.indefinite) == .indefinite)
    #expect(CMTimeAbsoluteValue(time(.min, 2)) == time(1 << 62, 1))
    #expect(CMTimeAbsoluteValue(time(.min, 1)) == .positiveInfinity)
  }
}
