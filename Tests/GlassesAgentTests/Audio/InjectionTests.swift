import MediaEngine
import Testing
import Units

@testable import GlassesAgent

/// What may be put into a microphone.
@Suite("Injected sound that waits")
struct InjectionTests {
  private let format = PCMFormat(sampleRate: 16_000, channels: 1)
  private let now = Instant(nanoseconds: 10_000_000_000)

  private func block(_ duration: Duration) -> PCMBlock {
    PCMBlock(silence: format.frames(in: duration), format: format)
  }

  @Test("a time that has passed is refused, with how late it is; this moment is not")
  func late() throws {
    var injections = Injections()
    #expect(throws: InjectionError.tooLate(by: .milliseconds(3))) {
      try injections.add(block(.seconds(1)), at: now - .milliseconds(3), now: now)
    }
    try injections.add(block(.seconds(1)), at: now, now: now)
    #expect(injections.pending(at: now) == .seconds(1))
  }

  @Test("a minute of sound may wait and no more; what has been heard makes room")
  func bound() throws {
    var injections = Injections()
    try injections.add(block(.seconds(59)), at: now, now: now)
    #expect(throws: InjectionError.tooMuchPending) {
      try injections.add(block(.seconds(2)), at: now + .seconds(70), now: now)
    }
    try injections.add(block(.seconds(1)), at: now + .seconds(70), now: now)
    #expect(injections.pending(at: now) == Injections.longestPending)
    let later = now + .seconds(59)
    #expect(injections.pending(at: later) == .seconds(1))
    try injections.add(block(.seconds(59)), at: later, now: later)
  }

  @Test("so many pieces may wait and no more")
  func count() throws {
    var injections = Injections()
    for _ in 0..<Injections.mostPending {
      try injections.add(PCMBlock(silence: 1, format: format), at: now + .seconds(1), now: now)
    }
    #expect(throws: InjectionError.tooMuchPending) {
      try injections.add(PCMBlock(silence: 1, format: format), at: now + .seconds(1), now: now)
    }
  }

  @Test(
    "what is not sound is refused", arguments: [(48_000, 0, 8), (48_000, 3, 9), (0, 1, 8), (48_000, 1, 0), (-1, 2, 2)])
  func unusable(rate: Int, channels: Int, count: Int) {
    var injections = Injections()
    let block = PCMBlock(
      format: PCMFormat(sampleRate: rate, channels: channels), samples: [Float](repeating: 0, count: count))
    #expect(throws: InjectionError.formatNotSupported) { try injections.add(block, at: now, now: now) }
  }

  @Test("what is asked for comes in the order of the calls; what is over is forgotten")
  func order() throws {
    var injections = Injections()
    try injections.add(block(.milliseconds(30)), at: now + .milliseconds(100), now: now)
    try injections.add(block(.milliseconds(30)), at: now + .milliseconds(90), now: now)
    try injections.add(block(.milliseconds(30)), at: now + .milliseconds(400), now: now)
    let found = injections.pieces(from: now + .milliseconds(100), to: now + .milliseconds(120))
    #expect(found.map { ($0.start - now).milliseconds } == [100, 90])
    #expect(injections.pieces(from: now + .seconds(10), to: now + .seconds(11)).isEmpty)
    #expect(injections.pieces(from: now + .milliseconds(100), to: now + .milliseconds(120)).isEmpty)
  }

  @Test("a muted time is known to the nanosecond; of too many the oldest are joined, never dropped")
  func mutes() {
    var log = MuteLog()
    log.set(true, at: now)
    log.set(true, at: now + .seconds(1))
    #expect(log.isMuted)
    #expect(log.muted(from: now - .seconds(1), to: now) == [])
    log.set(false, at: now + .seconds(2))
    #expect(!log.isMuted)
    #expect(log.muted(from: now, to: now + .seconds(5)) == [now..<now + .seconds(2)])
    #expect(log.muted(from: now + .seconds(2), to: now + .seconds(5)) == [])
    for index in 3..<60 as Range<Int64> { log.set(index % 2 == 1, at: now + .seconds(index)) }
    #expect(log.muted(from: now, to: now + .seconds(1)).count == 1)
    #expect(log.muted(from: now + .seconds(57), to: now + .seconds(58)).count == 1)
  }
}
