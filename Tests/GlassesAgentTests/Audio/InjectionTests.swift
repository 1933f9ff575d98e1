import MediaEngine
import TestSupport
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
  func past() throws {
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
    var injections = Injections(mostPending: 100)
    for _ in 0..<100 {
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

  // MARK: Of another rate

  private static let rates = [(8000, 16_000), (11_025, 16_000), (44_100, 48_000), (48_000, 16_000)]

  /// A tone in pieces of 20 ms or so that follow each other, heard in blocks of 20 ms of a stream: what a capture asks.
  private func hear(
    _ rate: Int, _ asked: Int, seconds: Int = 2, lead: Int = 3, after each: (ConvertedInjections) -> Void = { _ in }
  ) throws -> [Float] {
    let (own, format) = (PCMFormat(sampleRate: rate, channels: 1), PCMFormat(sampleRate: asked, channels: 1))
    let clock = SampleClock(rate: asked, start: now)
    var (injections, converted) = (Injections(), ConvertedInjections(format: format))
    var heard: [Float] = []
    let length = rate / 50 + 3
    var given = 0
    for block in 0..<50 * seconds {
      let (begin, end) = (clock.moment(of: block * asked / 50), clock.moment(of: (block + 1) * asked / 50))
      // So many blocks ahead of what is captured.
      while now + own.duration(frames: given) < end + .milliseconds(20 * Int64(lead)) {
        let samples = SineTone.samples(frequency: 440, sampleRate: rate, count: length, from: given)
        try injections.add(
          PCMBlock(format: own, samples: samples), at: now + own.duration(frames: given),
          now: max(now, begin - .milliseconds(20)))
        given += length
      }
      var samples = [Float](repeating: 9, count: asked / 50)
      let pieces = injections.pieces(from: begin, to: end)
      try converted.take(pieces) { clock.index(nearest: $0) }
      for piece in pieces {
        let place = try #require(converted.place(of: piece))
        let offset = place.first - block * asked / 50
        let (first, last) = (max(offset, 0), min(offset + place.frames, samples.count))
        guard first < last else { continue }
        let part = try converted.samples(of: piece, frames: last - offset)
        samples.replaceSubrange(first..<last, with: part[first - offset..<last - offset])
      }
      heard += samples
      each(converted)
    }
    return heard
  }

  @Test("pieces of another rate that follow each other sound like one, without a seam", arguments: rates)
  func seamless(rate: Int, asked: Int) throws {
    let heard = try hear(rate, asked)
    let wanted = SineTone.samples(frequency: 440, sampleRate: asked, count: heard.count)
    // But for the very beginning, before which a filter has nothing.
    let errors = zip(heard, wanted).map { abs($0 - $1) }.dropFirst(asked / 100)
    #expect((errors.max() ?? 9) < 0.003, "\(errors.max() ?? 9)")
  }

  @Test("pieces that come only when they are due are heard each alone, and none is missing")
  func late() throws {
    let heard = try hear(8000, 16_000, lead: 0)
    let wanted = SineTone.samples(frequency: 440, sampleRate: 16_000, count: heard.count)
    #expect(zip(heard, wanted).allSatisfy { abs($0 - $1) < 0.1 })
  }

  @Test("of converted pieces nothing is kept when they are over, also while others follow without a pause")
  func forgets() throws {
    var most = 0
    var last = 0
    _ = try hear(8000, 16_000, seconds: 20) {
      most = max(most, $0.count)
      last = $0.count
    }
    #expect(most <= 6 && last > 0, "\(most)")
    var converted = ConvertedInjections(format: format)
    try converted.take([]) { _ in 0 }
    #expect(converted.count == 0)
  }
}
