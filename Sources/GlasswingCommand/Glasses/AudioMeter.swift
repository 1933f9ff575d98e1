import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import Synchronization

/// Listens to a stream's sound: how loud it is, and how much of it came.
final class AudioMeter: Sendable {
  private struct State {
    /// Of the samples since the last look.
    var squares = 0.0
    var samples = 0
    /// Of the looks before.
    var allSquares = 0.0
    var allSamples = 0
    var level: Double?
    var frames: UInt64 = 0
    var missing: UInt64 = 0
    var token: (any AnyListenerToken)?
  }

  /// What silence is shown as: below what 16 bits can hold.
  static let floor = -99.0

  private let state = Mutex(State())

  func listen(to stream: MWDATCamera.Stream) {
    let token = stream.audioFramePublisher.listen { [weak self] frame in self?.take(frame) }
    state.withLock { $0.token = token }
  }

  private func take(_ frame: AudioFrame) {
    let (squares, samples) = Self.energy(of: frame.pcmBuffer)
    state.withLock { state in
      state.squares += squares
      state.samples += samples
      state.frames &+= UInt64(frame.pcmBuffer.frameLength)
      state.missing &+= UInt64(max(0, frame.missingSamples))
    }
  }

  static func energy(of buffer: AVAudioPCMBuffer) -> (squares: Double, samples: Int) {
    guard let channels = buffer.floatChannelData else { return (0, 0) }
    let frames = Int(buffer.frameLength)
    var squares = 0.0
    for channel in 0..<Int(buffer.format.channelCount) {
      let samples = channels[channel]
      for frame in 0..<frames {
        let sample = Double(samples[frame * buffer.stride])
        squares += sample * sample
      }
    }
    return (squares.isFinite ? squares : 0, frames * Int(buffer.format.channelCount))
  }

  /// How loud it has been since the last look, as the root of the mean square in decibels below full scale; what was seen
  /// last if nothing came since, nil before the first sound.
  var level: Double? {
    state.withLock { state in
      if state.samples > 0 { state.level = Self.decibels(state.squares / Double(state.samples)) }
      state.allSquares += state.squares
      state.allSamples += state.samples
      (state.squares, state.samples) = (0, 0)
      return state.level
    }
  }

  /// The same over all sound that came; nil if none did.
  var overallLevel: Double? {
    state.withLock { state in
      let samples = state.allSamples + state.samples
      guard samples > 0 else { return nil }
      return (Self.decibels((state.allSquares + state.squares) / Double(samples)) * 10).rounded() / 10
    }
  }

  static func decibels(_ meanSquare: Double) -> Double {
    meanSquare > 0 ? max(floor, 10 * log10(meanSquare)) : floor
  }

  /// Frames that came, and frames that are missing between them.
  var frames: (heard: UInt64, missing: UInt64) { state.withLock { ($0.frames, $0.missing) } }

  func end() {
    let token = state.withLock { state in
      defer { state.token = nil }
      return state.token
    }
    withExtendedLifetime(token) {}
  }
}
