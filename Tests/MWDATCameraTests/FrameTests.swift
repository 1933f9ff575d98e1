import LinkProtocol
import MWDATCamera
import MWDATCore
import PortableMedia
import TestSupport
import Testing
import Units

@Suite("Frames")
struct FrameTests {
  static let compressed = StreamConfiguration(videoCodec: .hvc1, resolution: .medium, frameRate: 24)

  @Test("Raw frames are the decoded pictures, in 420v, on the host's clock, in order (SYNC-3)")
  func raw() throws {
    let rig = try CameraRig()
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream.start()
    rig.settle()
    let start = rig.timekeeper.now
    rig.run(pictures: 8)
    #expect(frames.values.map(luma) == CodedPictures.luma)
    var last = CMTime.negativeInfinity
    for frame in frames.values {
      let buffer = try #require(CMSampleBufferGetImageBuffer(frame.sampleBuffer))
      #expect(CVPixelBufferGetPixelFormatType(buffer) == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
      let format = try #require(CMSampleBufferGetFormatDescription(frame.sampleBuffer))
      let size = CMVideoFormatDescriptionGetDimensions(format)
      #expect(size.width == 64 && size.height == 96)
      let time = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
      #expect(time.isValid && time > last)
      #expect(time.value >= start.nanoseconds && time.value <= rig.timekeeper.now.nanoseconds)
      #expect(!frame.followsGap)
      last = time
    }
    withExtendedLifetime(token) {}
  }

  @Test("Compressed frames have their picture in the block buffer, parameter sets in the format, sync said (REC-2)")
  func compressed() throws {
    let rig = try CameraRig(Self.compressed)
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream.start()
    rig.settle()
    rig.run(pictures: 8)
    #expect(frames.values.count == 8)
    for (index, frame) in frames.values.enumerated() {
      let sample = frame.sampleBuffer
      let isSync = index % CodedPictures.groupLength == 0
      let expected = CodedPictures.prefixed(CodedPictures.slices[index])
      let data = try #require(CMSampleBufferGetDataBuffer(sample))
      var bytes = [UInt8](repeating: 0, count: CMBlockBufferGetDataLength(data))
      #expect(CMBlockBufferCopyDataBytes(data, atOffset: 0, dataLength: bytes.count, destination: &bytes) == noErr)
      #expect(bytes == expected)
      #expect(CMSampleBufferGetSampleSize(sample, at: 0) == expected.count)
      #expect(CMSampleBufferGetNumSamples(sample) == 1)
      let attachments = CMSampleBufferGetSampleAttachmentsArray(sample, createIfNecessary: false) as? [[CFString: Any]]
      let notSync = attachments?.first?[kCMSampleAttachmentKey_NotSync] as? Bool ?? false
      #expect(notSync == !isSync)
      #expect(CMSampleBufferGetImageBuffer(sample) == nil)
      #expect(frame.makeUIImage() == nil)
      let format = try #require(CMSampleBufferGetFormatDescription(sample))
      #expect(CMFormatDescriptionGetMediaSubType(format) == kCMVideoCodecType_HEVC)
      #expect(parameterSets(of: format) == CodedPictures.parameterSets)
    }
    // One description for all, made when the sets came first.
    let formats = Set(frames.values.compactMap { $0.sampleBuffer.formatDescription.map(ObjectIdentifier.init) })
    #expect(formats.count == 1)
    withExtendedLifetime(token) {}
  }

