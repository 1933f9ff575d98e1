import LinkProtocol
import MWDATCamera
import Testing
import Units

@Suite("Parts of the frame pipeline")
struct PipelinePartsTests {
  // MARK: Access units

  @Test("An access unit is parameter sets, then a picture")
  func layout() throws {
    let unit = CodedPictures.unit(0, of: StreamID(1), captured: DeviceTime(nanoseconds: 0))
    let layout = try #require(AccessUnitLayout(unit.payload))
    #expect(layout.parameterSets.map { Array(unit.payload[$0]) } == CodedPictures.parameterSets)
    #expect(Array(unit.payload[layout.pictureStart...]) == CodedPictures.prefixed(CodedPictures.slices[0]))
    let second = CodedPictures.unit(1, of: StreamID(1), captured: DeviceTime(nanoseconds: 0))
    #expect(AccessUnitLayout(second.payload)?.pictureStart == 0)
    // A delimiter is no picture.
    let delimited = CodedPictures.prefixed([0x46, 0x01, 0x50]) + unit.payload
    #expect(AccessUnitLayout(delimited)?.parameterSets.count == 3)
    #expect(layout.isRandomAccess)
    #expect(AccessUnitLayout(second.payload)?.isRandomAccess == false)
    // Nor is a message (SEI), before or behind which the slices say what the unit is.
    let message = CodedPictures.prefixed([0x4E, 0x01, 0x80])
    #expect(AccessUnitLayout(message) == nil)
    let told = try #require(AccessUnitLayout(message + second.payload))
    #expect(told.pictureStart == 0 && !told.isRandomAccess)
  }

