import LinkProtocol
import TestSupport
import Testing
import Units

@Suite("Device clock")
struct DeviceClockTests {
  @Test("runs from its own origin at its own rate, and never steps back")
  func rate() {
    let clock = DeviceClock(offset: .seconds(-1000), partsPerMillion: -300)
    #expect(clock.time(at: Instant(nanoseconds: 0)) == DeviceTime(nanoseconds: -1_000_000_000_000))
    let hour = clock.time(at: Instant(nanoseconds: 3_600_000_000_000)) - clock.time(at: Instant(nanoseconds: 0))
    #expect(hour == .seconds(3600) - .milliseconds(1080))
    var last = clock.time(at: Instant(nanoseconds: 1_000_000_000_000_000))
    for step in 1..<1000 {
      let next = clock.time(at: Instant(nanoseconds: 1_000_000_000_000_000 + Int64(step)))
      #expect(next >= last)
      last = next
    }
    #expect(DeviceClock.identity.time(at: Instant(nanoseconds: 42)) == DeviceTime(nanoseconds: 42))
  }

  @Test("saturates")
  func extremes() {
    let clock = DeviceClock(offset: .seconds(Int64.max / 2_000_000_000), partsPerMillion: 300)
    #expect(clock.time(at: .distantFuture) == DeviceTime(nanoseconds: .max))
    #expect(DeviceClock(offset: .zero, partsPerMillion: .nan).time(at: Instant(nanoseconds: 5)).nanoseconds == 5)
  }
}

