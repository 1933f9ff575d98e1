import LinkProtocol
import MWDATCamera
import MWDATCore
import PortableMedia
import TestSupport
import Testing
import Units

/// What follows a loss, whatever form it takes: the same one way.
@Suite("Loss recovery")
struct LossRecoveryTests {
  static let compressed = StreamConfiguration(videoCodec: .hvc1, resolution: .medium, frameRate: 24)

  private func configuration(_ codec: VideoCodec) -> StreamConfiguration {
    StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: 24)
  }

  /// When keyframe requests were sent, in milliseconds from `start`.
  private func requests(_ events: Observed<StreamTelemetryEvent>, since start: Instant) -> [Int] {
    events.values.compactMap { event in
      guard case .keyframeRequested = event.kind, event.time >= start else { return nil }
      return Int((event.time - start).milliseconds)
    }
  }

  @Test(
    "LOSS-2: a request is repeated with back-off also when nothing arrives, and ends with the stream",
    arguments: [VideoCodec.raw, .hvc1])
  func repeatsInSilence(codec: VideoCodec) throws {
    let rig = try CameraRig(configuration(codec))
    let events = Observed<StreamTelemetryEvent>()
    let frames = rig.stream.videoFramePublisher.listen { _ in }
    let token = rig.stream.telemetryPublisher.listen { events.record($0) }
    rig.stream(pictures: 1)
    let start = rig.timekeeper.now
    rig.glasses.losePicture()
    rig.timekeeper.advance(by: .milliseconds(900))
    #expect(requests(events, since: start) == [0, 150, 450])
    // Beyond a second the stall has its own say; nothing is asked once the stream has stopped.
    rig.timekeeper.advance(by: .seconds(4))
    #expect(requests(events, since: start).count >= 6)
    rig.stream.stop()
    rig.settle()
    let count = rig.glasses.keyframeRequests.count
    rig.timekeeper.advance(by: .seconds(5))
    #expect(rig.glasses.keyframeRequests.count == count)
    withExtendedLifetime((frames, token)) {}
  }

  @Test("LOSS-2: nothing is asked for while the session rests")
  func restsInPause() throws {
    let rig = try CameraRig(Self.compressed)
    rig.stream(pictures: 1)
    rig.glasses.losePicture()
    rig.settle()
    #expect(rig.glasses.keyframeRequests.count == 1)
    let session = try #require(rig.glasses.sessionNumbers.last)
    rig.glasses.send(.sessionPaused(SessionPaused(session: session, reason: .wearer)))
    rig.timekeeper.advance(by: .seconds(3))
    rig.stream.askForKeyframe()
    rig.settle()
    #expect(rig.glasses.keyframeRequests.count == 1)
    rig.glasses.send(.sessionResumed(SessionResumed(session: session)))
    rig.settle()
    rig.stream.askForKeyframe()
    rig.settle()
    #expect(rig.glasses.keyframeRequests.count == 2)
  }

  /// Forms of a unit that is not what it says it is.
  enum Damage: CaseIterable {
    case lengths, noPicture, falseSync, syncWithoutSets, strayParameterSets, unreadableSets

    func apply(to unit: inout AccessUnit) {
      switch self {
      case .lengths: unit.payload[0] = 0xFF
      case .noPicture: unit.payload = CodedPictures.parameterSets.flatMap(CodedPictures.prefixed)
      case .falseSync:
        unit.flags = [.sync, .parameterSets]
        unit.payload =
          (CodedPictures.parameterSets + [CodedPictures.slices[1]]).flatMap(CodedPictures.prefixed)
      case .syncWithoutSets:
        unit.flags = [.sync, .parameterSets]
        unit.payload = CodedPictures.prefixed(CodedPictures.slices[0])
      case .strayParameterSets:
        unit.payload = CodedPictures.prefixed([0x44, 0x01, 0xC1]) + unit.payload
      case .unreadableSets:
        unit.flags = [.sync, .parameterSets]
        unit.payload = [[0x42, 0x01, 0xFF], CodedPictures.slices[0]].flatMap(CodedPictures.prefixed)
      }
    }
  }

  @Test(
    "LOSS-1: a unit that is not what it says it is counts as lost: asked for at once, withheld behind it, marked after it",
    arguments: Damage.allCases, [VideoCodec.raw, .hvc1])
  func damage(damage: Damage, codec: VideoCodec) throws {
    let rig = try CameraRig(configuration(codec))
    let frames = Observed<VideoFrame>()
    let events = Observed<StreamTelemetryEvent.Kind>()
    let tokens = ListenerTokenBag()
    rig.stream.videoFramePublisher.listen { frames.record($0) }.store(in: tokens)
    rig.stream.telemetryPublisher.listen { events.record($0.kind) }.store(in: tokens)
    rig.stream(pictures: 1)
    var unit = try #require(rig.glasses.nextUnit())
    damage.apply(to: &unit)
    rig.glasses.connection.send(unit)
    rig.settle()
    #expect(rig.glasses.keyframeRequests.map(\.reason) == [.loss])
    #expect(rig.stream.telemetry.drops.undecodable == 1)
    rig.glasses.sendPictures(2)
    rig.settle()
    #expect(frames.values.count == 1)
    rig.glasses.sendPictures(2)
    rig.settle()
    #expect(frames.values.map(\.followsGap) == [false, true, false])
    #expect(events.values.contains(.keyframeArrived(withheld: 2)))
    #expect(rig.stream.state == .streaming)
  }

  @Test("LOSS-1: parameter sets repeated with each picture are nothing amiss")
  func repeatedSets() throws {
    let rig = try CameraRig(Self.compressed)
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream(pictures: 1)
    var unit = try #require(rig.glasses.nextUnit())
    unit.payload = CodedPictures.prefixed(CodedPictures.parameterSets[2]) + unit.payload
    rig.glasses.connection.send(unit)
    rig.settle()
    #expect(frames.values.count == 2)
    #expect(rig.glasses.keyframeRequests.isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test("LOSS-1: the first compressed frame after a gap tells a decoder to begin anew, in the media types' own words")
  func attachment() throws {
    let rig = try CameraRig(Self.compressed)
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream(pictures: 1)
    rig.glasses.losePicture()
    rig.glasses.sendPictures(3)
    rig.settle()
    let marks = frames.values.map { frame in
      CMGetAttachment(
        frame.sampleBuffer, key: kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding, attachmentModeOut: nil)
        as? Bool
    }
    #expect(marks == [nil, true, nil])
    withExtendedLifetime(token) {}
  }

  @Test("LOSS-1: a unit that the decoder refuses is asked about at once and again, and its successors are withheld")
  func refusedByDecoder() throws {
    let rig = try CameraRig(configuration(.raw))
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream(pictures: 1)
    // Well-formed, and cut off in the middle of what the picture needs.
    var unit = try #require(rig.glasses.nextUnit())
    unit.payload = CodedPictures.prefixed(Array(CodedPictures.slices[1].prefix(4)))
    rig.glasses.connection.send(unit)
    rig.settle()
    #expect(rig.stream.telemetry.drops.undecodable == 1)
    #expect(rig.glasses.keyframeRequests.map(\.reason) == [.loss])
    rig.timekeeper.advance(by: .milliseconds(500))
    #expect(rig.glasses.keyframeRequests.count == 3)
    rig.glasses.sendPictures(2)
    rig.settle()
    #expect(frames.values.count == 1)
    rig.glasses.sendPictures(1)
    rig.settle()
    #expect(frames.values.map(\.followsGap) == [false, true])
    withExtendedLifetime(token) {}
  }

  @Test("LOSS-1: a listener of decoded frames that missed some is told so")
  func slowRawListener() throws {
    let rig = try CameraRig()
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream(pictures: 1)
    rig.glasses.sendPictures(8)
    rig.settle()
    #expect(frames.values.map(\.followsGap) == [false, true, false, false])
    withExtendedLifetime(token) {}
  }

  @Test("LOSS-1: a mark for one listener alone leaves the others' samples as they are")
  func markForOne() throws {
    let rig = try CameraRig(Self.compressed)
    let early = Observed<VideoFrame>()
    let late = Observed<VideoFrame>()
    let tokens = ListenerTokenBag()
    rig.stream.videoFramePublisher.listen { early.record($0) }.store(in: tokens)
    rig.stream(pictures: 1)
    rig.stream.videoFramePublisher.listen { late.record($0) }.store(in: tokens)
    rig.glasses.skipToSyncPicture()
    rig.glasses.sendPictures(34)
    rig.settle()
    // Both missed two at their beginning: the first of them is unmarked in the late one, which had begun with nothing.
    #expect(early.values.filter(\.followsGap).count == 1)
    #expect(late.values.filter(\.followsGap).isEmpty)
    for frame in late.values {
      let mark = CMGetAttachment(
        frame.sampleBuffer, key: kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding, attachmentModeOut: nil)
      #expect(mark == nil)
    }
  }
}
