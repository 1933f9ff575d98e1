import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Testing
import Units

/// What a stream costs when it has run for long.
@Suite(.exclusive(.mockKit))
struct SteadyStateTests {
  @Test("PERF-4: an hour of stream leaves memory where it was")
  func memoryIsFlat() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let camera = try #require(try session.addCamera(config: configuration))
      let stream = camera.stream
      // Counted, not kept: the test's own memory has to be flat too.
      let heard = Mutex(0)
      let token = stream.videoFramePublisher.listen { _ in heard.withLock { $0 += 1 } }
      stream.start()
      for _ in 0..<10_000 where stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      clock.advance(by: .seconds(300))
      let before = try residentBytes()
      clock.advance(by: .seconds(3600))
      let after = try residentBytes()
      #expect(Double(after) <= Double(before) * 1.05, "\(before) then \(after) bytes")
      #expect(heard.withLock { $0 } >= 3900 * 24 - 24)
      #expect(stream.state == .streaming)
      #expect(stream.statistics.drops.total == 0)
      await token.cancel()
      session.stop()
    }
  }

  @Test("PERF-4: nothing is decoded when only compressed frames are listened for, or nobody listens")
  func decodesOnlyForListeners() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let compressed = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let watched = try await startedStream(in: session, compressed, clock)
      clock.advance(by: .seconds(10))
      #expect(watched.stream.telemetry.decodedPictures == 0)
      #expect(watched.frames.values.count > 200)
      session.stop()
      clock.advance(by: .seconds(1))

      let next = try startedSession(with: glasses, clock)
      let raw = StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: 24)
      let stream = try #require(try next.addCamera(config: raw)).stream
      stream.start()
      for _ in 0..<10_000 where stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      clock.advance(by: .seconds(10))
      #expect(stream.telemetry.decodedPictures == 0)
      let token = stream.videoFramePublisher.listen { _ in }
      clock.advance(by: .seconds(2))
      #expect(stream.telemetry.decodedPictures > 20)
      await token.cancel()
      next.stop()
    }
  }

  /// Resident memory of this process (proc(5), statm: second field, in pages).
  private func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(fields.dropFirst().first.flatMap { Int($0) }) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
