import Foundation
import LinkProtocol
import Synchronization
import TestSupport
import Testing
import Units

@testable import GlassesAgent

@Suite("Video pipeline, replaying cached units")
struct ReplayPipelineTests {
  /// MOCK-4
  @Test("simulated minutes encode one cycle: the same units come again, with stamps that go on rising evenly")
  func replaysInLoops() {
    let opened = Mutex(0)
    let rig = PipelineRig(frameRate: 24, replays: true) { (size, rate) throws(SourceError) in
      opened.withLock { $0 += 1 }
      return try PatternSource(size: size, frameRate: rate)
    }
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(180))
    let units = rig.units
    #expect(units.count == 180 * 24 + 1)
    #expect(opened.withLock { $0 } == 1)
    let cycle = 4 * 24
    #expect((cycle..<units.count).allSatisfy { units[$0].payload == units[$0 - cycle].payload })
    #expect(stride(from: 0, to: units.count, by: cycle).allSatisfy { units[$0].flags == [.sync, .parameterSets] })
    let stamps = rig.stamps
    #expect(stamps.indices.allSatisfy { abs(stamps[$0] - Double($0) / 24) < 1e-6 })
  }

  @Test("the first unit comes at once, stamped on the glasses' own clock")
  func firstUnitAtOnce() {
    let deviceClock = DeviceClock(offset: .seconds(99), partsPerMillion: -50)
    let rig = PipelineRig(replays: true, deviceClock: deviceClock)
    rig.pipeline.start()
    rig.clock.settle()
    #expect(rig.units.map(\.captured) == [deviceClock.time(at: rig.clock.now)])
  }

  @Test("pipelines of the same feed, size, rate and bit rate share one loop and get identical bytes")
  func sharesLoops() {
    let cache = AccessUnitCache()
    let rigs = (0..<2).map { _ in PipelineRig(frameRate: 15, replays: true, cache: cache) }
    for rig in rigs {
      rig.pipeline.start()
      rig.clock.advance(by: .seconds(6))
    }
    #expect(cache.count == 1)
    #expect(rigs[0].units.map(\.payload) == rigs[1].units.map(\.payload))
    let others = [
      PipelineRig(frameRate: 7, replays: true, cache: cache),
      PipelineRig(size: PixelSize(width: 96, height: 64), frameRate: 15, replays: true, cache: cache),
      PipelineRig(frameRate: 15, replays: true, bitrate: .kilobitsPerSecond(3000), cache: cache),
    ]
    for rig in others {
      rig.pipeline.start()
      rig.clock.settle()
    }
    #expect(cache.count == 4)
  }

  @Test("a keyframe request goes on with the next sync unit of the loop, in step")
  func jumpsToSync() {
    let rig = PipelineRig(frameRate: 30, replays: true)
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(310))
    #expect(rig.units.count == 10)
    rig.pipeline.requestKeyframe()
    rig.clock.advance(by: .seconds(8))
    #expect(rig.syncIndices.prefix(3) == [0, 10, 40])
    let stamps = rig.stamps
    #expect(stamps.indices.allSatisfy { abs(stamps[$0] - Double($0) / 30) < 1e-6 })
    // Near the end of the loop, the next sync unit is its first.
    let last = PipelineRig(frameRate: 30, replays: true)
    last.pipeline.start()
    last.clock.advance(by: .milliseconds(3_510))
    last.pipeline.requestKeyframe()
    last.clock.advance(by: .milliseconds(30))
    #expect(last.units.last?.payload == last.units.first?.payload)
  }

  @Test("a step goes on with a sync unit of the new size and rate, in step; the target bit rate changes nothing")
  func steps() {
    let cache = AccessUnitCache()
    let large = PixelSize(width: 144, height: 256)
    let small = PixelSize(width: 64, height: 96)
    let rig = PipelineRig(size: large, frameRate: 30, replays: true, cache: cache)
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(2_510))
    let rung = Ladder.Rung(
      video: VideoParameters(codec: .hevc, size: small, frameRate: 15), bitrate: .kilobitsPerSecond(200))
    rig.pipeline.follow(rung, target: .kilobitsPerSecond(150))
    rig.clock.advance(by: .milliseconds(2_500))
    let units = rig.units
    #expect(units.prefix(76).allSatisfy { $0.video.size == large && $0.video.frameRate == 30 })
    #expect(units.dropFirst(76).allSatisfy { $0.video == rung.video })
    #expect(units[76].flags == [.sync, .parameterSets])
    #expect(rig.stamps[76...].indices.allSatisfy { abs(rig.stamps[$0] - 76.0 / 30 - Double($0 - 76) / 15) < 1e-6 })
    for step in 0..<50 {
      rig.pipeline.follow(rung, target: .bitsPerSecond(60_000 + Int64(step) * 1000))
      rig.clock.advance(by: .milliseconds(40))
    }
    #expect(cache.count == 2)
  }

  @Test("the cache lets go of what was not used for longest")
  func cacheIsBounded() {
    let cache = AccessUnitCache()
    for index in 0..<60 {
      let key = AccessUnitCache.Key(
        feed: .pattern, size: PixelSize(width: 64, height: 64), frameRate: UInt8(index),
        bitrate: .kilobitsPerSecond(100),
        writesPictureHashes: false)
      _ = cache.loop(for: key) { (size, rate) throws(SourceError) in try PatternSource(size: size, frameRate: rate) }
    }
    #expect(cache.count == AccessUnitCache.largestCount)
  }

  @Test("a file that was written anew is another feed")
  func fileIdentity() throws {
    let path = try MediaFactory.newPath("bin")
    #expect(FeedIdentity(.file(path: path)) == FeedIdentity(.file(path: path)))
    try Data([1, 2, 3]).write(to: URL(fileURLWithPath: path))
    let first = FeedIdentity(.file(path: path))
    #expect(first == FeedIdentity(.file(path: path)))
    try Data([1, 2, 3, 4]).write(to: URL(fileURLWithPath: path))
    #expect(FeedIdentity(.file(path: path)) != first)
    #expect(FeedIdentity(.pattern) != first)
  }

  @Test("unevenly spaced pictures keep their spacing through the loop")
  func keepsSpacing() {
    let times: [Duration] = [.zero, .milliseconds(100), .milliseconds(400), .milliseconds(450)]
    let rig = PipelineRig(frameRate: 30, replays: true) { (_, _) throws(SourceError) in
      SteppedSource(frameRate: 8, cycle: .milliseconds(500)) { index in
        .milliseconds(500) * Int(index / 4) + times[Int(index % 4)]
      }
    }
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(1_400))
    let expected = [0, 0.1, 0.4, 0.45, 0.5, 0.6, 0.9, 0.95, 1, 1.1, 1.4]
    #expect(zip(rig.stamps, expected).allSatisfy { abs($0 - $1) < 1e-9 } && rig.stamps.count == expected.count)
  }

  @Test("a failing source is told once, and the next pipeline tries anew")
  func failures() {
    let cache = AccessUnitCache()
    for _ in 0..<2 {
      let rig = PipelineRig(frameRate: 30, replays: true, cache: cache) { (_, _) throws(SourceError) in
        SteppedSource(frameRate: 30, failsFrom: 20)
      }
      rig.pipeline.start()
      rig.clock.advance(by: .seconds(3))
      #expect(rig.failures == [.source(.noPicture)])
      // One is made ahead, to know how long the one before it lasts.
      #expect(rig.units.count == 19)
      #expect(cache.count == 0)
    }
  }

  @Test("a photo shows what the loop shows, and a stop ends everything")
  func stillsAndStop() throws {
    let rig = PipelineRig(frameRate: 30, replays: true)
    let numbers = Mutex<[UInt32?]>([])
    rig.pipeline.start()
    // 5.01 s: a second into the second round of 4 s.
    rig.clock.advance(by: .milliseconds(5_010))
    rig.pipeline.takeStill { result in
      let number = (try? result.get()).flatMap { PatternReader.read($0.buffer)?.mark.frameNumber }
      numbers.withLock { $0.append(number) }
    }
    rig.clock.settle()
    #expect(numbers.withLock { $0 } == [30])
    rig.pipeline.stop()
    let count = rig.units.count
    rig.clock.advance(by: .seconds(2))
    #expect(rig.units.count == count && count == 151)
  }
}
