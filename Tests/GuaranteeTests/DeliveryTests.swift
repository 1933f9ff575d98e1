import Dispatch
import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Testing
import Units

/// What listeners of frames do to one another, and what becomes of frames that are kept.
@Suite(.exclusive(.mockKit))
struct DeliveryTests {
  private static let frameRate = 24

  private static func configuration(_ codec: VideoCodec) -> StreamConfiguration {
    StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: UInt(frameRate))
  }

  @Test(
    "STALL-5: listeners that keep every frame, take half a second for each, or never return cost the others nothing",
    .exclusive(.processor), arguments: [VideoCodec.raw, .hvc1])
  func badNeighbours(codec: VideoCodec) async throws {
    try await withGlasses { glasses in
      // When each unit was captured, as it left for the link.
      let sent = Observed<DeviceTime>()
      try #require(glasses as? SimulatedGlasses).agent.observeUnits { sent.record($0.captured) }
      let session = try await startedSession(with: glasses)
      let stream = try #require(try session.addCamera(config: Self.configuration(codec))).stream
      let tokens = ListenerTokenBag()
      let kept = Mutex<[VideoFrame]>([])
      stream.videoFramePublisher.listen { frame in kept.withLock { $0.append(frame) } }.store(in: tokens)
      let slow = Observed<WatchedStream.Frame>()
      let pause = DispatchSemaphore(value: 0)
      stream.videoFramePublisher.listen { frame in
        slow.record(WatchedStream.Frame(frame))
        // Slow on purpose: waits for what never comes.
        _ = pause.wait(timeout: .now() + 0.5)
      }.store(in: tokens)
      let gate = DispatchSemaphore(value: 0)
      stream.videoFramePublisher.listen { _ in gate.wait() }.store(in: tokens)
      let watched = WatchedStream(stream)
      stream.start()
      try await watched.wait(forFrames: Self.neighboursFrames)
      try await expectNearlyAll(sent.values, at: watched)

      let listeners = stream.frameListeners
      #expect(listeners.map(\.number) == [1, 2, 3, 4])
      #expect(listeners[0].dropped == 0)
      #expect(listeners[1].dropped > Self.frameRate)
      #expect(listeners[2].delivered == 1)
      #expect(listeners[2].dropped >= Self.neighboursFrames - 1 - 32 - 2)
      #expect(listeners[3].dropped == 0)
      let sum = listeners.reduce(0) { $0 + $1.dropped }
      #expect(stream.statistics.drops.listeners >= UInt64(sum))
      if codec == .hvc1 { try expectDecodable(slow.values, of: watched.frames.values) }

      // One listener still stands in its closure.
      stream.stop()
      try await watched.wait(for: .stopped, within: .seconds(2))
      #expect(watched.errors.isEmpty)
      gate.signal()
      await tokens.cancelAll()
    }
  }

  /// Three seconds: beyond what waits for a listener that takes half a second for each.
  private static let neighboursFrames = 3 * frameRate

  /// Of what had been sent by now, as much as is promised comes; how many pictures glasses encode on a busy machine is
  /// another matter. The glasses' clock is this host's, give or take what aligning the two may err by.
  private func expectNearlyAll(_ sent: [DeviceTime], at watched: WatchedStream) async throws {
    let end = try #require(sent.last).nanoseconds + 500_000_000 / Int64(Self.frameRate)
    try await watched.frames.wait("what came after it") { $0.contains { $0.presentation.value > end } }
    let heard = watched.frames.values.count { $0.presentation.value <= end }
    #expect(Double(heard) >= 0.97 * Double(sent.count), "\(heard) of \(sent.count)")
  }

  /// Each frame follows the one before it in the stream, or is a sync frame; and something was left out.
  private func expectDecodable(_ heard: [WatchedStream.Frame], of all: [WatchedStream.Frame]) throws {
    var skips = 0
    for (before, frame) in zip(heard, heard.dropFirst()) {
      let place = try #require(all.firstIndex { $0.presentation == frame.presentation })
      guard place == 0 || all[place - 1].presentation != before.presentation else { continue }
      skips += 1
      #expect(frame.isSync, "a frame whose predecessor was dropped can't be decoded")
    }
    #expect(skips > 0)
  }

  @Test("STALL-5: a listener of compressed frames that can't take all that comes at once goes on at a sync frame")
  func goesOnAtSync() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let watched = try await startedStream(in: session, Self.configuration(.hvc1), clock)
      clock.advance(by: .seconds(5))
      let before = watched.frames.values.count
      // By hand nobody is slow: but here come more at once than may wait for one listener.
      glasses.link.hold(.toApp)
      clock.advance(by: .milliseconds(1900))
      glasses.link.release(.toApp)
      clock.advance(by: .seconds(5))
      let frames = watched.frames.values
      let spans = zip(frames, frames.dropFirst()).map { CMTimeGetSeconds($1.presentation - $0.presentation) }
      let gaps = spans.indices.filter { spans[$0] > 1.5 / Double(Self.frameRate) }
      #expect(gaps.count == 1)
      #expect(gaps.allSatisfy { $0 + 1 >= before && frames[$0 + 1].isSync })
      let dropped = watched.stream.statistics.drops.listeners
      #expect(dropped >= 10)
      #expect(watched.stream.frameListeners.map(\.dropped) == [Int(dropped)])
      #expect(watched.stream.frameListeners.map(\.delivered) == [frames.count])
      #expect(watched.stream.statistics.frames == UInt64(frames.count) + dropped)
      session.stop()
    }
  }

  @Test("STALL-5: decoded frames that are kept stay as they were, and memory is used again only when nobody has it")
  func keptPictures() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let kept = Mutex<[VideoFrame]>([])
      let later = Mutex<(addresses: Set<UInt>, count: Int)>(([], 0))
      let watched = try await startedStream(in: session, Self.configuration(.raw), clock)
      let token = watched.stream.videoFramePublisher.listen { frame in
        let isKept = kept.withLock { kept in
          if kept.count < 48 { kept.append(frame) }
          return kept.count < 48
        }
        guard !isKept, let picture = Picture(frame) else { return }
        later.withLock { later in
          later.addresses.insert(picture.address)
          later.count += 1
        }
      }
      clock.advance(by: .seconds(3))
      let before = kept.withLock { $0 }.compactMap { Picture($0) }
      later.withLock { $0 = ([], 0) }
      clock.advance(by: .seconds(30))
      let after = kept.withLock { $0 }.compactMap { Picture($0) }
      #expect(before.count == 48)
      #expect(before == after)
      // They are 48 pictures, not one picture 48 times.
      #expect(Set(before.map(\.address)).count == 48)
      #expect(Set(before.map(\.hash)).count > 40)
      let (addresses, count) = later.withLock { $0 }
      #expect(count > 650)
      #expect(addresses.isDisjoint(with: before.map(\.address)))
      // What was given back serves the next pictures: a handful of buffers for hundreds.
      #expect(addresses.count <= 8, "\(addresses.count) buffers")
      #expect(watched.stream.statistics.drops.total == 0)
      await token.cancel()
      session.stop()
    }
  }

  @Test("STALL-5: compressed frames that are kept stay as they were, all of them, while others hear each")
  func keptUnits() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let kept = Mutex<[(frame: VideoFrame, bytes: Data)]>([])
      let watched = try await startedStream(in: session, Self.configuration(.hvc1), clock)
      let token = watched.stream.videoFramePublisher.listen { frame in
        guard let bytes = try? frame.sampleBuffer.dataBuffer?.dataBytes() else { return }
        kept.withLock { $0.append((frame, bytes)) }
      }
      clock.advance(by: .seconds(120))
      let all = kept.withLock { $0 }
      #expect(all.count >= 118 * Self.frameRate)
      #expect(all.allSatisfy { (try? $0.frame.sampleBuffer.dataBuffer?.dataBytes()) == $0.bytes })
      #expect(Set(all.map { CMSampleBufferGetPresentationTimeStamp($0.frame.sampleBuffer).value }).count == all.count)
      #expect(watched.frames.values.count >= 118 * Self.frameRate)
      #expect(watched.stream.statistics.drops.total == 0)
      await token.cancel()
      session.stop()
    }
  }
}

/// Where a decoded frame's pixels are, and what they are.
private struct Picture: Equatable {
  let address: UInt
  let hash: Int

  init?(_ frame: VideoFrame) {
    guard let pixels = CMSampleBufferGetImageBuffer(frame.sampleBuffer) else { return nil }
    CVPixelBufferLockBaseAddress(pixels, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(pixels, .readOnly) }
    var hasher = Hasher()
    var first: UInt?
    for plane in 0..<CVPixelBufferGetPlaneCount(pixels) {
      guard let base = CVPixelBufferGetBaseAddressOfPlane(pixels, plane) else { return nil }
      let length = CVPixelBufferGetBytesPerRowOfPlane(pixels, plane) * CVPixelBufferGetHeightOfPlane(pixels, plane)
      hasher.combine(bytes: UnsafeRawBufferPointer(start: base, count: length))
      first = first ?? UInt(bitPattern: base)
    }
    guard let first else { return nil }
    address = first
    hash = hasher.finalize()
  }
}
