import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Testing
import Units

@testable import GlassesAgent

/// The same pipeline on threads and the host's clock.
@Suite("Video pipeline, in real time", .exclusive(.processor))
struct RealTimePipelineTests {
  private let timekeeper = SystemTimekeeper.shared

  private func pipeline(
    _ size: PixelSize, frameRate: UInt8, units: Observed<EncodedUnit>,
    emitted: @escaping @Sendable () -> Void = {}
  ) -> VideoPipeline {
    VideoPipeline(
      .init(feed: .pattern, video: .init(codec: .hevc, size: size, frameRate: frameRate), replaysCachedUnits: false),
      timekeeper: timekeeper, deviceClock: .identity,
      emit: { unit in
        emitted()
        units.record(unit)
      }, failed: { failure in Issue.record("\(failure)") })
  }

  /// PERF-1; an encoder on a busy machine may miss pictures, which are counted then.
  @Test("captures evenly: what is not emitted was counted as dropped, and stamps keep to the clock")
  func cadence() async throws {
    let units = Observed<EncodedUnit>()
    let pipeline = pipeline(PixelSize(width: 144, height: 256), frameRate: 30, units: units)
    let start = timekeeper.now
    pipeline.start()
    try await units.wait { $0.count >= 60 }
    pipeline.stop()
    let stamps = units.values.map { Instant(nanoseconds: $0.captured.nanoseconds) }
    #expect(stamps.allSatisfy { $0 >= start && $0 <= timekeeper.now })
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    // Every stamp is a whole number of intervals from the first.
    for stamp in stamps {
      let intervals = (stamp - stamps[0]).seconds * 30
      #expect(abs(intervals - intervals.rounded()) < 0.001)
    }
    let statistics = pipeline.statistics
    // At the stop one may have been waiting and one in the encoder.
    #expect((0...2).contains(statistics.captured - statistics.dropped - statistics.emitted))
  }

  @Test("may be stopped from any thread at any moment, also from within an emission; no unit begins after it")
  func stopsAtAnyMoment() async throws {
    var stopped: [(units: Observed<EncodedUnit>, count: Int)] = []
    for round in 0..<20 {
      let units = Observed<EncodedUnit>()
      let inside = Mutex<VideoPipeline?>(nil)
      let stopsInside = round % 2 == 0
      let pipeline = pipeline(PixelSize(width: 64, height: 96), frameRate: 30, units: units) {
        if stopsInside { inside.withLock { $0 }?.stop() }
      }
      inside.withLock { $0 = pipeline }
      pipeline.start()
      pipeline.requestKeyframe()
      try await units.wait { !$0.isEmpty }
      pipeline.stop()
      inside.withLock { $0 = nil }
      if stopsInside { #expect(units.values.count == 1) }
      stopped.append((units, units.values.count))
    }
    // One emission may have been under way on its lane when the pipeline was stopped from here.
    for (units, count) in stopped { #expect(units.values.count <= count + 1) }
  }
}
