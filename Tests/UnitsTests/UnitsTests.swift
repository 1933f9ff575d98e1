import Testing
import Units

@Suite("Saturating arithmetic")
struct SaturatingTests {
  @Test("holds at the bounds and is plain elsewhere")
  func bounds() {
    #expect(Int64.max.addingSaturating(1) == .max)
    #expect(Int64.min.addingSaturating(-1) == .min)
    #expect(Int64.min.subtractingSaturating(1) == .min)
    #expect(Int64.max.subtractingSaturating(-1) == .max)
    #expect(Int64.max.multipliedSaturating(by: 2) == .max)
    #expect(Int64.max.multipliedSaturating(by: -2) == .min)
    #expect(Int64.min.multipliedSaturating(by: -1) == .max)
    #expect(UInt8(200).addingSaturating(100) == 255)
    #expect(UInt8(3).subtractingSaturating(5) == 0)
    #expect(3.addingSaturating(4) == 7)
    #expect((-3).multipliedSaturating(by: 4) == -12)
  }

  @Test("takes any floating-point number")
  func fromDouble() {
    #expect(Int64(saturating: .nan) == 0)
    #expect(Int64(saturating: .infinity) == .max)
    #expect(Int64(saturating: -.infinity) == .min)
    #expect(Int64(saturating: 0x1p63) == .max)
    #expect(Int64(saturating: -0x1p63) == .min)
    #expect(Int64(saturating: -1.9) == -1)
    #expect(Int64(saturating: 0x1p62) == 1 << 62)
  }
}

@Suite("Instants")
struct InstantTests {
  @Test("add, subtract and compare, and saturate at both ends")
  func arithmetic() {
    let instant = Instant(nanoseconds: 1_000)
    #expect(instant + .microseconds(1) == Instant(nanoseconds: 2_000))
    #expect(instant - .microseconds(1) == Instant(nanoseconds: 0))
    #expect(instant - Instant(nanoseconds: 400) == .nanoseconds(600))
    #expect(Instant.distantFuture + .seconds(1) == .distantFuture)
    #expect(Instant.distantPast - .seconds(1) == .distantPast)
    #expect(Instant.distantFuture - Instant.distantPast == .nanoseconds(Int64.max))
    #expect(Instant.distantPast < instant && instant < .distantFuture)
    let device = DeviceTime(nanoseconds: .max)
    #expect(device + .seconds(1) == device)
    #expect(device - DeviceTime(nanoseconds: -1) == .nanoseconds(Int64.max))
  }

  @Test("durations convert to nanoseconds and fractions, saturating")
  func durations() {
    #expect(Duration.milliseconds(1500).nanoseconds == 1_500_000_000)
    #expect(Duration.nanoseconds(-1).nanoseconds == -1)
    #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    #expect(Duration.seconds(Int64.min).nanoseconds == .min)
    #expect(Duration.milliseconds(1500).seconds == 1.5)
    #expect(Duration.microseconds(1500).milliseconds == 1.5)
  }
}

@Suite("Amounts")
struct AmountTests {
  @Test("carry their unit and saturate")
  func amounts() {
    #expect(Bitrate.kilobitsPerSecond(1500) == .bitsPerSecond(1_500_000))
    #expect(Bitrate.kilobitsPerSecond(.max).bitsPerSecond == .max)
    #expect(Bitrate.bitsPerSecond(2_500).kilobitsPerSecond == 2.5)
    #expect(Bitrate.bitsPerSecond(1) < .bitsPerSecond(2))
    #expect(ByteCount.kibibytes(4) == .bytes(4096))
    #expect(ByteCount.mebibytes(1) == .kibibytes(1024))
    #expect(ByteCount.mebibytes(.max).bytes == .max)
    #expect(ByteCount.bytes(1) < .bytes(2))
  }
}

@Suite("First-in-first-out queue")
struct FIFOTests {
  @Test("gives out in order through any mix of ends")
  func order() {
    var queue = FIFO<Int>()
    var model: [Int] = []
    var state: UInt32 = 1
    for value in 0..<5000 {
      state = state &* 1_664_525 &+ 1_013_904_223
      if state >> 30 != 0 || model.isEmpty {
        queue.append(value)
        model.append(value)
      } else {
        for _ in 0..<min(model.count, Int(state >> 24 & 7)) {
          let taken = queue.popFirst()
          #expect(taken == model.removeFirst())
        }
      }
      #expect(queue.count == model.count)
      #expect(queue.first == model.first)
    }
    #expect(queue.waiting == model)
    queue.replaceAll(with: [7, 8])
    #expect(queue.waiting == [7, 8])
    queue.removeAll()
    #expect(queue.isEmpty)
    let none = queue.popFirst()
    #expect(none == nil)
  }
}
