import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Testing
import Units

/// What a stream costs when it has run for long, on a clock moved by hand.
///
/// Nothing that is heard is kept: the tests' own memory has to be flat too.
@Suite(.exclusive(.mockKit))
struct SteadyStateTests {
  @Test("PERF-4: an hour of stream leaves memory where it was")
  func hourOfStream() async throws {
    let heard = Mutex(0)
    try await withStream(.hvc1, hear: { _ in heard.withLock { $0 += 1 } }) { _, clock, stream in
      let before = heard.withLock { $0 }
      try await expectFlat(within: Self.bytes(frames: 1200 * 15)) {
        clock.advance(by: .seconds(1200))
      }
      #expect(heard.withLock { $0 } - before >= 3600 * 15 - 1)
      #expect(stream.state == .streaming)
      #expect(stream.statistics.drops.total == 0)
    }
  }

  @Test("PERF-4: five minutes of decoded frames leave memory where it was")
  func decodedFrames() async throws {
    let heard = Mutex(0)
    try await withStream(.raw, hear: { _ in heard.withLock { $0 += 1 } }) { _, clock, stream in
      let before = heard.withLock { $0 }
      try await expectFlat(within: Self.bytes(frames: 100 * 15)) {
        clock.advance(by: .seconds(100))
      }
      #expect(heard.withLock { $0 } - before >= 300 * 15 - 1)
      #expect(stream.statistics.drops.total == 0)
    }
  }

  @Test("PERF-4: hundreds of sessions, each with a stream, leave memory where it was")
  func sessions() async throws {
    try await withGlassesByHand { glasses, clock in
      func run(_ count: Int) async throws {
        for _ in 0..<count {
          try await withStream(of: glasses, clock, .hvc1, hear: { _ in }) { _ in }
        }
      }
      try await expectFlat(within: 100 * 64) { try await run(100) }
      #expect(glasses.agent.sessionCount == 0)
    }
  }

  @Test(
    "PERF-4: minutes with a listener that loses frames leave memory where it was, and its losses are counted",
    arguments: [VideoCodec.raw, .hvc1])
  func losingListener(codec: VideoCodec) async throws {
    try await withStream(codec, frameRate: 24) { glasses, clock, stream in
      // By hand nobody is slow. But what a held link lets go at once is more than may wait for a listener.
      func hiccups(_ count: Int) {
        for _ in 0..<count {
          clock.advance(by: .seconds(3))
          glasses.link.hold(.toApp)
          clock.advance(by: .milliseconds(1800))
          glasses.link.release(.toApp)
        }
      }
      try await expectFlat(within: Self.bytes(frames: 10 * 4 * 24)) { hiccups(codec == .raw ? 10 : 33) }
      #expect(stream.statistics.drops.listeners > 100)
      #expect(stream.statistics.drops.listeners == UInt64(stream.frameListeners.reduce(0) { $0 + $1.dropped }))
    }
  }

  @Test(
    "PERF-4: minutes of losses and what follows them leave memory where it was", arguments: [VideoCodec.raw, .hvc1])
  func losses(codec: VideoCodec) async throws {
    try await withStream(codec) { glasses, clock, stream in
      glasses.link.apply(.drop, to: .unit, .random(probability: 0.02), on: .video)
      let span = codec == .raw ? 60 : 200
      try await expectFlat(within: Self.bytes(frames: span * 15)) {
        clock.advance(by: .seconds(span))
      }
      #expect(stream.statistics.drops.lost > 50)
      #expect(stream.state == .streaming)
      glasses.link.clear()
    }
  }

  @Test("PERF-4: photos taken now and then beside a stream leave memory where it was")
  func photos() async throws {
    try await withStream(.hvc1) { _, clock, stream in
      let taken = Mutex(0)
      let token = stream.photoDataPublisher.listen { _ in taken.withLock { $0 += 1 } }
      func takePhotos(_ count: Int) {
        for number in 0..<count {
          #expect(stream.capturePhoto(format: number % 2 == 0 ? .jpeg : .heic))
          clock.advance(by: .seconds(10))
        }
      }
      try await expectFlat(within: 8 * 1024) { takePhotos(8) }
      #expect(taken.withLock { $0 } >= 24)
      await token.cancel()
    }
  }

