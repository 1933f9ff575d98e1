import PortableMedia
import Testing

@Suite("Times: making and converting")
struct TimeConstructionTests {
  @Test("Each special time is what it says and nothing else")
  func specialTimes() {
    #expect(!CMTime.invalid.isValid && !CMTime.invalid.isNumeric)
    #expect(CMTime.indefinite.isValid && CMTime.indefinite.isIndefinite && !CMTime.indefinite.isNumeric)
    #expect(CMTime.positiveInfinity.isPositiveInfinity && !CMTime.positiveInfinity.isNegativeInfinity)
    #expect(CMTime.negativeInfinity.isNegativeInfinity && !CMTime.negativeInfinity.isNumeric)
    #expect(CMTime.zero.isNumeric && CMTime.zero.value == 0 && CMTime.zero.timescale == 1)
    #expect(CMTime() == .invalid)
    #expect(CMTIME_IS_INVALID(kCMTimeInvalid) && CMTIME_IS_NUMERIC(kCMTimeZero))
    #expect(CMTIME_IS_INDEFINITE(kCMTimeIndefinite) && CMTIME_IS_POSITIVEINFINITY(kCMTimePositiveInfinity))
    #expect(CMTIME_IS_NEGATIVEINFINITY(kCMTimeNegativeInfinity) && CMTIME_IS_VALID(kCMTimeIndefinite))
  }

  @Test("A timescale of zero or less gives an invalid time", arguments: [0, -1, -600, Int32.min])
  func badTimescale(scale: Int32) {
    #expect(!CMTimeMake(value: 1, timescale: scale).isValid)
    #expect(!CMTimeMakeWithEpoch(value: 1, timescale: scale, epoch: 3).isValid)
    #expect(!CMTimeMakeWithSeconds(1, preferredTimescale: scale).isValid)
    #expect(!CMTimeConvertScale(CMTime(value: 1, timescale: 2), timescale: scale, method: .default).isValid)
    // Fields that contradict behave as an invalid time and trap nowhere.
    let forged = CMTime(value: 7, timescale: scale, flags: .valid, epoch: 0)
    #expect(forged.seconds.isNaN)
    #expect(forged == .invalid && forged.hashValue == CMTime.invalid.hashValue)
    #expect(!(forged + .zero).isValid && !CMTimeMultiply(forged, multiplier: 2).isValid)
    #expect(!CMTimeAbsoluteValue(forged).isValid && forged.description == "{INVALID}")
  }

  @Test(
    "Seconds are rounded to the nearest unit and marked unless exact",
    arguments: [
      (1.5, 600, 900, 600, false), (0, 600, 0, 600, false), (-1.5, 2, -3, 2, false),
      (0.1, 600, 60, 600, false), (1.0 / 3, 600, 200, 600, false), (0.1, 3, 0, 3, true),
      (2.5, 1, 3, 1, true), (-2.5, 1, -3, 1, true), (3.14159, 100, 314, 100, true),
    ] as [(Double, Int32, Int64, Int32, Bool)])
  func secondsToTime(seconds: Double, scale: Int32, value: Int64, newScale: Int32, rounded: Bool) {
    let time = CMTime(seconds: seconds, preferredTimescale: scale)
    #expect(time.value == value && time.timescale == newScale && time.epoch == 0)
    #expect(time.hasBeenRounded == rounded)
  }

  @Test("Seconds that leave 64 bits halve the timescale, then are infinite")
  func secondsOverflow() {
    let large = CMTimeMakeWithSeconds(1e12, preferredTimescale: 1_000_000_000)
    // 1e12 * 1e9 is above 2^63; a 128th of the scale is the first that fits.
    #expect(large.isNumeric && large.timescale == 1_000_000_000 / 128)
    #expect(large.seconds == 1e12 && !large.hasBeenRounded)
    #expect(CMTimeMakeWithSeconds(1e30, preferredTimescale: 600) == .positiveInfinity)
    #expect(CMTimeMakeWithSeconds(-1e30, preferredTimescale: 600) == .negativeInfinity)
    #expect(CMTimeMakeWithSeconds(.infinity, preferredTimescale: 600) == .positiveInfinity)
    #expect(CMTimeMakeWithSeconds(-.infinity, preferredTimescale: 1) == .negativeInfinity)
    #expect(!CMTimeMakeWithSeconds(.nan, preferredTimescale: 600).isValid)
  }

