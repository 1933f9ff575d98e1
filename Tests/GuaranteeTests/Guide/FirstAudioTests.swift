import Foundation
import GlasswingTesting
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// What an app does that knows the interface alone: configure, listen, start.
@Suite(.exclusive(.mockKit))
struct FirstAudioTests {
  @Test("MOCK-2: an app that listens before it starts gets sound of the rate and channels it asked for")
  func listenFirst() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let app = Listener()
      let camera = try #require(try app.attach(to: session))
      try await app.consumed.wait("a second of sound") { $0.count >= 50 }
      await app.tokens.cancelAll()
      camera.stop()
      for sound in app.consumed.values {
        #expect(sound.rate == 16_000 && sound.channels == 1 && sound.frames == 320)
      }
      let times = app.consumed.values.map(\.time)
      #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
    }
  }
}

/// The long-lived owner of token and sound.
private final class Listener: Sendable {
  struct Sound: Sendable {
    let rate: Double
    let channels: AVAudioChannelCount
    let frames: AVAudioFrameCount
    let time: CMTime
  }

  let tokens = ListenerTokenBag()
  let consumed = Observed<Sound>()

  // swift-format-ignore
  func attach(to session: DeviceSession) throws -> Camera? {
    let streamTokens = tokens

    let configuration = StreamConfiguration(
      videoCodec: .raw,
      audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 1),
      resolution: .medium,
      frameRate: 24
    )

    guard let camera = try session.addCamera(config: configuration) else { return nil }
    let stream = camera.stream

    stream.audioFramePublisher.listen { frame in
      self.consumePCM(
        frame.pcmBuffer,
        presentationTime: frame.presentationTimeStamp
      )
    }.store(in: streamTokens)
    stream.start()
    return camera
  }

  private func consumePCM(_ buffer: AVAudioPCMBuffer, presentationTime: CMTime) {
    consumed.record(
      Sound(
        rate: buffer.format.sampleRate, channels: buffer.format.channelCount, frames: buffer.frameLength,
        time: presentationTime))
  }
}