  @Test("An access unit that is cut off anywhere, or whose lengths lie, is none")
  func malformedLayout() {
    let unit = CodedPictures.unit(0, of: StreamID(1), captured: DeviceTime(nanoseconds: 0)).payload
    for length in 0..<unit.count { #expect(AccessUnitLayout(Array(unit[..<length])) == nil, "\(length) bytes") }
    #expect(AccessUnitLayout(unit + [0]) == nil)
    #expect(AccessUnitLayout(CodedPictures.parameterSets.flatMap(CodedPictures.prefixed)) == nil)
    #expect(AccessUnitLayout([0xFF, 0xFF, 0xFF, 0xFF, 0x28, 0x01]) == nil)
    #expect(AccessUnitLayout([0, 0, 0, 1, 0x28]) == nil)
    for index in unit.indices {
      for bit in 0..<8 {
        var flipped = unit
        flipped[index] ^= 1 << bit
        _ = AccessUnitLayout(flipped)
      }
    }
  }

  // MARK: The decoder's queue

  private func received(
    _ number: UInt32, isSync: Bool, at milliseconds: Int64, bytes: [UInt8] = []
  ) -> ReceivedUnit {
    let time = Instant(nanoseconds: milliseconds * 1_000_000)
    return ReceivedUnit(
      unit: AccessUnit(
        stream: StreamID(1), flags: isSync ? [.sync, .parameterSets] : [], codec: .hevc, size: CodedPictures.size,
        captured: DeviceTime(nanoseconds: 0), payload: bytes),
      sequence: number, presentation: time, arrived: time, lostBefore: 0)
  }

  private func offer(_ queue: inout DecodeQueue, _ number: UInt32, sync: Bool = false, at time: Int64)
    -> DecodeQueue.Offered
  {
    queue.offer(received(number, isSync: sync, at: time), isDiscontinuity: false)
  }

  private func drain(_ queue: inout DecodeQueue) -> [DecodeQueue.Entry] {
    var entries: [DecodeQueue.Entry] = []
    while let (entry, _) = queue.next() { entries.append(entry) }
    return entries
  }

  private let queued = DecodeQueue.Offered.queued(endsWait: nil)

  @Test("A decoder begins with a sync unit; where the wait for one begins it is asked for")
  func begins() {
    var queue = DecodeQueue()
    #expect(offer(&queue, 1, at: 0) == .withheld(asks: true))
    #expect(offer(&queue, 2, at: 40) == .withheld(asks: false))
    #expect(offer(&queue, 3, at: 200) == .withheld(asks: false))
    #expect(offer(&queue, 4, sync: true, at: 240) == .queued(endsWait: 3))
    #expect(offer(&queue, 5, at: 280) == queued)
    #expect(drain(&queue).map(\.unit.sequence) == [4, 5])
  }

  @Test("Older than 500 ms: all before the newest sync unit goes, and that is marked (PERF-2)")
  func dropsToSync() {
    var queue = DecodeQueue()
    #expect(offer(&queue, 0, sync: true, at: 0) == queued)
    #expect(offer(&queue, 1, at: 100) == queued)
    #expect(offer(&queue, 2, sync: true, at: 200) == queued)
    #expect(offer(&queue, 3, at: 500) == queued)
    #expect(offer(&queue, 4, at: 501) == .ranOver(.init(units: 2, asks: false)))
    let rest = drain(&queue)
    #expect(rest.map(\.unit.sequence) == [2, 3, 4])
    #expect(rest.map(\.isDiscontinuity) == [true, false, false])
  }

  @Test("With no sync unit to go to, all goes and the next one is asked for; nothing between passes (LOSS-1)")
  func dropsAll() {
    var queue = DecodeQueue()
    #expect(offer(&queue, 0, sync: true, at: 0) == queued)
    for number in 1..<UInt32(DecodeQueue.countLimit) { #expect(offer(&queue, number, at: 1) == queued) }
    #expect(offer(&queue, 50, at: 2) == .ranOver(.init(units: DecodeQueue.countLimit + 1, asks: true)))
    #expect(queue.count == 0)
    #expect(offer(&queue, 51, at: 3) == .withheld(asks: false))
    #expect(offer(&queue, 52, sync: true, at: 4) == .queued(endsWait: 1))
    #expect(drain(&queue).map(\.isDiscontinuity) == [true])
  }

  @Test(
    "After a unit that the decoder refuses it goes on with the next sync unit, also when that waits already (LOSS-1)")
  func refusal() {
    var queue = DecodeQueue()
    #expect(offer(&queue, 0, sync: true, at: 0) == queued)
    #expect(offer(&queue, 1, at: 1) == queued)
    #expect(offer(&queue, 2, sync: true, at: 2) == queued)
    #expect(offer(&queue, 3, at: 3) == queued)
    _ = queue.next()
    _ = queue.next()
    // The sync unit is the next in the queue.
    #expect(queue.decoderFailed() == .init(units: 0, asks: false))
    #expect(queue.next()?.entry.isDiscontinuity == true)
    #expect(queue.next()?.entry.unit.sequence == 3)
    #expect(queue.decoderFailed() == .init(units: 0, asks: true))
    #expect(queue.decoderFailed() == .init(units: 0, asks: false))
    #expect(offer(&queue, 4, at: 4) == .withheld(asks: false))
  }

  // MARK: Catching up

  /// Units of one group, a second apart, as somebody kept them.
  private func group(_ numbers: Range<UInt32>) -> [ReceivedUnit] {
    numbers.map { received($0, isSync: $0 == numbers.lowerBound, at: Int64($0) * 1000) }
  }

  /// Takes the next one, and says whether another is to be taken.
  private func take(_ queue: inout DecodeQueue) -> (number: UInt32, isShown: Bool, goesOn: Bool)? {
    queue.next().map { ($0.entry.unit.sequence, $0.entry.isShown, $0.isCatchingUp) }
  }

  @Test(
    "A decoder that begins late is given what its first unit depends on, however old, and shows none of it (LOSS-5)")
  func catchesUp() throws {
    var queue = DecodeQueue()
    let first = queue.offer(received(3, isSync: false, at: 3000), isDiscontinuity: false) { group(0..<3) }
    #expect(first == queued)
    #expect(offer(&queue, 4, at: 3500) == queued)
    #expect(offer(&queue, 5, at: 4000) == queued)
    let taken = try (0..<6).map { _ in try #require(take(&queue)) }
    #expect(taken.map(\.number) == [0, 1, 2, 3, 4, 5])
    #expect(taken.map(\.isShown) == [false, false, false, true, true, true])
    // The last that is more than half a second behind is the one before the one before the last.
    #expect(taken.map(\.goesOn) == [true, true, true, true, false, false])
    #expect(queue.next() == nil && !queue.isCatchingUp)
    // Then it is a queue as any other, and asks nobody again.
    let next = queue.offer(received(6, isSync: false, at: 5000), isDiscontinuity: false) { group(0..<6) }
    #expect(next == queued && queue.count == 1)
  }

  @Test("A sync unit makes the rest needless by which a decoder catches up, until a picture was seen (LOSS-5)")
  func catchesUpBySync() {
    var queue = DecodeQueue()
    _ = queue.offer(received(3, isSync: false, at: 3000), isDiscontinuity: false) { group(0..<3) }
    _ = take(&queue)
    #expect(offer(&queue, 4, sync: true, at: 3100) == .caughtUp(skipped: 1))
    #expect(drain(&queue).map(\.unit.sequence) == [4])

    var seen = DecodeQueue()
    _ = seen.offer(received(3, isSync: false, at: 3000), isDiscontinuity: false) { group(0..<3) }
    for _ in 0..<4 { _ = take(&seen) }
    #expect(offer(&seen, 4, at: 3100) == queued)
    #expect(offer(&seen, 5, sync: true, at: 3200) == queued)
    #expect(drain(&seen).map(\.unit.sequence) == [4, 5])
  }

  @Test("A decoder no faster than the source goes to a sync unit once what waits is over 500 ms old (PERF-2)")
  func catchesUpTooSlowly() {
    var queue = DecodeQueue()
    _ = queue.offer(received(3, isSync: false, at: 3000), isDiscontinuity: false) { group(0..<3) }
    #expect(offer(&queue, 4, at: 3100) == queued && offer(&queue, 5, at: 4000) == queued)
    // Pictures of up to 3 are seen, and 4 is 900 ms behind.
    for _ in 0..<4 { _ = take(&queue) }
    #expect(queue.isCatchingUp)
    #expect(offer(&queue, 6, at: 4100) == queued)
    #expect(offer(&queue, 7, sync: true, at: 4200) == .ranOver(.init(units: 3, asks: false)))
    #expect(!queue.isCatchingUp)
    let left = drain(&queue)
    #expect(left.map(\.unit.sequence) == [7] && left.map(\.isDiscontinuity) == [true])
  }

  @Test("What waits has a bound of bytes, also while a decoder catches up; one unit alone is taken (PERF-2)")
  func byteLimit() {
    let half = [UInt8](repeating: 0, count: DecodeQueue.byteLimit / 2)
    for isLate in [true, false] {
      var queue = DecodeQueue()
      let kept = [received(0, isSync: true, at: 0, bytes: half)]
      if isLate {
        _ = queue.offer(received(1, isSync: false, at: 10, bytes: half), isDiscontinuity: false) { kept }
      } else {
        for unit in kept { _ = queue.offer(unit, isDiscontinuity: false) }
        _ = queue.offer(received(1, isSync: false, at: 10, bytes: half), isDiscontinuity: false)
      }
      // What was taken no longer counts.
      _ = take(&queue)
      #expect(queue.offer(received(2, isSync: false, at: 20, bytes: half), isDiscontinuity: false) == queued)
      let over = queue.offer(received(3, isSync: false, at: 30, bytes: [0]), isDiscontinuity: false)
      #expect(over == .ranOver(.init(units: 3, asks: true)) && queue.count == 0)
      let huge = received(9, isSync: true, at: 40, bytes: half + half + [0])
      #expect(queue.offer(huge, isDiscontinuity: false) == .queued(endsWait: 0))
    }
  }

  @Test("A decoder that can't catch up gives up at the limit; with nothing kept it waits for a sync unit (PERF-2)")
  func cannotCatchUp() {
    var queue = DecodeQueue()
    let first = UInt32(RecentUnits.countLimit)
    _ = queue.offer(received(first, isSync: false, at: 0), isDiscontinuity: false) { group(0..<first) }
    for number in first + 1..<UInt32(DecodeQueue.catchUpLimit) { #expect(offer(&queue, number, at: 1) == queued) }
    let last = offer(&queue, UInt32(DecodeQueue.catchUpLimit), at: 2)
    // Those of before nobody would have seen.
    let seen = DecodeQueue.catchUpLimit + 1 - RecentUnits.countLimit
    #expect(last == .ranOver(.init(units: seen, asks: true)))
    #expect(queue.count == 0 && !queue.isCatchingUp)

    var without = DecodeQueue()
    let withheld = without.offer(received(9, isSync: false, at: 0), isDiscontinuity: false) { [] }
    #expect(withheld == .withheld(asks: true))
  }

  @Test("What passed since the last sync unit is kept, up to a bound of units and of bytes (PERF-2)")
  func recentUnits() {
    let recent = RecentUnits()
    func numbers(before milliseconds: Int64) -> [UInt32] {
      recent.units(before: Instant(nanoseconds: milliseconds * 1_000_000)).map(\.sequence)
    }
    recent.passed(received(0, isSync: false, at: 0))
    #expect(numbers(before: 1000) == [])
    for number in 1...4 as ClosedRange<UInt32> {
      recent.passed(received(number, isSync: number == 1, at: Int64(number) * 10))
    }
    #expect(numbers(before: 1000) == [1, 2, 3, 4])
    #expect(numbers(before: 40) == [1, 2, 3])
    recent.passed(received(5, isSync: true, at: 50))
    #expect(numbers(before: 50) == [])
    #expect(numbers(before: 51) == [5])
    recent.forget()
    #expect(numbers(before: 1000) == [])
    for number in 0...UInt32(RecentUnits.countLimit) { recent.passed(received(number, isSync: number == 0, at: 1)) }
    #expect(numbers(before: 1000) == [])
    var large = received(0, isSync: true, at: 1)
    large.unit.payload = [UInt8](repeating: 0, count: RecentUnits.byteLimit / 2 + 1)
    recent.passed(large)
    #expect(numbers(before: 1000) == [0])
    large.unit.flags = []
    recent.passed(large)
    #expect(numbers(before: 1000) == [])
  }

  // MARK: Limits

  @Test("Streams begin with the limits that the machine has by itself, in optimized builds too")
  func defaultLimits() {
    #expect(MWDATCamera.Stream.limits == StreamMachine.Limits())
    #expect(StreamMachine.Limits().start == .seconds(10))
  }

  // MARK: Rates

  @Test("Frame rates snap to the nearest that glasses know")
  func frameRates() {
    for asked in Array(0...60) + [256, UInt.max] {
      let configuration = StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: asked)
      #expect(configuration.videoParameters.frameRate == GlassesFrameRate.nearest(to: asked))
    }
  }

  @Test("Percentiles of ages are within a sixteenth, whatever the ages")
  func ages() throws {
    var ages = AgeHistogram()
    #expect(ages.percentile(0.5) == nil)
    for millisecond in 1...1000 { ages.record(.milliseconds(millisecond)) }
    for (share, expected) in [(0.5, 500.0), (0.95, 950), (0.99, 990), (1, 1000)] {
      let percentile = try #require(ages.percentile(share)).milliseconds
      #expect(percentile >= expected && percentile <= expected * 17 / 16 + 0.001, "\(share): \(percentile)")
    }
    for age in [Duration.seconds(-1), .zero, .nanoseconds(1), .seconds(67), .seconds(68), .seconds(Int64.max / 2)] {
      ages.record(age)
    }
    #expect(ages.count == 1006)
    #expect(try #require(ages.percentile(1)) > .seconds(60))
    #expect(try #require(ages.percentile(0)) == .zero)
  }

  @Test("Rates are those of the last second")
  func rates() {
    var meter = RateMeter()
    for index in 0..<500 {
      meter.record(bytes: 1000, at: Instant(nanoseconds: Int64(index) * 10_000_000))
    }
    let (units, bitrate) = meter.rates(at: Instant(nanoseconds: 4_990_000_000))
    #expect(units == 100)
    #expect(bitrate == .kilobitsPerSecond(800))
    #expect(meter.rates(at: Instant(nanoseconds: 7_000_000_000)).unitsPerSecond == 0)
  }
}
