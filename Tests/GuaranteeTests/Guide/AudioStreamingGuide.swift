import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// docs/audio-streaming.md, run. `GuideTextTests` holds its blocks against this file.
@Suite(.exclusive(.mockKit))
struct AudioStreamingGuide {
  @Test("DOC-1: the guide's walk hears what the glasses hear, and nothing after the end")
  func walk() async throws {
    try await withGlasses { glasses in
      let reader = Reader()
      try await follow(reader, glasses)
      #expect(reader.levels.values.contains { $0.level > 0.4 }, "the tone, 6 dB below full scale")
      let stamps = reader.levels.values.map(\.time)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
      #expect(reader.texts.values.isEmpty, "nothing is missing")
      #expect(!reader.written.values.isEmpty)
    }
  }

  @Test("DOC-1: the guide's recognizer gets 16-bit sound at its own rate")
  func recognizer() async throws {
    try await withGlasses { glasses in
      glasses.services.microphone.setTone(frequency: 440, level: -6)
      let session = try await startedSession(with: glasses)
      let stream = try #require(try session.addCamera(config: Self.configuration)).stream
      let listener = Recognizer()
      let tokens = ListenerTokenBag()
      stream.start()
      try await recognizeSpeech(stream, tokens, listener)
      stream.stop()
      tokens.clear()
      let samples = listener.samples
      #expect(samples.count >= 16_000)
      let pitch = try #require(ToneMeter.frequency(of: Array(samples.dropFirst(1600)), sampleRate: 16_000))
      #expect(abs(pitch - 440) < 1)
    }
  }

  private static let configuration = StreamConfiguration(
    videoCodec: .raw, audioCodec: .pcm(sampleRate: .rate48000, numberOfChannels: 2), resolution: .low, frameRate: 24)

  // swift-format-ignore
  private func follow(_ reader: Reader, _ glasses: any MockGlasses) async throws {
    let meter = reader.meter, note = reader.note, write = reader.write
    let wearables = Wearables.shared
    let session = try await startedSession(with: glasses)
    let tokens = ListenerTokenBag()

    glasses.services.microphone.setTone(frequency: 440, level: -6)

    for permission in [Permission.camera, .microphone] {
      if try await wearables.checkPermissionStatus(permission) == .granted { continue }
      guard try await wearables.requestPermission(permission) == .granted else { return }
    }

    let configuration = StreamConfiguration(
      videoCodec: .raw, audioCodec: .pcm(sampleRate: .rate48000, numberOfChannels: 2), resolution: .low, frameRate: 24)
    guard let camera = try session.addCamera(config: configuration) else { return }
    let stream = camera.stream

    let hearing = stream.audioFramePublisher.listen { frame in
      let buffer = frame.pcmBuffer
      guard let channels = buffer.floatChannelData else { return }
      let left = UnsafeBufferPointer(start: channels[0], count: Int(buffer.frameLength))
      let loudest = left.map(abs).max() ?? 0
      meter(loudest, frame.presentationTimeStamp)
    }
    stream.start()

    stream.audioFramePublisher.listen { frame in
      if frame.isDiscontinuity { note("\(frame.missingSamples) samples missing") }
    }.store(in: tokens)

    stream.continuousAudioPublisher.listen { frame in
      write(frame.pcmBuffer)
    }.store(in: tokens)

    try await reader.levels.wait("a second of sound") { $0.count >= 50 }

    await hearing.cancel()
    camera.stop()

    let heard = reader.levels.values.count
    session.stop()
    tokens.clear()
    // One call may have been under way when the token was cancelled.
    #expect(reader.levels.values.count <= heard + 1)
  }

  // swift-format-ignore
  private func recognizeSpeech(
    _ stream: MWDATCamera.Stream, _ tokens: ListenerTokenBag, _ recognizer: Recognizer
  ) async throws {
    let recognize = recognizer.recognize

    let (frames, input) = AsyncStream.makeStream(of: AudioFrame.self, bufferingPolicy: .bufferingNewest(50))
    stream.continuousAudioPublisher.listen { input.yield($0) }.store(in: tokens)

    guard
      let heard = AVAudioFormat(standardFormatWithSampleRate: 48_000, channels: 2),
      let speech = AVAudioFormat(commonFormat: .pcmFormatInt16, sampleRate: 16_000, channels: 1, interleaved: true),
      let converter = AVAudioConverter(from: heard, to: speech)
    else { return }
    converter.downmix = true  // both sides; otherwise the first channel is taken
    for await frame in frames {
      guard let output = AVAudioPCMBuffer(pcmFormat: speech, frameCapacity: 4096) else { break }
      var next: AVAudioPCMBuffer? = frame.pcmBuffer
      let status = converter.convert(to: output, error: nil) { _, inputStatus in
        inputStatus.pointee = next == nil ? .noDataNow : .haveData
        defer { next = nil }
        return next
      }
      guard status != .error, recognize(output) else { break }
    }
  }
}

/// Stands for the app around the guide's blocks: a level meter, a line of text, a file.
private final class Reader: Sendable {
  let levels = Observed<(level: Float, time: Double)>()
  let texts = Observed<String>()
  let written = Observed<AVAudioFrameCount>()

  func meter(_ level: Float, _ time: CMTime) { levels.record((level, time.seconds)) }
  func note(_ text: String) { texts.record(text) }
  func write(_ buffer: AVAudioPCMBuffer) { written.record(buffer.frameLength) }
}

/// Stands for something that wants 16-bit sound, and has heard enough after a second.
private final class Recognizer: Sendable {
  private let pieces = Observed<[Float]>()

  var samples: [Float] { pieces.values.flatMap { $0 } }

  func recognize(_ buffer: AVAudioPCMBuffer) -> Bool {
    guard let channels = buffer.int16ChannelData else { return false }
    pieces.record((0..<Int(buffer.frameLength)).map { Float(channels[0][$0]) / 32_768 })
    return samples.count < 17_600
  }
}
