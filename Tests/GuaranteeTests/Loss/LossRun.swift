import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import PortableMedia
import Synchronization
import TestSupport
import Testing
import Units

/// One way a stream is tried: what it carries, how far away the glasses are, and whether they do as they are asked.
struct LossCase: CustomTestStringConvertible, Sendable {
  var codec: VideoCodec
  /// One way.
  var latency: Duration = .zero
  var honoursRequests = true
  /// Of the source, when nobody asks.
  var keyframeInterval: Duration = .seconds(3)
  var chunkPayload = 512
  var firstSequence: UInt32 = 0
  var seed: UInt64 = 1
  /// Whether the stream's decoder trusts no picture without its hash, which costs it a second look at each.
  var verifiesPictures = false

  var testDescription: String {
    "\(codec), \(Int(latency.milliseconds)) ms away, requests \(honoursRequests ? "honoured" : "ignored"), seed \(seed)"
  }

  /// Each codec, near and far, with a source that honours requests and one that doesn't.
  static let all: [LossCase] = [VideoCodec.raw, .hvc1].flatMap { codec in
    [Duration.zero, .milliseconds(40)].flatMap { latency in
      [true, false].map { LossCase(codec: codec, latency: latency, honoursRequests: $0) }
    }
  }
}

/// A stream on a link with faults, by hand, with all that its listeners saw and all that the glasses had sent.
struct LossRun {
  struct Frame: Sendable {
    let presentation: Instant
    let delivered: Instant
    let isKeyframe: Bool
    let isDiscontinuity: Bool
    /// Of the decoded picture; of a compressed one, by our public decoder; empty when it gives none.
    let picture: [UInt8]
    /// Of a compressed sample: parameter sets and NAL units as on the link.
    let payload: [UInt8]
  }

  let test: LossCase
  let stream: MWDATCamera.Stream
  let glasses: SimulatedGlasses
  let clock: ManualTimekeeper
  let tape: SentTape
  let frames = Observed<Frame>()
  let health = Observed<StreamHealthEvent>()
  let states = Observed<StreamState>()
  private let tokens = ListenerTokenBag()

  static let frameRate: UInt = 15
  static let interval: Duration = .nanoseconds(1_000_000_000 / 15)

  /// Brings a stream to `.streaming`, lets it run for a while, and hands it over.
  ///
  /// - Parameter listens: to frames, from the start; else by `listenToFrames`.
  static func with(_ test: LossCase, listens: Bool = true, _ body: (LossRun) async throws -> Void) async throws {
    var limits = LinkLimits()
    limits.chunkPayload = test.chunkPayload
    limits.firstSequence = test.firstSequence
    MWDATCamera.Stream.verifiesPictures = test.verifiesPictures
    defer { MWDATCamera.Stream.verifiesPictures = false }
    try await withGlassesByHand(writesPictureHashes: true, limits: limits, seed: test.seed) { glasses, clock in
      glasses.agent.faults.ignoresKeyframeRequests = !test.honoursRequests
      glasses.agent.faults.keyframeInterval = test.keyframeInterval
      let tape = SentTape(glasses, clock)
      let session = try startedSession(with: glasses, clock)
      for direction in LinkConditioner.Direction.allCases {
        glasses.link.setLatency(test.latency, direction)
      }
      let configuration = StreamConfiguration(videoCodec: test.codec, resolution: .low, frameRate: frameRate)
      let camera = try #require(try session.addCamera(config: configuration))
      let run = LossRun(test: test, stream: camera.stream, glasses: glasses, clock: clock, tape: tape)
      run.listen()
      if listens { try run.listenToFrames() }
      run.stream.start()
      try await run.waitForStreaming()
      clock.advance(by: .milliseconds(500))
      try await body(run)
    }
  }

  func listenToFrames() throws {
    let frames = frames
    let clock = clock
    let decoder = try HEVCDecoder()
    stream.videoFramePublisher.listen { frames.record(Frame($0, at: clock.now, decoder)) }.store(in: tokens)
  }

  private func listen() {
    stream.healthPublisher.listen { [health] in health.record($0) }.store(in: tokens)
    stream.statePublisher.listen { [states] in states.record($0) }.store(in: tokens)
  }

  /// The permission is asked for in a task, which runs when it likes.
  private func waitForStreaming() async throws {
    for _ in 0..<10_000 where stream.state != .streaming {
      clock.advance(by: .microseconds(200))
      await Task.yield()
    }
    try #require(stream.state == .streaming)
  }

  // MARK: - What came of it