  @Test("PERF-4: nothing is decoded when only compressed frames are listened for, or nobody listens")
  func decodesOnlyForListeners() async throws {
    let heard = Mutex(0)
    try await withStream(.hvc1, hear: { _ in heard.withLock { $0 += 1 } }) { _, clock, stream in
      clock.advance(by: .seconds(10))
      #expect(stream.telemetry.decodedPictures == 0)
      #expect(heard.withLock { $0 } > 140)
    }
    try await withStream(.raw, hear: nil) { _, clock, stream in
      clock.advance(by: .seconds(10))
      #expect(stream.telemetry.decodedPictures == 0)
      let token = stream.videoFramePublisher.listen { _ in }
      clock.advance(by: .seconds(2))
      #expect(stream.telemetry.decodedPictures > 20)
      await token.cancel()
    }
  }

  /// What may stay of so many frames: a quarter of the smallest object for each.
  private static func bytes(frames: Int) -> Int { frames * 8 }

  /// Simulated glasses by hand, and a stream of them that is streaming, with a listener or none.
  private func withStream(
    _ codec: VideoCodec, frameRate: UInt = 15, hear: (@Sendable (VideoFrame) -> Void)? = { _ in },
    _ body: (SimulatedGlasses, ManualTimekeeper, MWDATCamera.Stream) async throws -> Void
  ) async throws {
    try await withGlassesByHand { glasses, clock in
      try await withStream(of: glasses, clock, codec, frameRate: frameRate, hear: hear) {
        try await body(glasses, clock, $0)
      }
    }
  }

  private func withStream(
    of glasses: SimulatedGlasses, _ clock: ManualTimekeeper, _ codec: VideoCodec, frameRate: UInt = 15,
    hear: (@Sendable (VideoFrame) -> Void)?, _ body: (MWDATCamera.Stream) async throws -> Void
  ) async throws {
    let session = try startedSession(with: glasses, clock)
    let configuration = StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: frameRate)
    let stream = try #require(try session.addCamera(config: configuration)).stream
    let token = hear.map { stream.videoFramePublisher.listen($0) }
    stream.start()
    for _ in 0..<10_000 where stream.state != .streaming {
      clock.advance(by: .microseconds(100))
      await Task.yield()
    }
    #expect(stream.state == .streaming)
    try await body(stream)
    await token?.cancel()
    session.stop()
    clock.advance(by: .seconds(1))
    #expect(session.state == .stopped)
  }

  /// Two stretches one after the other leave no more behind than `limit`, and resident memory within 5 %: after a first
  /// one, in which whatever a first round needs has come.
  ///
  /// The limit is far below one small object for each frame, of which the smallest takes 32 bytes. Other tests of the
  /// process allocate and free meanwhile, which may look like growth: then more stretches follow. A leak grows in each.
  ///
  /// - Parameter limit: in bytes, for each of the two; what reading it and the clock's own queues vary by comes on top.
  private func expectFlat(within limit: Int, _ stretch: () async throws -> Void) async throws {
    try await stretch()
    let resident = try residentBytes()
    var heap = [Heap.bytesInUse ?? 0]
    var growths: [Int] { zip(heap, heap.dropFirst()).map { $1 - $0 } }
    func isFlat() throws -> Bool {
      let last = growths.suffix(2)
      return try last.count == 2 && last.allSatisfy { $0 <= limit + Self.slack }
        && Double(residentBytes()) <= 1.05 * Double(resident)
    }
    while try heap.count < 3 || !isFlat(), heap.count < 8 {
      try await stretch()
      heap.append(Heap.bytesInUse ?? 0)
    }
    #expect(try isFlat(), "bytes of the heap more after each stretch: \(growths), where \(limit) may be")
  }

  private static let slack = 16_384

  /// Resident memory of this process (proc(5), statm: second field, in pages).
  private func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(fields.dropFirst().first.flatMap { Int($0) }) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