/// SYNC-1: capture times on one host clock, whatever the clock of the glasses is.
@Suite("Clock alignment")
struct ClockAlignmentTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var offset: Duration
    var partsPerMillion: Double
    /// One-way delay and what is added to it at most, in microseconds.
    var delay: Int64
    var jitter: Int64
    /// Most that a stamp may be off after a minute.
    var tolerance: Duration

    var testDescription: String { "offset \(offset), \(partsPerMillion) ppm, \(delay) + \(jitter) µs" }
  }

  static let cases = [
    Case(offset: .zero, partsPerMillion: 0, delay: 0, jitter: 0, tolerance: .microseconds(1)),
    Case(offset: .seconds(-86_400), partsPerMillion: 300, delay: 50, jitter: 200, tolerance: .microseconds(200)),
    Case(
      offset: .seconds(9_000_000_000), partsPerMillion: -300, delay: 2000, jitter: 10_000, tolerance: .milliseconds(3)),
    Case(
      offset: .seconds(-9_000_000_000), partsPerMillion: 300, delay: 20_000, jitter: 40_000,
      tolerance: .milliseconds(10)),
    Case(offset: .seconds(5), partsPerMillion: -120, delay: 20_000, jitter: 1000, tolerance: .milliseconds(1)),
  ]

  /// Half an hour of exchanges and stamps, checked at each step.
  @Test("finds offset and drift, bends by at most 500 ppm and never steps back", arguments: cases)
  func converges(_ run: Case) {
    let clock = DeviceClock(offset: run.offset, partsPerMillion: run.partsPerMillion)
    var alignment = ClockAlignment()
    var generator = SeededGenerator(seed: 11)
    let start = Instant(nanoseconds: 50_000_000_000_000)
    var last: (device: DeviceTime, host: Instant)?
    var worst = Duration.zero
    var worstRate = 0.0
    var stepsBack = 0
    func travel() -> Duration {
      // Delays cluster near the least, as queues do.
      let u = Double.random(in: 0...1, using: &generator)
      return .nanoseconds(run.delay * 1000 + Int64(Double(run.jitter) * 1000 * u * u * u))
    }
    var time = start
    var nextExchange = start
    while time < start + .seconds(1800) {
      if nextExchange <= time {
        let there = travel()
        let back = travel()
        let received = time + there
        alignment.add(
          originated: time, received: clock.time(at: received),
          transmitted: clock.time(at: received + .microseconds(30)),
          arrived: received + .microseconds(30) + back)
        nextExchange = time + .seconds(1)
        time = received + .microseconds(30) + back
      }
      let device = clock.time(at: time)
      let host = alignment.hostTime(of: device, arrived: time + .milliseconds(30))
      if let last {
        if host <= last.host { stepsBack += 1 }
        let elapsed = (device - last.device).seconds
        worstRate = max(worstRate, abs((host - last.host).seconds / elapsed - 1))
      }
      last = (device, host)
      if time - start > .seconds(60) { worst = max(worst, host > time ? host - time : time - host) }
      time = time + .milliseconds(33)
    }
    #expect(stepsBack == 0)
    #expect(worst <= run.tolerance)
    // Rounding to nanoseconds at either end of 33 ms.
    #expect(worstRate <= ClockAlignment.rateLimit + 1e-7)
    // A host second per device second, so the sign is the other way round.
    if run.jitter < 20_000 { #expect(abs(alignment.drift * 1e6 + run.partsPerMillion) < 30) }
    #expect(alignment.realignments == 0)
  }

  @Test("has the first stamp right after one exchange")
  func first() {
    let clock = DeviceClock(offset: .seconds(777), partsPerMillion: 100)
    var alignment = ClockAlignment()
    let start = Instant(nanoseconds: 1_000_000_000)
    exchange(&alignment, clock, at: start, delay: .milliseconds(2))
    let moment = start + .milliseconds(50)
    let host = alignment.hostTime(of: clock.time(at: moment), arrived: moment + .milliseconds(9))
    #expect(abs((host - moment).nanoseconds) < 10_000)
  }

  @Test("counts a first stamp as having happened at arrival while nothing is known, then corrects itself at once")
  func provisional() {
    let clock = DeviceClock(offset: .seconds(-3), partsPerMillion: 0)
    var alignment = ClockAlignment()
    let start = Instant(nanoseconds: 1_000_000_000)
    let arrived = start + .milliseconds(80)
    #expect(alignment.hostTime(of: clock.time(at: start), arrived: arrived) == arrived)
    exchange(&alignment, clock, at: arrived, delay: .milliseconds(1))
    let moment = arrived + .milliseconds(100)
    #expect(alignment.hostTime(of: clock.time(at: moment), arrived: moment) == moment)
  }

  @Test("steps ahead, counted, when the clock of the glasses stood still")
  func stoodStill() {
    var alignment = ClockAlignment()
    let before = DeviceClock(offset: .seconds(100), partsPerMillion: 0)
    let after = DeviceClock(offset: .seconds(90), partsPerMillion: 0)
    var now = Instant(nanoseconds: 1_000_000_000)
    for _ in 0..<30 {
      exchange(&alignment, before, at: now, delay: .milliseconds(1))
      now = now + .seconds(1)
    }
    let last = alignment.hostTime(of: before.time(at: now), arrived: now)
    now = now + .seconds(10)
    for _ in 0..<3 {
      exchange(&alignment, after, at: now, delay: .milliseconds(1))
      now = now + .seconds(1)
    }
    #expect(alignment.realignments == 1)
    #expect(alignment.lastRealignment == .seconds(10))
    let host = alignment.hostTime(of: after.time(at: now), arrived: now)
    #expect(host == now)
    #expect(host > last)
  }

  @Test("ignores exchanges that can't be, and saturates on absurd stamps")
  func absurd() {
    var alignment = ClockAlignment()
    let now = Instant(nanoseconds: 1_000_000_000)
    alignment.add(
      originated: now, received: DeviceTime(nanoseconds: 5), transmitted: DeviceTime(nanoseconds: 4), arrived: now)
    alignment.add(
      originated: now, received: DeviceTime(nanoseconds: 0), transmitted: DeviceTime(nanoseconds: .max), arrived: now)
    alignment.add(
      originated: now, received: DeviceTime(nanoseconds: 0), transmitted: DeviceTime(nanoseconds: 0),
      arrived: now - .seconds(1))
    #expect(alignment.lastRoundTrip == nil)
    for stamp: Int64 in [.min, .max, 0] {
      alignment.add(
        originated: now, received: DeviceTime(nanoseconds: stamp), transmitted: DeviceTime(nanoseconds: stamp),
        arrived: now + .milliseconds(1))
      for other: Int64 in [.min, .max, 0, -1] {
        _ = alignment.hostTime(of: DeviceTime(nanoseconds: other), arrived: now)
      }
    }
  }

  private func exchange(_ alignment: inout ClockAlignment, _ clock: DeviceClock, at now: Instant, delay: Duration) {
    let time = clock.time(at: now + delay)
    alignment.add(originated: now, received: time, transmitted: time, arrived: now + delay * 2)
  }
}