  /// Compares each frame with the decode without losses, by presentation time: the frames that differ or belong to
  /// nothing that was sent.
  func wrongFrames() throws -> [Frame] {
    let entries = tape.entries
    let reference = try SentTape.reference(entries)
    return frames.values.filter { frame in
      guard let index = SentTape.index(of: frame.presentation, in: entries) else { return true }
      return reference[index] != frame.picture
    }
  }

  /// What holds after any loss, whatever it was (LOSS-1, LOSS-2, LOSS-3).
  func expectCleanRecovery() throws {
    let entries = tape.entries
    let frames = frames.values
    let wrong = try wrongFrames()
    #expect(wrong.isEmpty, "\(wrong.count) of \(frames.count) pictures are wrong: \(test.testDescription)")
    // Rising, each once, and what follows a hole is a keyframe with the mark.
    let places = frames.compactMap { SentTape.index(of: $0.presentation, in: entries) }
    #expect(places.count == frames.count)
    for (frame, (previous, place)) in zip(frames.dropFirst(), zip(places, places.dropFirst())) {
      #expect(place > previous)
      guard place != previous + 1 else { continue }
      #expect(frame.isDiscontinuity, "a frame after a hole is not marked")
      #expect(entries[place].isSync, "a frame after a hole is no sync unit")
    }
    #expect(stream.statistics.drops.undecodable == 0)
    expectPromptRequests()
  }

  /// Each gap is followed by a request within 100 ms, and each wait by word of how much was withheld.
  private func expectPromptRequests() {
    let health = health.values
    let requests = health.filter { $0.kind == .keyframeRequested }.map(\.hostNanoseconds)
    let arrivals = health.filter { $0.kind == .keyframeArrived }.map(\.hostNanoseconds)
    for gap in health where gap.kind == .unitsLost {
      let end = arrivals.first { $0 >= gap.hostNanoseconds } ?? .max
      let isAsked = requests.contains { (gap.hostNanoseconds...gap.hostNanoseconds + 100_000_000).contains($0) }
      // One that began during a wait is served by that wait's requests; one that a sync unit ends needs none.
      let wasWaiting = requests.contains { $0 <= gap.hostNanoseconds && gap.hostNanoseconds - $0 < 700_000_000 }
      #expect(isAsked || wasWaiting || end == gap.hostNanoseconds, "no request within 100 ms of a gap")
    }
  }

  /// Frames came until the end: the last one is no older than a few intervals and a way.
  func expectRunning() throws {
    let last = try #require(frames.values.last)
    #expect(clock.now - last.delivered <= .milliseconds(100), "the stream stands")
    #expect(stream.state == .streaming)
  }

  /// How long nothing was delivered at the longest, and what came after it.
  func longestHole(after start: Instant) -> (length: Duration, next: Frame)? {
    let late = frames.values.filter { $0.delivered >= start - .milliseconds(50) }
    return zip(late, late.dropFirst()).map { ($1.delivered - $0.delivered, $1) }.max { $0.0 < $1.0 }
  }
}

extension LossRun.Frame {
  init(_ frame: VideoFrame, at now: Instant, _ decoder: HEVCDecoder) {
    let sample = frame.sampleBuffer
    presentation = Instant(nanoseconds: CMSampleBufferGetPresentationTimeStamp(sample).value)
    delivered = now
    isKeyframe = frame.isKeyframe
    isDiscontinuity = frame.isDiscontinuity
    if let picture = CMSampleBufferGetImageBuffer(sample) {
      self.picture = PictureDigest.of(picture)
      payload = []
    } else {
      let decoded = try? decoder.decode(sample)
      picture = decoded.map { PictureDigest.of($0) } ?? []
      payload = Self.payload(sample, isKeyframe: frame.isKeyframe)
    }
  }

  private static func payload(_ sample: CMSampleBuffer, isKeyframe: Bool) -> [UInt8] {
    guard let data = CMSampleBufferGetDataBuffer(sample), let format = CMSampleBufferGetFormatDescription(sample) else {
      return []
    }
    var bytes = [UInt8](repeating: 0, count: CMBlockBufferGetDataLength(data))
    CMBlockBufferCopyDataBytes(data, atOffset: 0, dataLength: bytes.count, destination: &bytes)
    guard isKeyframe else { return bytes }
    let sets = format.parameterSetUnits.flatMap { set in
      (0..<4).map { UInt8(truncatingIfNeeded: set.count >> (24 - 8 * $0)) } + set
    }
    return sets + bytes
  }
}
