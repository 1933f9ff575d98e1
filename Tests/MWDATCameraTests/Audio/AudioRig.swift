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
final class HeardSound: Sendable {
  struct Frame: Equatable, Sendable {
    var start: Instant
    var count: Int
    /// Of the left side, or the only one.
    var first: Float
    var missing: Int
    var isMarked: Bool
  }

  let frames = Observed<Frame>()
  private let token: any AnyListenerToken

  init(_ stream: MWDATCamera.Stream) {
    token = stream.audioFramePublisher.listen { [frames] frame in
      frames.record(
        Frame(
          start: Instant(nanoseconds: frame.presentationTimeStamp.value), count: Int(frame.pcmBuffer.frameLength),
          first: frame.pcmBuffer.floatChannelData?[0][0] ?? .nan, missing: frame.missingBefore,
          isMarked: frame.followsGap))
    }
  }

  func cancel() async { await token.cancel() }

  /// Samples heard or declared missing, of one channel.
  var total: Int { frames.values.reduce(0) { $0 + $1.count + $1.missing } }

  /// What is wrong with the times of frames: each begins where the one before ends, plus what is missing.
  func gaps(rate: Int) -> [String] {
    zip(frames.values, frames.values.dropFirst()).compactMap { before, after in
      let expected = Double(before.count + after.missing) / Double(rate)
      let step = (after.start - before.start).seconds
      return abs(step - expected) > 0.000_001 ? "\(before) then \(after)" : nil
    }
  }
}
