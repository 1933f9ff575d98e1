import Foundation
import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// What a stream does when its link gets narrow and wide again.
@Suite(.exclusive(.mockKit))
struct RateTests {
  private static let low = CMVideoDimensions(width: 360, height: 640)
  private static let medium = CMVideoDimensions(width: 504, height: 896)

  private func configuration(
    _ codec: VideoCodec = .hvc1, _ resolution: StreamingResolution = .medium, _ frameRate: UInt = 30
  ) -> StreamConfiguration {
    StreamConfiguration(videoCodec: codec, resolution: resolution, frameRate: frameRate)
  }

  // MARK: - PERF-2

  @Test(
    "PERF-2: what waits for a narrow link is never older than 500 ms; overflow drops to a sync unit and is counted",
    arguments: [200, 450, 1000] as [Int64])
  func narrow(rate: Int64) async throws {
    try await withGlassesByHand(encodesLive: true) { glasses, clock in
      let run = try await RateRun(configuration(.raw), glasses, clock)
      clock.advance(by: .seconds(3))
      glasses.link.limit(.kilobitsPerSecond(rate))
      let oldest = try run.oldestWait(for: .seconds(9), glasses, clock)
      #expect(oldest > .milliseconds(50) && oldest <= .milliseconds(500), "\(oldest)")
      #expect(run.watched.stream.state == .streaming && run.watched.errors.isEmpty)
      let link = try #require(glasses.agent.linkStatistics.first)
      #expect(link.videoOverflows <= 4)
      if rate < 400 { #expect(link.videoOverflows > 0) }
      // The last seconds flow, and the age of a picture is bounded by what may wait and what a sync unit takes to leave.
      let late = run.pictures.values.suffix(while: { $0.delivered > clock.now - .seconds(5) })
      #expect(late.count >= 5 * 14)
      let ages = late.map { $0.delivered - $0.presentation }.sorted()
      #expect(ages[ages.count * 95 / 100] <= .milliseconds(450), "\(ages[ages.count * 95 / 100])")
      run.session.stop()
    }
  }

  @Test(
    "PERF-2: an overflow is counted and marked, and no picture is shown that a decoder of all units would not show",
    arguments: [true, false])
  func overflow(honoursRequests: Bool) async throws {
    // Replayed units can't get smaller, so the queue runs over again and again.
    try await withGlassesByHand { glasses, clock in
      let run = try await RateRun(configuration(.raw), glasses, clock)
      clock.advance(by: .seconds(2))
      // An encoder that isn't asked, or doesn't care, goes on with units that nothing can be done with.
      glasses.agent.faults.ignoresKeyframeRequests = !honoursRequests
      glasses.link.limit(.kilobitsPerSecond(200))
      let oldest = try run.oldestWait(for: .seconds(10), glasses, clock)
      #expect(oldest <= .milliseconds(500), "\(oldest)")
      glasses.link.limit(nil)
      clock.advance(by: .seconds(3))
      let link = try #require(glasses.agent.linkStatistics.first)
      #expect(link.videoOverflows > 1 && link.droppedVideoUnits > link.videoOverflows)
      // What was not dropped has come, except the last, which may be on its way.
      let sent = UInt64(run.units.values.count) - link.droppedVideoUnits
      let statistics = run.watched.stream.statistics
      #expect(statistics.units <= sent && statistics.units + 1 >= sent)
      #expect(statistics.drops.lost + statistics.drops.withheld + statistics.drops.undecodable == 0)
      #expect(try run.wrongPictures().isEmpty)
      // An overflow costs half a second of pictures, and the one after it says that some are missing.
      let pictures = run.pictures.values
      let isHole = zip(pictures, pictures.dropFirst()).map { $1.presentation - $0.presentation > .milliseconds(200) }
      #expect(isHole.contains(true))
      #expect(zip(isHole, pictures.dropFirst()).allSatisfy { !$0 || $1.isDiscontinuity })
      #expect(pictures.count { $0.isDiscontinuity } <= Int(link.videoOverflows))
      run.session.stop()
    }
  }

  // MARK: - PERF-3

  @Test(
    "PERF-3, HEALTH-1: each step is published with old and new values before the first frame of the new size, to every listener",
    arguments: [VideoCodec.hvc1, .raw])
  func steps(codec: VideoCodec) async throws {
    try await withGlassesByHand { glasses, clock in
      let run = try await RateRun(configuration(codec), glasses, clock)
      clock.advance(by: .seconds(3))
      #expect(run.changes.isEmpty)
      glasses.link.limit(.kilobitsPerSecond(300))
      clock.advance(by: .seconds(10))
      #expect(run.watched.frames.values.last?.size == Self.low)
      let stepsDown = run.changes
      #expect(!stepsDown.isEmpty && stepsDown.count <= 2)
      #expect(stepsDown.allSatisfy { $0.text == "linkNarrowed" })
      glasses.link.limit(nil)
      clock.advance(by: .seconds(40))
      #expect(run.watched.frames.values.last?.size == Self.medium)
      #expect(run.changes.dropFirst(stepsDown.count).allSatisfy { $0.text == "linkWidened" })
      #expect(run.watched.stream.negotiatedConfiguration?.frameRate == 30)
      #expect(run.changes.count <= 5)
      run.expectEachStepAnnounced()
      // Nothing stood still meanwhile, and the stream went on.
      #expect(run.watched.states == [.waitingForDevice, .starting, .streaming])
      #expect(run.watched.errors.isEmpty && run.watched.stream.statistics.stalls == 0)
      if codec == .raw { #expect(try run.wrongPictures().isEmpty) }
      run.session.stop()
    }
  }

  @Test("PERF-3: with pictures encoded as they come, the bit rate follows first, and the size only when it must")
  func live() async throws {
    try await withGlassesByHand(encodesLive: true) { glasses, clock in
      let run = try await RateRun(configuration(.hvc1), glasses, clock)
      clock.advance(by: .seconds(2))
      let rate = try #require(glasses.agent.sendingRates.values.first)
      #expect(rate.target == .kilobitsPerSecond(1500))
      // Enough for the size, not for its bit rate.
      glasses.link.limit(.kilobitsPerSecond(1000))
      clock.advance(by: .seconds(10))
      #expect(run.changes.isEmpty)
      #expect(try #require(glasses.agent.sendingRates.values.first).target < .kilobitsPerSecond(1100))
      #expect(run.watched.stream.statistics.bitsPerSecond < 1_150_000)
      glasses.link.limit(.kilobitsPerSecond(300))
      clock.advance(by: .seconds(5))
      #expect(run.watched.frames.values.last?.size == Self.low)
      #expect(run.watched.stream.statistics.bitsPerSecond < 345_000)
      glasses.link.limit(nil)
      clock.advance(by: .seconds(25))
      #expect(run.watched.frames.values.last?.size == Self.medium)
      run.expectEachStepAnnounced()
      run.session.stop()
    }
  }

  @Test(
    "PERF-3: a rate near a rung does not make the picture flap", arguments: [400, 560, 800, 1000] as [Int64])
  func noFlapping(rate: Int64) async throws {
    try await withGlassesByHand { glasses, clock in
      let run = try await RateRun(configuration(.hvc1), glasses, clock)
      glasses.link.limit(.kilobitsPerSecond(rate))
      clock.advance(by: .seconds(10))
      let before = run.changes.count
      clock.advance(by: .seconds(60))
      #expect(run.changes.count - before <= 4, "\(run.changes.map(\.video))")
      run.expectEachStepAnnounced()
      run.session.stop()
    }
  }

  @Test("PERF-3: a stream is never more than was asked, and one on a link that carries it has no step at all")
  func noNeed() async throws {
    try await withGlassesByHand { glasses, clock in
      let run = try await RateRun(configuration(.hvc1, .low, 15), glasses, clock)
      clock.advance(by: .seconds(120))
      #expect(run.changes.isEmpty)
      #expect(run.watched.frames.values.allSatisfy { $0.size == Self.low })
      run.session.stop()
    }
  }

  @Test("PERF-3: after a pause the stream goes on in the form that was published last")
  func pause() async throws {
    try await withGlassesByHand(encodesLive: true) { glasses, clock in
      let run = try await RateRun(configuration(.hvc1), glasses, clock)
      glasses.link.limit(.kilobitsPerSecond(300))
      clock.advance(by: .seconds(8))
      let changes = run.changes.count
      #expect(run.watched.frames.values.last?.size == Self.low)
      glasses.services.captouch.tap()
      clock.advance(by: .seconds(2))
      let before = run.watched.frames.values.count
      glasses.services.captouch.tap()
      clock.advance(by: .seconds(1))
      let after = run.watched.frames.values.dropFirst(before)
      #expect(after.count > 10 && after.allSatisfy { $0.size == Self.low })
      #expect(run.changes.count == changes)
      run.expectEachStepAnnounced()
      run.session.stop()
    }
  }

  // MARK: - REC-4

  @Test(
    "REC-4: a recording through steps of size plays without a message; MP4 goes on in further files, Matroska in one",
    arguments: ["mp4", "mkv"])
  func recording(kind: String) async throws {
    let file = URL(fileURLWithPath: try MediaFactory.newPath(kind))
    try await withGlassesByHand { glasses, clock in
      let run = try await RateRun(configuration(.hvc1), glasses, clock)
      let recorder = try Recorder(to: file)
      try recorder.record(run.watched.stream)
      clock.advance(by: .seconds(2))
      glasses.link.limit(.kilobitsPerSecond(300))
      clock.advance(by: .seconds(6))
      glasses.link.limit(nil)
      clock.advance(by: .seconds(30))
      run.session.stop()
      clock.advance(by: .seconds(1))
      let summary = try await recorder.finish()
      #expect(summary.statistics.framesIn == summary.statistics.framesWritten + summary.statistics.framesDropped)
      #expect(run.changes.count >= 2)
      #expect(summary.files.count == (kind == "mkv" ? 1 : run.changes.count + 1))
      for file in summary.files { #expect(try MediaInspector.complaints(file.path) == "") }
      let pictures = try summary.files.map { try MediaInspector.pictureCount($0.path) }.reduce(0, +)
      #expect(pictures == summary.statistics.framesWritten)
    }
  }
}

extension Array {
  /// The longest end whose elements all meet the condition.
  fileprivate func suffix(while condition: (Element) -> Bool) -> ArraySlice<Element> {
    let start = lastIndex { !condition($0) }.map { $0 + 1 } ?? startIndex
    return self[start...]
  }
}
