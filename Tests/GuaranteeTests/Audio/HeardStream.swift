import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// What a listener hears and sees of one stream by hand, from the first frame on.
final class HeardStream: Sendable {
  struct Sound: Sendable {
    let presentation: Instant
    let delivered: Instant
    /// One array a channel.
    let channels: [[Float]]
    let isDiscontinuity: Bool
    let missing: Int
  }

  /// In the order in which it came.
  enum Heard: Sendable {
    case sound(Sound)
    case status(AudioStatus)
  }

  let camera: Camera
  let watched: WatchedStream
  let heard = Observed<Heard>()
  private let tokens = ListenerTokenBag()

  var stream: MWDATCamera.Stream { watched.stream }

  init(_ camera: Camera, _ clock: ManualTimekeeper) {
    self.camera = camera
    let stream = camera.stream
    watched = WatchedStream(stream)
    stream.audioFramePublisher.listen { [heard] in heard.record(.sound(Sound($0, delivered: clock.now))) }
      .store(in: tokens)
    stream.healthPublisher.listen { [heard] event in
      if event.kind == .audioChanged, let audio = event.audio { heard.record(.status(audio)) }
    }.store(in: tokens)
  }

  var sounds: [Sound] { heard.values.compactMap { if case .sound(let sound) = $0 { sound } else { nil } } }
  var statuses: [AudioStatus] { heard.values.compactMap { if case .status(let status) = $0 { status } else { nil } } }

  /// One channel's samples in a row.
  func samples(channel: Int = 0) -> [Float] { sounds.flatMap { $0.channels[channel] } }

  /// A stream that is started; returns when its state is one of these. The permission is asked for in a task, which runs
  /// when it likes.
  static func start(
    in session: DeviceSession, _ audio: AudioCodec?, video: VideoCodec = .hvc1,
    resolution: StreamingResolution = .low, frameRate: UInt = 30, until states: [StreamState] = [.streaming],
    _ clock: ManualTimekeeper
  ) async throws -> HeardStream {
    let configuration = StreamConfiguration(
      videoCodec: video, audioCodec: audio, resolution: resolution, frameRate: frameRate)
    let heard = HeardStream(try #require(try session.addCamera(config: configuration)), clock)
    heard.stream.start()
    for _ in 0..<10_000 where !(heard.watched.states.last.map { states.contains($0) } ?? false) {
      clock.advance(by: .microseconds(100))
      await Task.yield()
    }
    #expect(states.contains(heard.stream.state), "\(heard.stream.state)")
    return heard
  }
}

extension HeardStream.Sound {
  init(_ frame: AudioFrame, delivered: Instant) {
    let buffer = frame.pcmBuffer
    let channels = (0..<Int(buffer.format.channelCount)).map { channel -> [Float] in
      guard let data = buffer.floatChannelData else { return [] }
      return Array(UnsafeBufferPointer(start: data[channel], count: Int(buffer.frameLength)))
    }
    self.init(
      presentation: Instant(nanoseconds: frame.presentationTimeStamp.value), delivered: delivered, channels: channels,
      isDiscontinuity: frame.isDiscontinuity, missing: frame.missingSamples)
  }
}
