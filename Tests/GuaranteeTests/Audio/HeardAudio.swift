import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import TestSupport
import Units

/// What one listener for sound has had, and what was known and told by then.
final class HeardAudio: Sendable {
  struct Frame: HeardFrame, Sendable {
    let start: Instant
    /// When it came; nil on the host's clock.
    let delivered: Instant?
    let count: Int
    let missing: Int
    let isDiscontinuity: Bool
    let isFilled: Bool
    /// True when all samples are 0.
    let isSilent: Bool
    let state: StreamState?
    /// As the stream had it when the frame came…
    let status: AudioStatus?
    /// … and as it was told last.
    let told: AudioStatus?
    let format: AVAudioFormat
    /// Of each channel; none where they are not kept.
    let samples: [[Float]]
  }

  private struct State {
    var frames: [Frame] = []
    var told: [AudioStatus] = []
  }

  private let state = Mutex(State())
  private let keepsSamples: Bool
  private let clock: ManualTimekeeper?
  private let tokens = ListenerTokenBag()

  /// - Parameters:
  ///   - keepsSamples: else only frames' facts are kept.
  ///   - meanwhile: what the listener does with each frame besides.
  init(
    _ stream: MWDATCamera.Stream, clock: ManualTimekeeper? = nil, continuous: Bool = false, keepsSamples: Bool = false,
    meanwhile: @escaping @Sendable (AudioFrame) -> Void = { _ in }
  ) {
    self.keepsSamples = keepsSamples
    self.clock = clock
    stream.healthPublisher.listen { [weak self] event in
      guard event.kind == .audioChanged, let audio = event.audio else { return }
      self?.state.withLock { $0.told.append(audio) }
    }.store(in: tokens)
    let source = continuous ? stream.continuousAudioPublisher : stream.audioFramePublisher
    source.listen { [weak self, weak stream] frame in
      self?.take(frame, stream)
      meanwhile(frame)
    }.store(in: tokens)
  }

  var frames: [Frame] { state.withLock { $0.frames } }
  /// The changes that were told, in order.
  var told: [AudioStatus] { state.withLock { $0.told } }
  /// Of each channel, in a row.
  var samples: [[Float]] {
    let frames = frames
    return (0..<(frames.first?.samples.count ?? 0)).map { channel in frames.flatMap { $0.samples[channel] } }
  }
  /// Of each channel, those included that frames said are missing.
  var total: Int { frames.totalSamples }
  /// The end of the last frame.
  var end: Instant? { frames.last.map { $0.start + .seconds(1) * Double($0.count) / $0.format.sampleRate } }

  func cancel() async { await tokens.cancelAll() }

  func faults() -> [String] {
    let frames = frames
    return frames.faults(rate: frames.first?.format.sampleRate ?? 1)
  }

  private func take(_ frame: AudioFrame, _ stream: MWDATCamera.Stream?) {
    let buffer = frame.pcmBuffer
    guard let data = buffer.floatChannelData else { return }
    let channels = (0..<Int(buffer.format.channelCount)).map {
      UnsafeBufferPointer(start: data[$0], count: Int(buffer.frameLength))
    }
    let (status, streamState, now) = (stream?.audioStatus, stream?.state, clock?.now)
    state.withLock { state in
      state.frames.append(
        Frame(
          start: Instant(nanoseconds: frame.presentationTimeStamp.value), delivered: now,
          count: Int(buffer.frameLength), missing: frame.missingSamples, isDiscontinuity: frame.isDiscontinuity,
          isFilled: frame.isFilled, isSilent: channels.allSatisfy { $0.allSatisfy { $0 == 0 } }, state: streamState,
          status: status, told: state.told.last, format: buffer.format,
          samples: keepsSamples ? channels.map { Array($0) } : []))
    }
  }
}
