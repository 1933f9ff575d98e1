import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MediaEngine
import TestSupport
import Testing
import Units

/// Losses on the link, each compared picture by picture with a decode without losses.
@Suite(.exclusive(.mockKit))
struct LossTests {
  /// Where a loss happens in a stream with a sync unit every two seconds.
  enum Place: CaseIterable {
    case syncUnit, predictedUnit, chunkInTheMiddle

    func apply(to link: LinkConditioner) {
      switch self {
      case .syncUnit: link.apply(.drop, to: .unit, .next(0), on: .video, syncOnly: true)
      case .predictedUnit: link.apply(.drop, to: .unit, .next(7), on: .video, syncOnly: false)
      case .chunkInTheMiddle: link.apply(.drop, to: .chunk, .next(29), on: .video)
      }
    }
  }

  @Test(
    "LOSS-1, LOSS-2, LOSS-3: one lost sync unit, predicted unit or chunk: no wrong picture, a request within 100 ms, video again within 500 ms and a round trip, or at the next keyframe where requests are ignored",
    arguments: LossCase.all, Place.allCases)
  func single(test: LossCase, place: Place) async throws {
    var test = test
    test.keyframeInterval = .seconds(2)
    try await LossRun.with(test) { run in
      let start = run.clock.now
      place.apply(to: run.glasses.link)
      run.clock.advance(by: .milliseconds(4500))
      try run.expectCleanRecovery()
      try run.expectRunning()
      let dropped = run.glasses.link.log.filter { $0.kind == .dropped }.compactMap(\.chunk)
      #expect(!dropped.isEmpty)
      if place == .chunkInTheMiddle {
        // Chunks of the same unit arrived before it and after it.
        let chunk = try #require(dropped.count == 1 ? dropped.first : nil)
        let unit = try #require(run.tape.entries.dropFirst(Int(chunk.sequence)).first).unit
        #expect(chunk.offset > 0 && Int(chunk.offset) + Int(chunk.length) < unit.payload.count, "\(chunk)")
      }

      let gap = try #require(run.health.values.first { $0.kind == .unitsLost })
      let gapTime = Instant(nanoseconds: gap.hostNanoseconds)
      let resumed = try #require(
        run.frames.values.first { $0.isDiscontinuity && $0.delivered >= gapTime })
      let entries = run.tape.entries
      let next = try #require(entries.first { $0.isSync && $0.time + test.latency >= gapTime })
      if test.honoursRequests {
        #expect(resumed.delivered - gapTime <= .milliseconds(500) + test.latency * 2)
      }
      // The first sync unit that arrives after the gap, asked for or not, and no later one.
      #expect(resumed.presentation == next.time)
      // Its arrival says how many frames it cost, which is what is missing on the tape but for what was lost.
      let arrived = try #require(
        run.health.values.first { $0.kind == .keyframeArrived && $0.hostNanoseconds >= gap.hostNanoseconds })
      let last = try #require(
        run.frames.values.last { $0.delivered < resumed.delivered && $0.delivered >= start - .seconds(1) })
      let from = try #require(SentTape.index(of: last.presentation, in: entries))
      let to = try #require(SentTape.index(of: resumed.presentation, in: entries))
      #expect(to - from - 1 == Int(arrived.withheld ?? 0) + Int(gap.count ?? 0))
    }
  }

  @Test(
    "LOSS-1, LOSS-2, LOSS-3: losses at random, of units and of chunks: no wrong picture, and the stream recovers from all",
    arguments: LossCase.all, [UInt64(11), 12])
  func random(test: LossCase, seed: UInt64) async throws {
    var test = test
    test.seed = seed
    test.keyframeInterval = .seconds(2)
    try await LossRun.with(test) { run in
      run.glasses.link.apply(.drop, to: .unit, .random(probability: 0.04), on: .video)
      run.glasses.link.apply(.drop, to: .chunk, .random(probability: 0.004), on: .video)
      run.clock.advance(by: .seconds(6))
      let dropped = run.glasses.link.log.filter { $0.kind == .dropped }.count
      #expect(dropped > 0)
      run.glasses.link.clear()
      run.clock.advance(by: .seconds(3))
      try run.expectCleanRecovery()
      try run.expectRunning()
    }
  }

  @Test(
    "LOSS-4: wrapping numbers, other chunk sizes, repeated, reordered and delayed chunks and units change no byte of any unit and lose none",
    arguments: [64, 1000, 4096, 65_535], [VideoCodec.hvc1, .raw])
  func harmless(chunkPayload: Int, codec: VideoCodec) async throws {
    let test = LossCase(
      codec: codec, keyframeInterval: .seconds(1), chunkPayload: chunkPayload, firstSequence: .max - 40)
    try await LossRun.with(test) { run in
      let link = run.glasses.link
      link.apply(.duplicate, to: .chunk, .every(3), on: .video)
      link.apply(.reorder(behind: 1), to: .unit, .every(11), on: .video)
      link.apply(.delay(.milliseconds(15)), to: .unit, .every(7), on: .video)
      link.apply(.reorder(behind: chunkPayload < 2000 ? 3 : 1), to: .chunk, .every(5), on: .video)
      link.apply(.duplicate, to: .unit, .every(4), on: .video)
      run.clock.advance(by: .seconds(4))
      link.clear()
      run.clock.advance(by: .seconds(1))
      let entries = run.tape.entries
      let frames = run.frames.values
      // The last may still be under way.
      #expect(frames.count >= entries.count - 1 && frames.count >= 75)
      #expect(run.stream.statistics.gaps == 0)
      #expect(try run.wrongFrames().isEmpty)
      if codec == .hvc1 {
        for (frame, entry) in zip(frames, entries) {
          let (arrived, sent) = (try sha256(frame.payload), try sha256(entry.unit.payload))
          #expect(arrived == sent)
        }
      }
    }
  }

  @Test(
    "LOSS-1: a recording of a stream with losses decodes elsewhere without a message, and to the same pictures",
    arguments: [true, false])
  func recordingDecodesElsewhere(honoursRequests: Bool) async throws {
    let test = LossCase(codec: .hvc1, honoursRequests: honoursRequests, keyframeInterval: .seconds(2), seed: 31)
    let file = URL(fileURLWithPath: try MediaFactory.newPath("mp4"))
    try await LossRun.with(test) { run in
      var options = Recorder.Options()
      // Seconds of the simulation come at once.
      options.queueSpan = .seconds(60)
      let recorder = try Recorder(to: file, options: options)
      try recorder.record(run.stream)
      run.clock.advance(by: .seconds(1))
      run.glasses.link.apply(.drop, to: .unit, .random(probability: 0.02), on: .video)
      run.glasses.link.apply(.drop, to: .unit, .next(0), on: .video, syncOnly: true)
      run.clock.advance(by: .seconds(6))
      let summary = try await recorder.finish()
      #expect(try MediaInspector.complaints(file.path) == "")
      #expect(try MediaInspector.pictureCount(file.path) == summary.statistics.framesWritten)
      // The file begins with the listener that the recorder is: the last frames of ours are its own.
      let frames = run.frames.values.suffix(summary.statistics.framesWritten)
      let pictures = try StrangeDecoder.pictures(of: file.path, size: LossTests.size)
      #expect(pictures.count == frames.count)
      #expect(zip(pictures, frames).allSatisfy { $0 == $1.picture })
      #expect(try run.wrongFrames().isEmpty)
    }
  }

  static let size = PixelSize(width: 360, height: 640)
}
