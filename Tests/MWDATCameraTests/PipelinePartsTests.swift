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

  private func received(_ number: UInt32, isSync: Bool, at milliseconds: Int64) -> ReceivedUnit {
    let time = Instant(nanoseconds: milliseconds * 1_000_000)
    return ReceivedUnit(
      unit: AccessUnit(
        stream: StreamID(1), flags: isSync ? [.sync, .parameterSets] : [], codec: .hevc, size: CodedPictures.size,
        captured: DeviceTime(nanoseconds: 0), payload: []),
      sequence: number, presentation: time, arrived: time, lostBefore: 0)
  }

  private func offer(_ queue: inout DecodeQueue, _ number: UInt32, sync: Bool = false, at time: Int64)
    -> DecodeQueue.Offered
  {
    queue.offer(
      received(number, isSync: sync, at: time), isDiscontinuity: false, at: Instant(nanoseconds: time * 1_000_000))
  }

  private func drain(_ queue: inout DecodeQueue) -> [DecodeQueue.Entry] {
    var entries: [DecodeQueue.Entry] = []
    while let entry = queue.next() { entries.append(entry) }
    return entries
  }

  @Test("A decoder begins with a sync unit; until one comes it is asked for")
  func begins() {
    var queue = DecodeQueue()
    #expect(offer(&queue, 1, at: 0) == .withheld(asksForKeyframe: true))
    #expect(offer(&queue, 2, at: 40) == .withheld(asksForKeyframe: false))
    #expect(offer(&queue, 3, at: 200) == .withheld(asksForKeyframe: true))
    #expect(offer(&queue, 4, sync: true, at: 240) == .queued)
    #expect(drain(&queue).map(\.unit.sequence) == [4])
  }

  @Test("Older than 500 ms: all before the newest sync unit goes, and that is marked (PERF-2)")
  func dropsToSync() {
    var queue = DecodeQueue()
    #expect(offer(&queue, 0, sync: true, at: 0) == .queued)
    #expect(offer(&queue, 1, at: 100) == .queued)
    #expect(offer(&queue, 2, sync: true, at: 200) == .queued)
    #expect(offer(&queue, 3, at: 500) == .queued)
    #expect(offer(&queue, 4, at: 501) == .dropped(2, asksForKeyframe: false))
    let rest = drain(&queue)
    #expect(rest.map(\.unit.sequence) == [2, 3, 4])
    #expect(rest.map(\.isDiscontinuity) == [true, false, false])
  }

  @Test("With no sync unit to go to, all goes and the next one is asked for; nothing between passes")
  func dropsAll() {
    var queue = DecodeQueue()
    #expect(offer(&queue, 0, sync: true, at: 0) == .queued)
    for number in 1..<UInt32(DecodeQueue.countLimit) { #expect(offer(&queue, number, at: 1) == .queued) }
    #expect(offer(&queue, 50, at: 2) == .dropped(DecodeQueue.countLimit + 1, asksForKeyframe: true))
    #expect(queue.count == 0)
    #expect(offer(&queue, 51, at: 3) == .withheld(asksForKeyframe: true))
    #expect(offer(&queue, 52, sync: true, at: 4) == .queued)
    #expect(drain(&queue).map(\.isDiscontinuity) == [true])
  }

  // MARK: Limits

  @Test("Streams begin with the limits that the machine has by itself, in optimized builds too")
  func defaultLimits() {
    #expect(MWDATCamera.Stream.limits == StreamMachine.Limits())
    #expect(StreamMachine.Limits().start == .seconds(10))
  }

  // MARK: Rates

  @Test(
    "Frame rates snap to the nearest valid one, the higher of two equally near",
    arguments: [
      (0, 2), (1, 2), (2, 2), (4, 2), (5, 7), (7, 7), (10, 7), (11, 15), (15, 15), (19, 15), (20, 24), (25, 24),
      (27, 30),
      (30, 30), (60, 30), (UInt.max, 30),
    ] as [(UInt, UInt8)])
  func frameRates(asked: UInt, nearest: UInt8) {
    #expect(StreamFrameRate.nearest(to: asked) == nearest)
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
