import LinkProtocol
import MWDATCamera
import MWDATCore
import TestSupport
import Units

extension CameraRig {
  /// A rig whose stream asks for sound.
  init(sound rate: AudioSampleRate, channels: UInt32 = 1) throws {
    try self.init(
      StreamConfiguration(
        videoCodec: .hvc1, audioCodec: .pcm(sampleRate: rate, numberOfChannels: channels), resolution: .low,
        frameRate: 15))
  }

  /// Lets so much time pass, in which sound comes each 20 ms and a picture each 60 ms.
  func run(_ duration: Duration, sound: Bool = true, pictures: Bool = true) {
    for step in 0..<Int(duration / .milliseconds(20)) {
      timekeeper.advance(by: .milliseconds(20))
      if pictures, step % 3 == 0 { glasses.sendPictures() }
      if sound { glasses.sendAudio() } else { _ = glasses.nextAudio() }
      timekeeper.settle()
    }
  }

  /// Starts the stream and lets it come to `.streaming`; nothing of sound has come by then.
  func startWithAudio() {
    stream.start()
    settle()
    glasses.sendPictures()
    settle()
  }
}

/// What one listener for sound has had.
final class HeardAudio: Sendable {
  struct Frame: HeardFrame, Equatable, Sendable {
    let start: Instant
    let count: Int
    /// Of the left side, or the only one.
    let first: Float
    let missing: Int
    let isDiscontinuity: Bool
  }

  private let heard = Observed<Frame>()
  private let token: any AnyListenerToken

  init(_ stream: MWDATCamera.Stream) {
    token = stream.audioFramePublisher.listen { [heard] frame in
      heard.record(
        Frame(
          start: Instant(nanoseconds: frame.presentationTimeStamp.value), count: Int(frame.pcmBuffer.frameLength),
          first: frame.pcmBuffer.floatChannelData?[0][0] ?? .nan, missing: frame.missingBefore,
          isDiscontinuity: frame.followsGap))
    }
  }

  var frames: [Frame] { heard.values }

  func cancel() async { await token.cancel() }
}
