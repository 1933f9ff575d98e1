import LinkProtocol
import MediaEngine
import PortableMedia
import Synchronization
import Testing
import Units

@testable import GlassesAgent

@Suite("Video pipeline, live")
struct LivePipelineTests {
  @Test("the first picture is captured and encoded at once, as a sync unit with its parameter sets")
  func firstUnitAtOnce() throws {
    let rig = PipelineRig()
    rig.pipeline.start()
    rig.clock.settle()
    let unit = try #require(rig.units.first)
    #expect(rig.units.count == 1)
    #expect(unit.flags == [.sync, .parameterSets])
    #expect(unit.video.size == PixelSize(width: 64, height: 96))
    #expect(unit.payload[4] >> 1 & 0x3F == 32)
    let accessUnit = unit.accessUnit(stream: StreamID(3))
    #expect(accessUnit.stream == StreamID(3) && accessUnit.codec == .hevc && accessUnit.payload == unit.payload)
  }

  /// PERF-1
  @Test(
    "delivers the lower of the source's and the requested rate, evenly",
    arguments: [12.5, 24, 25, 30, 60], [2, 7, 15, 24, 30] as [UInt8])
  func cadence(source: Double, requested: UInt8) {
    let rig = PipelineRig(frameRate: requested) { (_, _) throws(SourceError) in SteppedSource(frameRate: source) }
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(20))
    let expected = 20 * min(source, Double(requested))
    #expect(abs(Double(rig.units.count) - expected) <= max(expected * 0.03, 1), "\(rig.units.count) of \(expected)")
    let gaps = zip(rig.stamps, rig.stamps.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 > 0 && $0 <= 2 / min(source, Double(requested)) + 1e-6 })
    #expect(rig.pipeline.statistics.dropped == 0)
  }

  @Test("units are stamped with the time of capture on the glasses' own clock")
  func stampsOnDeviceClock() {
    let deviceClock = DeviceClock(offset: .seconds(-12_345), partsPerMillion: 200)
    let rig = PipelineRig(frameRate: 15, deviceClock: deviceClock)
    rig.clock.advance(by: .milliseconds(777))
    let start = rig.clock.now
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(2))
    #expect(rig.units.count == 31)
    for (index, unit) in rig.units.enumerated() {
      let expected = deviceClock.time(at: start + .seconds(Double(index) / 15))
      #expect(abs((unit.captured - expected).nanoseconds) <= 2)
    }
  }

  @Test("sync units come every two seconds, and at the next picture after a request")
  func syncUnits() {
    let rig = PipelineRig(frameRate: 30)
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(3_010))
    rig.pipeline.requestKeyframe()
    rig.pipeline.requestKeyframe()
    rig.clock.advance(by: .seconds(3))
    #expect(rig.syncIndices == [0, 60, 91, 151])
    #expect(rig.units.allSatisfy { $0.flags == ($0.flags.contains(.sync) ? [.sync, .parameterSets] : []) })
    #expect(rig.pipeline.statistics.syncUnits == 4)
  }

  @Test("a new bit rate shows in the units' sizes")
  func changesBitrate() {
    let rig = PipelineRig(size: PixelSize(width: 360, height: 640), frameRate: 30, bitrate: .kilobitsPerSecond(1200))
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(1_990))
    rig.pipeline.follow(rig.pipeline.rung, target: .kilobitsPerSecond(150))
    rig.clock.advance(by: .milliseconds(2_000))
    let sizes = rig.units.map(\.payload.count)
    let before = sizes[30..<60].reduce(0, +)
    let after = sizes[70..<110].reduce(0, +)
    #expect(after < before / 2, "\(before) and \(after) bytes")
  }

  @Test("a step goes on with a sync unit of the new size at the new rate, and nothing is lost or doubled on the way")
  func steps() {
    let top = PixelSize(width: 144, height: 256)
    let rig = PipelineRig(size: top, frameRate: 30)
    let video = VideoParameters(codec: .hevc, size: PixelSize(width: 64, height: 96), frameRate: 15)
    let rung = Ladder.Rung(video: video, bitrate: .kilobitsPerSecond(200))
    let first = rig.pipeline.rung
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(1_010))
    rig.pipeline.follow(rung, target: .kilobitsPerSecond(180))
    rig.clock.advance(by: .seconds(2))
    rig.pipeline.follow(first, target: first.bitrate)
    rig.clock.advance(by: .seconds(1))
    let units = rig.units
    let below = units.indices.filter { units[$0].video == video }
    #expect(below.first == 31 && (28...31).contains(below.count), "\(below)")
    #expect(below == Array(31..<31 + below.count))
    #expect(rig.syncIndices == [0, 31, 31 + below.count])
    #expect(units.allSatisfy { $0.video == video || $0.video == first.video })
    // Around a step too no gap is longer than two intervals of the slower rate.
    let gaps = zip(rig.stamps, rig.stamps.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 > 0 && $0 < 2.0 / 15 + 1e-6 }, "\(gaps)")
    #expect(rig.pipeline.statistics.dropped == 0)
  }

  @Test("a source keeps its even pace on every step of the rate", arguments: [24, 30, 60] as [Double])
  func stepsOfTheRate(source: Double) {
    let rig = PipelineRig(frameRate: 30) { (_, _) throws(SourceError) in SteppedSource(frameRate: source) }
    let first = rig.pipeline.rung
    rig.pipeline.start()
    for frameRate: UInt8 in [30, 24, 15, 24] {
      var rung = first
      rung.video.frameRate = frameRate
      rig.pipeline.follow(rung, target: rung.bitrate)
      rig.clock.advance(by: .milliseconds(100))
      let before = rig.units.count
      rig.clock.advance(by: .seconds(10))
      let expected = 10 * min(source, Double(frameRate))
      #expect(abs(Double(rig.units.count - before) - expected) <= 2, "\(rig.units.count - before) of \(expected)")
    }
  }

  /// LIFE-1
  @Test("once stopped nothing is emitted, source and lanes are let go, and stopping again is harmless")
  func stops() {
    let opened = Mutex<WeakSource?>(nil)
    let rig = PipelineRig { (_, _) throws(SourceError) in
      let source = SteppedSource(frameRate: 30)
      opened.withLock { $0 = WeakSource(source) }
      return source
    }
    rig.pipeline.start()
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(1))
    #expect(opened.withLock { $0?.source } != nil)
    rig.pipeline.stop()
    let count = rig.units.count
    #expect(count == 25)
    rig.pipeline.requestKeyframe()
    rig.pipeline.stop()
    rig.clock.advance(by: .seconds(5))
    #expect(rig.units.count == count)
    #expect(rig.failures.isEmpty)
    #expect(opened.withLock { $0?.source } == nil)
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(1))
    #expect(rig.units.count == count)
  }

  @Test("a pipeline that is dropped without a stop ends by itself")
  func endsWhenDropped() {
    let clock = ManualTimekeeper()
    let count = Mutex(0)
    let opened = Mutex<WeakSource?>(nil)
    do {
      let pipeline = VideoPipeline(
        .init(
          feed: .pattern, video: .init(codec: .hevc, size: PixelSize(width: 64, height: 96), frameRate: 24),
          replaysCachedUnits: false),
        timekeeper: clock, deviceClock: .identity,
        openSource: { (_, _) throws(SourceError) in
          let source = SteppedSource(frameRate: 30)
          opened.withLock { $0 = WeakSource(source) }
          return source
        },
        emit: { _ in count.withLock { $0 += 1 } }, failed: { _ in })
      pipeline.start()
      clock.advance(by: .seconds(1))
    }
    let before = count.withLock { $0 }
    clock.advance(by: .seconds(2))
    #expect(before == 25)
    #expect(count.withLock { $0 } == before)
    #expect(opened.withLock { $0?.source } == nil)
  }

  @Test("a source that can't be opened, or fails later, is told once with its reason, after the last unit")
  func failures() {
    let unopened = PipelineRig { (_, _) throws(SourceError) in
      throw .file(MediaError(.notMedia, while: .opening, path: "/films/note.mp4"))
    }
    unopened.pipeline.start()
    unopened.clock.advance(by: .seconds(1))
    #expect(unopened.units.isEmpty)
    #expect(unopened.failures.map(\.text) == ["/films/note.mp4: not a media file"])
    #expect(unopened.failures.map(\.code) == [.sourceFailed])

    let failing = PipelineRig { (_, _) throws(SourceError) in SteppedSource(frameRate: 30, failsFrom: 15) }
    failing.pipeline.start()
    failing.clock.advance(by: .seconds(2))
    #expect(failing.failures == [.source(.noPicture)])
    #expect(failing.units.count == 12)
    failing.pipeline.stop()
    failing.clock.advance(by: .seconds(1))
    #expect(failing.failures.count == 1)
  }

  @Test("a size that the encoder refuses is an encoder failure")
  func encoderFailure() {
    let rig = PipelineRig(size: PixelSize(width: 32, height: 32)) { (_, _) throws(SourceError) in
      SteppedSource(frameRate: 30)
    }
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(1))
    #expect(rig.failures.map(\.code) == [.encoderFailed])
    #expect(rig.units.isEmpty)
  }

  @Test("a photo shows the picture captured last, at the source's full size, and the stream goes on")
  func stills() throws {
    let rig = PipelineRig(frameRate: 30)
    let stills = Mutex<[Result<VideoPipeline.Still, VideoPipeline.StillFailure>]>([])
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(1_010))
    rig.pipeline.takeStill { result in stills.withLock { $0.append(result) } }
    rig.clock.advance(by: .seconds(1))
    let still = try #require(try stills.withLock { $0 }.first?.get())
    #expect(still.buffer.pixelWidth == PatternSource.stillSize.width)
    #expect(PatternReader.read(still.buffer)?.mark.frameNumber == 30)
    #expect(still.captured == rig.units[30].captured)
    #expect(rig.units.count == 61)
  }

  /// PHOTO-1
  @Test("a photo is answered exactly once, also before the start, after a stop, and by a stop")
  func stillsAreAnswered() {
    let rig = PipelineRig()
    let answers = Mutex<[Int: Int]>([:])
    func take(_ number: Int) {
      rig.pipeline.takeStill { result in
        if case .failure(.stopped) = result { answers.withLock { $0[number, default: 0] += 1 } }
      }
    }
    take(0)
    rig.pipeline.start()
    rig.clock.settle()
    take(1)
    rig.pipeline.stop()
    rig.clock.settle()
    take(2)
    #expect(answers.withLock { $0 } == [0: 1, 1: 1, 2: 1])
  }

  @Test("a busy encoder gets the newest picture; those it missed are counted")
  func newestWins() {
    let gates = GatedTimekeeper.Gates()
    let rig = PipelineRig(frameRate: 30, wrap: { GatedTimekeeper($0, gates: gates, closing: "encode") })
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(200))
    #expect(rig.units.isEmpty)
    gates.open()
    rig.clock.settle()
    #expect(rig.units.count == 1)
    #expect(rig.pipeline.statistics.captured == 7)
    #expect(rig.pipeline.statistics.dropped == 6)
    rig.clock.advance(by: .seconds(1))
    #expect(rig.stamps.prefix(2) == [0, rig.stamps[1]])
    #expect(rig.units.count == 31)
  }

  @Test("a source slower than real time plays slowed down, without growing late")
  func slowSource() {
    let elapsed = SlowedTimekeeper.Extra()
    let rig = PipelineRig(
      frameRate: 24, source: { (_, _) throws(SourceError) in SlowSource(elapsed) },
      wrap: { SlowedTimekeeper($0, extra: elapsed) })
    rig.pipeline.start()
    for _ in 0..<100 { rig.clock.advance(by: .milliseconds(10)) }
    #expect(rig.pipeline.statistics.sourceDelays > 0)
    let stamps = rig.stamps
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    let now = DeviceClock.identity.time(at: rig.clock.now + elapsed.value)
    let lag = rig.units.last.map { now - $0.captured } ?? .seconds(100)
    #expect(lag < .seconds(1), "\(lag)")
  }
}

private struct WeakSource {
  weak var source: SteppedSource?
  init(_ source: SteppedSource) { self.source = source }
}
