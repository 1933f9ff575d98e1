import LinkProtocol
import LinkTransport
import PortableMedia
import TestSupport
import Testing
import Units

@testable import MWDATCamera

@Suite("Listeners for sound")
struct AudioOutletTests {
  private func piece(_ number: Int, marked: Bool = false) throws -> AudioOutlet.Piece {
    let buffer = try #require(
      AVAudioPCMBuffer(sampleRate: 16_000, channels: 1, interleaved: [Float](repeating: 0, count: 320)))
    return AudioOutlet.Piece(
      frame: AudioFrame(
        buffer, start: Instant(nanoseconds: Int64(number) * 20_000_000), missingBefore: marked ? 320 : 0,
        followsGap: marked),
      position: Int64(number) * 320)
  }

  @Test("A slow listener loses the oldest of 25, is told how much, and costs the others nothing")
  func slow() async throws {
    let outlet = AudioOutlet(timekeeper: SystemTimekeeper.shared)
    let gate = Gate()
    let slow = Observed<Int>()
    let quick = Observed<Int>()
    let drops = Observed<Int>()
    outlet.onDrops { drops.record($1) }
    let first = outlet.listen { frame in
      slow.record(frame.missingBefore)
      gate.wait()
    }
    let second = outlet.listen { quick.record($0.missingBefore) }
    let opening = outlet.open(StreamID(1))
    for number in 0..<40 {
      outlet.deliver(try piece(number), of: opening)
      try await quick.wait { $0.count == number + 1 }
      // The first one is being looked at, and 25 wait.
      if number == 0 { try await slow.wait { $0.count == 1 } }
    }
    gate.open()
    try await slow.wait { $0.count == 26 }
    #expect(slow.values == [0, 14 * 320] + [Int](repeating: 0, count: 24))
    #expect(quick.values == [Int](repeating: 0, count: 40))
    #expect(drops.values.reduce(0, +) == 14)
    #expect(outlet.listenerStatistics.map(\.counts.dropped) == [14, 0])
    await first.cancel()
    await second.cancel()
  }

  @Test("Of what waits when a stream rests nothing is heard, and the frame after says so")
  func rest() throws {
    let clock = ManualTimekeeper()
    let outlet = AudioOutlet(timekeeper: clock)
    let heard = Observed<AudioFrame>()
    let token = outlet.listen { heard.record($0) }
    let opening = outlet.open(StreamID(1))
    outlet.deliver(try piece(0), of: opening)
    clock.settle()
    outlet.deliver(try piece(1), of: opening)
    outlet.close()
    let next = outlet.open(StreamID(1))
    outlet.deliver(try piece(2), of: opening)
    outlet.deliver(try piece(3), of: next)
    clock.settle()
    #expect(heard.values.map(\.missingBefore) == [0, 640])
    #expect(heard.values.map(\.followsGap) == [false, true])
    // Another stream begins anew.
    outlet.deliver(try piece(9, marked: true), of: outlet.open(StreamID(2)))
    clock.settle()
    #expect(heard.values.last.map { $0.missingBefore == 0 && !$0.followsGap } == true)
    withExtendedLifetime(token) {}
  }

  @Test("That all is heard is told once, also when a listener leaves instead, and at once where there is none")
  func drained() async throws {
    let outlet = AudioOutlet(timekeeper: SystemTimekeeper.shared)
    let told = Observed<String>()
    outlet.drained { told.record("none") }
    #expect(told.values == ["none"])
    let gate = Gate()
    let heard = Observed<Int>()
    let slow = outlet.listen { _ in
      gate.wait()
      heard.record(1)
    }
    let blocked = outlet.listen { _ in }
    let opening = outlet.open(StreamID(1))
    for number in 0..<3 { outlet.deliver(try piece(number), of: opening) }
    outlet.drained { told.record("heard \(heard.values.count)") }
    #expect(told.values.count == 1)
    await blocked.cancel()
    gate.open()
    try await told.wait { $0.count == 2 }
    #expect(told.values.last == "heard 3")
    await slow.cancel()
  }
}