  @Test("Nothing is decoded while nobody listens for frames, and decoding ends with the last listener (PERF-4)")
  func noWaste() throws {
    let rig = try CameraRig()
    rig.stream(pictures: 4)
    #expect(rig.stream.state == .streaming)
    #expect(rig.stream.telemetry.decodedPictures == 0)
    do {
      let frames = Observed<VideoFrame>()
      let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
      rig.settle()
      #expect(rig.glasses.keyframeRequests.map(\.reason) == [.lateListener])
      rig.glasses.skipToSyncPicture()
      rig.run(pictures: 4)
      #expect(frames.values.map(luma) == Array(CodedPictures.luma[4...]))
      withExtendedLifetime(token) {}
    }
    let decoded = rig.stream.telemetry.decodedPictures
    rig.run(pictures: 8)
    #expect(rig.stream.telemetry.decodedPictures == decoded)

    let hvc1 = try CameraRig(Self.compressed)
    let token = hvc1.stream.videoFramePublisher.listen { _ in }
    hvc1.stream(pictures: 8)
    #expect(hvc1.stream.telemetry.decodedPictures == 0)
    withExtendedLifetime(token) {}
  }

  @Test(
    "A listener that comes late begins with a sync unit, asked for at once (LOSS-5)",
    arguments: [
      VideoCodec.raw, .hvc1,
    ])
  func lateListener(codec: VideoCodec) throws {
    let rig = try CameraRig(StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: 24))
    let early = Observed<VideoFrame>()
    let first = rig.stream.videoFramePublisher.listen { early.record($0) }
    rig.stream(pictures: 2)
    #expect(rig.glasses.keyframeRequests.isEmpty)
    let late = Observed<VideoFrame>()
    let second = rig.stream.videoFramePublisher.listen { late.record($0) }
    rig.settle()
    #expect(rig.glasses.keyframeRequests.count == 1)
    rig.glasses.sendPictures()
    rig.settle()
    // Decoded frames are whole without their neighbours; compressed ones are not.
    #expect(late.values.count == (codec == .raw ? 1 : 0))
    rig.glasses.skipToSyncPicture()
    rig.glasses.sendPictures()
    rig.settle()
    let sync = try #require(late.values.last)
    #expect(sync.isSync)
    #expect(early.values.count == 4)
    withExtendedLifetime((first, second)) {}
  }

  @Test(
    "After a loss nothing passes before a sync unit, which is asked for and marked (LOSS-1, LOSS-2, LOSS-3)",
    arguments: [
      VideoCodec.raw, .hvc1,
    ])
  func loss(codec: VideoCodec) throws {
    let rig = try CameraRig(StreamConfiguration(videoCodec: codec, resolution: .low, frameRate: 24))
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream(pictures: 1)
    rig.glasses.losePicture()
    rig.settle()
    #expect(rig.glasses.keyframeRequests.map(\.reason) == [.loss])
    rig.glasses.sendPictures()
    rig.settle()
    #expect(frames.values.count == 1)
    rig.glasses.sendPictures(2)
    rig.settle()
    #expect(frames.values.map(\.followsGap) == [false, true, false])
    if codec == .raw { #expect(frames.values.map(luma) == [40, 120, 140]) }
    let telemetry = rig.stream.telemetry
    #expect(telemetry.drops.withheld == 2)
    #expect(telemetry.keyframeRequests == 1)
    withExtendedLifetime(token) {}
  }

  @Test("Units whose lengths do not fit are as good as lost, and never reach anybody")
  func malformed() throws {
    let rig = try CameraRig(Self.compressed)
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream(pictures: 1)
    rig.glasses.sendMalformedPicture()
    rig.glasses.sendPictures(1)
    rig.settle()
    #expect(frames.values.count == 1)
    #expect(rig.stream.telemetry.drops.undecodable == 1)
    #expect(rig.glasses.keyframeRequests.count == 1)
    rig.glasses.skipToSyncPicture()
    rig.glasses.sendPictures()
    rig.settle()
    #expect(frames.values.last?.followsGap == true)
    withExtendedLifetime(token) {}
  }

  @Test("Pictures that are well-formed and can't be decoded are reported, then end the stream")
  func undecodable() throws {
    let rig = try CameraRig()
    let token = rig.stream.videoFramePublisher.listen { _ in }
    rig.stream.start()
    rig.settle()
    for _ in 0..<3 {
      guard var unit = rig.glasses.nextUnit() else { return }
      // Parameter sets of nothing: the slice has no sequence to belong to.
      unit.flags = [.sync, .parameterSets]
      unit.payload = CodedPictures.prefixed([0x44, 0x01, 0xC0]) + CodedPictures.prefixed([0x28, 0x01, 0xAC, 0x27])
      rig.glasses.connection.send(unit)
      rig.settle()
    }
    #expect(rig.log.values.contains("error videoStreamingError"))
    #expect(rig.stream.state == .stopped)
    #expect(rig.stream.telemetry.drops.undecodable == 3)
    #expect(!rig.stream.telemetry.errorTexts.isEmpty)
    withExtendedLifetime(token) {}
  }

  @Test("Sync units that can't be used are counted together, whether that shows on arrival or in the decoder")
  func refusedHereAndThere() throws {
    let rig = try CameraRig()
    let token = rig.stream.videoFramePublisher.listen { _ in }
    rig.stream.start()
    rig.settle()
    func send(_ payload: [UInt8]) throws {
      var unit = try #require(rig.glasses.nextUnit())
      unit.flags = [.sync, .parameterSets]
      unit.payload = payload
      rig.glasses.connection.send(unit)
      rig.settle()
    }
    let undecodable = CodedPictures.prefixed([0x44, 0x01, 0xC0]) + CodedPictures.prefixed([0x28, 0x01, 0xAC, 0x27])
    let malformed: [UInt8] = [0xFF] + undecodable.dropFirst()
    try send(malformed)
    try send(undecodable)
    #expect(rig.stream.state != .stopped && rig.stream.telemetry.drops.undecodable == 2)
    // One that can be decoded is a new beginning.
    rig.glasses.skipToSyncPicture()
    rig.glasses.sendPictures()
    rig.settle()
    #expect(rig.stream.state == .streaming)
    try send(undecodable)
    try send(malformed)
    #expect(rig.stream.state != .stopped)
    try send(undecodable)
    #expect(rig.log.values.contains("error videoStreamingError"))
    #expect(rig.stream.state == .stopped)
    withExtendedLifetime(token) {}
  }

  @Test("A picture of another codec than the one agreed on ends the stream, in words")
  func wrongCodec() throws {
    let rig = try CameraRig()
    rig.stream.start()
    rig.settle()
    var unit = try #require(rig.glasses.nextUnit())
    unit.codec = .h264
    rig.glasses.connection.send(unit)
    rig.settle()
    #expect(rig.log.values.contains("error videoStreamingError"))
    #expect(rig.stream.telemetry.errorTexts.first?.contains("h264") == true)
  }

  @Test("A listener that is too slow for decoded frames loses the older ones, counted (STALL-5)")
  func slowListener() throws {
    let rig = try CameraRig()
    let slow = Observed<UInt8?>()
    let token = rig.stream.videoFramePublisher.listen { slow.record(luma($0)) }
    rig.stream.start()
    rig.settle()
    // Eight at once: by the time the listener's turn comes all are decoded.
    rig.glasses.sendPictures(8)
    rig.settle()
    #expect(slow.values == CodedPictures.luma.suffix(3))
    #expect(rig.stream.telemetry.drops.listeners == 5)
    #expect(rig.stream.telemetry.frames == 8)
    withExtendedLifetime(token) {}
  }

  @Test("A listener of compressed frames that missed some goes on from a sync unit, which is asked for")
  func slowCompressedListener() throws {
    let rig = try CameraRig(Self.compressed)
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream.start()
    rig.settle()
    rig.glasses.sendPictures(34)
    rig.settle()
    // 32 waited: of pictures 2 to 33 the first that decodes alone is number 4.
    #expect(frames.values.count == 30)
    #expect(frames.values.first?.isSync == true)
    #expect(rig.stream.telemetry.drops.listeners == 2)
    #expect(!rig.glasses.keyframeRequests.isEmpty)
    // Once it has begun, what it can't decode for want of another counts as well.
    rig.glasses.sendPictures(39)
    rig.settle()
    #expect(frames.values.count == 30 + 29)
    #expect(rig.stream.telemetry.drops.listeners == 2 + 10)
    #expect(frames.values[30].followsGap)
    withExtendedLifetime(token) {}
  }

  @Test("A frame that waits when the stream stops is not delivered after it (LIFE-2)")
  func nothingAfterStop() throws {
    let rig = try CameraRig(Self.compressed)
    let frames = Observed<VideoFrame>()
    let stream = rig.stream
    let token = rig.stream.videoFramePublisher.listen {
      frames.record($0)
      stream.stop()
    }
    rig.stream.start()
    rig.settle()
    rig.glasses.sendPictures(3)
    rig.settle()
    #expect(frames.values.count == 1)
    withExtendedLifetime(token) {}
  }

  @Test("A frame that is kept stays valid after the stream has gone on and ended")
  func valueLifetime() throws {
    let rig = try CameraRig()
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream.start()
    rig.settle()
    rig.run(pictures: 40)
    rig.session.stop()
    rig.settle()
    #expect(frames.values.map(luma) == (0..<40).map { CodedPictures.luma[$0 % 8] })
    withExtendedLifetime(token) {}
  }

  @Test("An agreed change of size is told before the first frame in it, with old and new values (PERF-3)")
  func sizeChange() throws {
    let rig = try CameraRig()
    let events = Observed<StreamTelemetryEvent.Kind>()
    let token = rig.stream.telemetryPublisher.listen { events.record($0.kind) }
    rig.stream(pictures: 1)
    let start = try #require(rig.glasses.streamStarts.first)
    var smaller = start.video
    smaller.size = PixelSize(width: 360, height: 640)
    rig.glasses.send(.streamChanged(StreamChanged(stream: start.stream, video: smaller, reason: .linkNarrowed)))
    rig.settle()
    #expect(events.values.contains(.changed(from: start.video, to: smaller, .linkNarrowed)))
    #expect(rig.stream.negotiatedVideo == smaller)
    withExtendedLifetime(token) {}
  }

  @Test("Counters and rates are those of what happened")
  func telemetry() throws {
    let rig = try CameraRig(Self.compressed)
    let token = rig.stream.videoFramePublisher.listen { _ in }
    rig.stream.start()
    rig.settle()
    rig.run(pictures: 48)
    let telemetry = rig.stream.telemetry
    #expect(telemetry.units == 48)
    #expect(telemetry.syncUnits == 12)
    #expect(telemetry.frames == 48)
    #expect((23...25).contains(telemetry.unitsPerSecond))
    #expect((23...25).contains(telemetry.framesPerSecond))
    #expect(telemetry.bitrate > .bitsPerSecond(0))
    #expect(telemetry.ages.count == 48)
    #expect(try #require(telemetry.ages.percentile(0.95)) < .milliseconds(1))
    #expect(try #require(telemetry.firstFrame) < .milliseconds(100))
    #expect(telemetry.drops == StreamTelemetry.Drops())
    withExtendedLifetime(token) {}
  }

  private func luma(_ frame: VideoFrame) -> UInt8? {
    guard let buffer = CMSampleBufferGetImageBuffer(frame.sampleBuffer) else { return nil }
    CVPixelBufferLockBaseAddress(buffer, .readOnly)
    defer { CVPixelBufferUnlockBaseAddress(buffer, .readOnly) }
    return CVPixelBufferGetBaseAddressOfPlane(buffer, 0)?.load(as: UInt8.self)
  }

  private func parameterSets(of format: CMFormatDescription) -> [[UInt8]] {
    var count = 0
    CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
      format, parameterSetIndex: 0, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
      parameterSetCountOut: &count, nalUnitHeaderLengthOut: nil)
    return (0..<count).map { index in
      var pointer: UnsafePointer<UInt8>?
      var size = 0
      CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
        format, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
        parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil)
      return Array(UnsafeBufferPointer(start: pointer, count: size))
    }
  }
}
