import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// The health channel: each kind of event by what causes it, and figures at any moment.
@Suite(.exclusive(.mockKit))
struct HealthTests {
  /// A running stream with its health events.
  private func withHealth(
    _ codec: VideoCodec = .hvc1, rate: UInt = 30, verifiesPictures: Bool = false, deviceClock: DeviceClock = .identity,
    _ test: (SimulatedGlasses, ManualTimekeeper, MWDATCamera.Stream, Observed<StreamHealthEvent>) async throws -> Void
  ) async throws {
    MWDATCamera.Stream.verifiesPictures = verifiesPictures
    defer { MWDATCamera.Stream.verifiesPictures = false }
    try await withGlassesByHand(writesPictureHashes: verifiesPictures) { first, clock in
      var glasses = first
      if deviceClock != .identity {
        first.powerOff()
        glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: deviceClock)
        glasses.powerOn()
        glasses.don()
      }
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: rate)
      let camera = try #require(try session.addCamera(config: configuration))
      let events = Observed<StreamHealthEvent>()
      let tokens = ListenerTokenBag()
      camera.stream.healthPublisher.listen { events.record($0) }.store(in: tokens)
      camera.stream.videoFramePublisher.listen { _ in }.store(in: tokens)
      camera.stream.start()
      for _ in 0..<10_000 where camera.stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      clock.walk(.seconds(1))
      try await test(glasses, clock, camera.stream, events)
      for event in events.values {
        #expect(event.hostNanoseconds > 0 && event.hostNanoseconds <= clock.now.nanoseconds)
        #expect(event.description.contains(" s \(event.kind.rawValue)"))
        let stored = try JSONEncoder().encode(event)
        #expect(try JSONDecoder().decode(StreamHealthEvent.self, from: stored) == event)
      }
      let times = events.values.map(\.hostNanoseconds)
      #expect(times == times.sorted(), "in the order in which they happened")
      tokens.clear()
      session.stop()
    }
  }

  private func kinds(_ events: Observed<StreamHealthEvent>, after count: Int = 0) -> [StreamHealthEvent.Kind] {
    events.values.dropFirst(count).map(\.kind)
  }

  @Test("HEALTH-1: what was agreed is told at the start, and what the start waited for")
  func start() async throws {
    try await withHealth { _, _, stream, events in
      #expect(kinds(events) == [.waiting, .negotiated])
      #expect(events.values.last?.video == stream.negotiatedConfiguration)
      #expect(events.values.last?.description.hasSuffix("negotiated: 360x640 at 30/s") == true)
    }
  }

  @Test("HEALTH-1: a lost unit is told with what it costs, and the keyframe that was asked for and came")
  func loss() async throws {
    try await withHealth { glasses, clock, stream, events in
      let before = events.values.count
      glasses.link.apply(.drop, to: .unit, .range(0..<3), on: .video, syncOnly: false)
      clock.walk(.seconds(1))
      let loss = events.values.dropFirst(before)
      #expect(loss.map(\.kind) == [.unitsLost, .keyframeRequested, .keyframeArrived])
      #expect(loss.map(\.count) == [3, nil, nil])
      let arrived = try #require(loss.last)
      let statistics = stream.statistics
      #expect(arrived.withheld == statistics.drops.withheld)
      #expect(statistics.drops.lost == 3)
      #expect(statistics.gaps == 1)
      #expect(loss.dropFirst().first?.text == "loss")
    }
  }

  @Test("HEALTH-1: a stall is told with its start and length, when it begins and when it ends")
  func stall() async throws {
    try await withHealth { glasses, clock, stream, events in
      let before = events.values.count
      let last = clock.now
      glasses.link.mute(.video)
      clock.walk(.seconds(3))
      glasses.link.unmute(.video)
      clock.walk(.seconds(1))
      let stall = events.values.dropFirst(before).filter { $0.kind == .stallBegan || $0.kind == .stallEnded }
      #expect(stall.map(\.kind) == [.stallBegan, .stallEnded])
      let (began, ended) = (try #require(stall.first), try #require(stall.last))
      #expect(began.length == .seconds(1))
      #expect(began.startHostNanoseconds == ended.startHostNanoseconds)
      #expect(abs((began.startHostNanoseconds ?? 0) - last.nanoseconds) < 40_000_000)
      #expect(ended.length == stream.statistics.recentStalls.last?.length)
      // It is told when its time is over.
      #expect(began.deadlineHostNanoseconds == began.hostNanoseconds + 10_000_000_000)
      #expect(began.description.contains("stallBegan: no pictures for 1.000 s, until "))
    }
  }

  @Test("HEALTH-1: a link that does not answer is told, and that it answers again")
  func reconnecting() async throws {
    try await withHealth { glasses, clock, stream, events in
      let before = events.values.count
      glasses.link.hold(.toApp)
      glasses.link.hold(.toGlasses)
      clock.walk(.milliseconds(3200))
      #expect(stream.state == .waitingForDevice)
      glasses.link.release(.toApp)
      glasses.link.release(.toGlasses)
      clock.walk(.seconds(2))
      #expect(stream.state == .streaming)
      let told = events.values.dropFirst(before)
      let about: [StreamHealthEvent.Kind] = [.stallBegan, .reconnecting, .waiting, .reconnected, .stallEnded]
      #expect(told.map(\.kind).filter { about.contains($0) } == about)
      #expect(told.first { $0.kind == .waiting }?.text == "silentLink")
      let deadline = try #require(told.first { $0.kind == .stallBegan }?.deadlineHostNanoseconds)
      for kind in [StreamHealthEvent.Kind.reconnecting, .waiting] {
        #expect(told.first { $0.kind == kind }?.deadlineHostNanoseconds == deadline)
      }
      #expect(told.first { $0.kind == .reconnecting }?.description.contains(" at most") == true)
      let silence = try #require(told.first { $0.kind == .reconnected }?.length)
      #expect(silence > .milliseconds(500))
    }
  }

  @Test("HEALTH-1: a pause is told with its reason, and that pictures come again")
  func pause() async throws {
    try await withHealth { glasses, clock, stream, events in
      let before = events.values.count
      glasses.services.captouch.tap()
      clock.walk(.seconds(5))
      #expect(stream.state == .paused)
      glasses.services.captouch.tap()
      clock.walk(.seconds(1))
      let told = events.values.dropFirst(before)
      let about: [StreamHealthEvent.Kind] = [.paused, .resumed]
      #expect(told.map(\.kind).filter { about.contains($0) } == about)
      #expect(told.first { $0.kind == .paused }?.text == "wearer")
      #expect(stream.statistics.stalls == 0)
    }
  }

  @Test("HEALTH-1: a listener that falls behind is told with how many frames it missed, once a second at most")
  func listenerBehind() async throws {
    try await withHealth { glasses, clock, stream, events in
      // What was held comes at one moment: more than may wait for one listener.
      glasses.link.hold(.toApp)
      clock.walk(.milliseconds(2500))
      glasses.link.release(.toApp)
      clock.walk(.seconds(2))
      let told = events.values.filter { $0.kind == .listenerBehind }
      #expect(!told.isEmpty)
      #expect(told.allSatisfy { ($0.count ?? 0) > 0 })
      #expect(told.reduce(0) { $0 + ($1.count ?? 0) } == stream.statistics.drops.listeners)
      let times = told.map(\.hostNanoseconds)
      #expect(zip(times, times.dropFirst()).allSatisfy { $1 - $0 >= 1_000_000_000 })
    }
  }

  @Test("HEALTH-1: a decoder that has no time is told with how many units it cost")
  func decoderBehind() async throws {
    try await withHealth(.raw) { glasses, clock, stream, events in
      glasses.link.hold(.toApp)
      clock.walk(.milliseconds(2500))
      glasses.link.release(.toApp)
      clock.walk(.seconds(2))
      let told = events.values.filter { $0.kind == .decoderBehind }
      #expect(!told.isEmpty)
      #expect(told.reduce(0) { $0 + ($1.count ?? 0) } == stream.statistics.drops.decoderBehind)
      #expect(stream.state == .streaming)
    }
  }

  @Test("HEALTH-1: a unit that can't be decoded is told in words, with the keyframe that is asked for and comes")
  func decoderFailed() async throws {
    try await withHealth(.raw, verifiesPictures: true) { glasses, clock, stream, events in
      let before = events.values.count
      glasses.link.apply(.corrupt, to: .unit, .next(0), on: .video, syncOnly: false)
      clock.walk(.seconds(1))
      let told = events.values.dropFirst(before)
      #expect(told.map(\.kind) == [.decoderFailed, .keyframeRequested, .keyframeArrived])
      #expect(told.first?.text?.isEmpty == false)
      #expect(stream.statistics.drops.undecodable == 1)
      #expect(stream.state == .streaming)
    }
  }

  @Test("HEALTH-1: keyframes that can't be decoded, and the end of the stream by the third, are told with the cause")
  func failed() async throws {
    try await withHealth(.raw, verifiesPictures: true) { glasses, clock, stream, events in
      let before = events.values.count
      glasses.link.apply(.corrupt, to: .unit, .all, on: .video)
      clock.walk(.seconds(5))
      #expect(stream.state == .stopped)
      let told = events.values.dropFirst(before)
      #expect(told.filter { $0.kind == .decoderFailed }.count >= 3)
      #expect(told.filter { $0.kind == .failed }.count == 1)
      let last = try #require(told.last)
      #expect(last.kind == .failed)
      #expect(last.error?.name == "stream.videoStreamingError")
      #expect(last.error?.stage == .stream)
      #expect(last.text == told.last { $0.kind == .decoderFailed }?.text, "the cause is there in words")
    }
  }

  @Test("HEALTH-1: a clock that doesn't keep time is aligned anew, told with by how much")
  func clockRealigned() async throws {
    try await withHealth(deviceClock: DeviceClock(offset: .seconds(500), partsPerMillion: 80_000)) {
      _, clock, stream, events in
      clock.walk(.seconds(20))
      let told = events.values.filter { $0.kind == .clockRealigned }
      #expect(!told.isEmpty)
      #expect(told.allSatisfy { $0.length.map { $0 != .zero && abs($0.seconds) < 2 } == true })
      #expect(stream.state == .streaming)
    }
  }

  @Test("HEALTH-1: a photo that fails is told with the cause, beside the error")
  func photoFailed() async throws {
    try await withHealth { glasses, clock, stream, events in
      glasses.agent.faults.photo = .failure(.photoFailed)
      #expect(stream.capturePhoto(format: .jpeg))
      clock.walk(.seconds(1))
      let told = try #require(events.values.first { $0.kind == .photoFailed })
      #expect(told.error?.name == "stream.photoCaptureFailed")
      #expect(told.text?.isEmpty == false)
    }
  }

  @Test("HEALTH-1: figures can be read in every state, before the first start and after the end, and only grow")
  func statistics() async throws {
    var readAfterwards: MWDATCamera.Stream?
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(
        try session.addCamera(config: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 30)))
      let stream = camera.stream
      readAfterwards = stream
      #expect(stream.statistics.frames == 0 && stream.statistics.ageP50 == nil)
      let token = stream.videoFramePublisher.listen { _ in }
      var last = stream.statistics
      func look() {
        let now = stream.statistics
        #expect(now.frames >= last.frames && now.units >= last.units && now.bytes >= last.bytes)
        #expect(now.stalls >= last.stalls && now.stalledTime >= last.stalledTime)
        #expect(now.keyframes >= last.keyframes && now.keyframeRequests >= last.keyframeRequests)
        #expect(now.drops.total >= last.drops.total && now.gaps >= last.gaps)
        #expect(now.recentStalls.count <= 16)
        last = now
      }
      stream.start()
      for step in 0..<300 {
        clock.advance(by: .milliseconds(50))
        await Task.yield()
        look()
        switch step {
        case 40:
          #expect((29...31).contains(last.framesPerSecond))
          #expect(last.bitsPerSecond > 1000)
          #expect(last.ageP50 != nil && last.ageP95 != nil && last.firstFrame != nil)
          glasses.link.mute(.video)
        case 100:
          #expect(last.framesPerSecond == 0 && last.stalls == 1)
          #expect(last.recentStalls.last?.isOver == false)
          glasses.link.unmute(.video)
        case 140: glasses.services.captouch.tap()
        case 160: glasses.services.captouch.tap()
        case 200: stream.stop()
        case 240: stream.start()
        default: break
        }
      }
      #expect(last.starts == 2)
      session.stop()
      clock.walk(.seconds(1))
      look()
      withExtendedLifetime(token) {}
    }
    let after = try #require(readAfterwards).statistics
    #expect(after.frames > 100 && after.stalls == 1 && after.recentStalls.count == 1)
  }

  @Test("HEALTH-1: figures can be read from any thread while a stream runs")
  func threads() async throws {
    try await withHealth { _, clock, stream, _ in
      let reads = Counter()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            var last: UInt64 = 0
            for _ in 0..<1000 {
              let now = stream.statistics
              #expect(now.frames >= last)
              last = now.frames
              reads.add()
            }
          }
        }
        for _ in 0..<100 {
          clock.advance(by: .milliseconds(50))
          await Task.yield()
        }
        try await group.waitForAll()
      }
      #expect(reads.value == 3000)
    }
  }
}