@Suite("Presentation times")
struct PresentationTests {
  private let keyframe: AccessUnit.Flags = [.sync, .parameterSets]

  @Test(
    "are the capture times on the host's clock, rising, and never after arrival (SYNC-1, SYNC-3)",
    arguments: [(Duration.zero, 0.0), (.seconds(-5000), 300.0), (.seconds(5_000_000_000), -300.0)])
  func presentation(offset: Duration, partsPerMillion: Double) {
    let clock = DeviceClock(offset: offset, partsPerMillion: partsPerMillion)
    var pair = EndpointPair(deviceClock: clock)
    var generator = SeededGenerator(seed: 5)
    pair.latency = [.app: .milliseconds(20), .glasses: .milliseconds(20)]
    pair.jitter = { .nanoseconds(Int64.random(in: 0...15_000_000, using: &generator)) }
    pair.open()
    pair.advance(by: .milliseconds(300))
    _ = pair.takeAppEvents()
    var last: ReceivedUnit?
    var captured: [UInt8: Instant] = [:]
    var count = 0
    for index in 0..<(60 * 24) {
      let filler = UInt8(truncatingIfNeeded: index)
      captured[filler] = pair.now
      let unit = AccessUnit.test(
        index == 0 ? keyframe : [], captured: clock.time(at: pair.now), bytes: 50, filler: filler)
      pair.input(.glasses) { glasses, now in glasses.send(unit, at: now) }
      pair.advance(by: .nanoseconds(41_666_667))
      for case .accessUnit(let received) in pair.takeAppEvents() {
        count += 1
        #expect(received.presentation <= received.arrived)
        if let last { #expect(received.presentation > last.presentation) }
        last = received
        let truth = captured[received.unit.payload[0]] ?? .distantPast
        #expect(abs((received.presentation - truth).milliseconds) < 8)
      }
    }
    #expect(count > 1430)
    #expect(pair.app.statistics.roundTrip.map { $0 >= .milliseconds(40) } == true)
  }

  @Test("rise strictly even for equal, backward and absurd stamps that arrive together")
  func badStamps() {
    var pair = EndpointPair()
    pair.open()
    pair.advance(by: .milliseconds(200))
    _ = pair.takeAppEvents()
    let stamps: [Int64] = [0, 0, .max, .min, 5, .max, 1_100_000_000, 1_100_000_000, 1_000_000_000]
    pair.input(.glasses) { glasses, now in
      for stamp in stamps { glasses.send(.test(keyframe, captured: DeviceTime(nanoseconds: stamp)), at: now) }
    }
    let units = pair.takeAppEvents().compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
    #expect(units.count == stamps.count)
    for (before, after) in zip(units, units.dropFirst()) { #expect(after.presentation > before.presentation) }
    for unit in units {
      #expect(unit.presentation <= unit.arrived)
      #expect(pair.now - unit.presentation <= .seconds(60))
      #expect(unit.arrived - pair.now <= .microseconds(1))
    }
    #expect(pair.app.statistics.repairedStamps > 0)
  }
}