  @Test("Seconds of a time: quotient, infinity, or not a number")
  func timeToSeconds() {
    #expect(CMTimeGetSeconds(CMTime(value: 1001, timescale: 30000)) == 1001.0 / 30000)
    #expect(CMTimeMakeWithEpoch(value: 3, timescale: 2, epoch: 9).seconds == 1.5)
    #expect(CMTime.positiveInfinity.seconds == .infinity && CMTime.negativeInfinity.seconds == -.infinity)
    #expect(CMTime.invalid.seconds.isNaN && CMTime.indefinite.seconds.isNaN)
  }

  // Each row: numerator over 10, then the value over 1 by method: half away, toward zero, away, QuickTime, up, down.
  @Test(
    "Every rounding method, both signs, below, at and above a half",
    arguments: [
      (14, [1, 1, 2, 1, 2, 1]), (15, [2, 1, 2, 1, 2, 1]), (16, [2, 1, 2, 1, 2, 1]), (20, [2, 2, 2, 2, 2, 2]),
      (-14, [-1, -1, -2, -1, -1, -2]), (-15, [-2, -1, -2, -1, -1, -2]), (-16, [-2, -1, -2, -1, -1, -2]),
      (-20, [-2, -2, -2, -2, -2, -2]), (4, [0, 0, 1, 0, 1, 0]), (5, [1, 0, 1, 0, 1, 0]),
      // QuickTime's rule never turns a negative time into zero.
      (-4, [0, 0, -1, -1, 0, -1]), (-5, [-1, 0, -1, -1, 0, -1]), (0, [0, 0, 0, 0, 0, 0]),
    ] as [(Int64, [Int64])])
  func rounding(tenths: Int64, expected: [Int64]) {
    let methods: [CMTimeRoundingMethod] = [
      .roundHalfAwayFromZero, .roundTowardZero, .roundAwayFromZero, .quickTime, .roundTowardPositiveInfinity,
      .roundTowardNegativeInfinity,
    ]
    for (method, value) in zip(methods, expected) {
      let time = CMTimeConvertScale(CMTime(value: tenths, timescale: 10), timescale: 1, method: method)
      #expect(time.value == value, "\(tenths)/10 by \(method)")
      #expect(time.hasBeenRounded == (tenths % 10 != 0))
    }
  }

  @Test("QuickTime's rule rounds away from zero when going to a finer timescale")
  func quickTimeFiner() {
    let third = CMTime(value: 1, timescale: 3)
    #expect(third.convertScale(10, method: .quickTime).value == 4)
    #expect(third.convertScale(2, method: .quickTime).value == 0)
    #expect(CMTime(value: -1, timescale: 3).convertScale(10, method: .quickTime).value == -4)
  }

  @Test("Conversion keeps epoch and rounding mark; times that aren't numbers stay; what leaves 64 bits is infinite")
  func conversionEdges() {
    let odd = CMTimeMakeWithEpoch(value: 1, timescale: 3, epoch: 4).convertScale(2, method: .default)
    #expect(odd.epoch == 4 && odd.hasBeenRounded)
    #expect(odd.convertScale(4, method: .default).hasBeenRounded)
    for time in [CMTime.indefinite, .positiveInfinity, .negativeInfinity, .invalid] {
      #expect(time.convertScale(600, method: .default) == time)
    }
    #expect(CMTime(value: .max, timescale: 1).convertScale(2, method: .default) == .positiveInfinity)
    #expect(CMTime(value: .min, timescale: 1).convertScale(2, method: .default) == .negativeInfinity)
    #expect(CMTime(value: .min, timescale: 2).convertScale(1, method: .default).value == .min / 2)
  }

  @Test(
    "A time's text shows fraction, seconds, rounding and epoch",
    arguments: [
      (CMTime(value: 900, timescale: 600), "{900/600 = 1.500}"), (CMTime(value: -1, timescale: 3), "{-1/3 = -0.333}"),
      (CMTime(value: 2, timescale: 3), "{2/3 = 0.667}"), (CMTime(value: 1999, timescale: 2000), "{1999/2000 = 1.000}"),
      (CMTime(value: -1, timescale: 100_000), "{-1/100000 = 0.000}"),
      (CMTime(seconds: 0.1, preferredTimescale: 3), "{0/3 = 0.000, rounded}"),
      (CMTimeMakeWithEpoch(value: 1, timescale: 1, epoch: 2), "{1/1 = 1.000, epoch = 2}"),
      (CMTime(value: .min, timescale: 1), "{-9223372036854775808/1 = -9223372036854775808.000}"),
      (.invalid, "{INVALID}"), (.indefinite, "{INDEFINITE}"), (.positiveInfinity, "{+INFINITY}"),
      (.negativeInfinity, "{-INFINITY}"),
    ])
  func text(time: CMTime, text: String) {
    #expect(time.description == text)
    #expect(CMTimeCopyDescription(allocator: kCFAllocatorDefault, time: time) == text)
  }
}
