import Foundation
import LinkProtocol
import MediaEngine
import Units

/// The sound of the test pattern: a beep of 1 kHz and -12 dBFS with each flash, over a quiet tone of 440 Hz and -40 dBFS.
///
/// The beep begins with the first sample of each full second of the pattern's time, and ends with the flash. Both sines
/// begin anew each second at phase 0, so the second is made once.
package final class PatternAudio: AudioSource {
  package static let beepFrequency = 1000.0
  package static let beepLevel = -12.0
  package static let toneFrequency = 440.0
  package static let toneLevel = -40.0

  package let kind = AudioSourceKind.feed
  private let second: Second

  package init(format: PCMFormat) {
    let beep = format.frames(in: PatternSource.flashDuration)
    let tone = Sine(Self.toneFrequency, level: Self.toneLevel, rate: format.sampleRate)
    let loud = Sine(Self.beepFrequency, level: Self.beepLevel, rate: format.sampleRate)
    second = Second(format) { index in
      index < beep ? tone.value(at: index) + loud.value(at: index) : tone.value(at: index)
    }
  }

  package func read(from position: Int, frames: Int, into samples: inout [Float]) {
    second.read(from: position, frames: frames, into: &samples)
  }
}

/// A sine of any frequency; silent where the rate can't carry it.
final class ToneAudio: AudioSource {
  let kind = AudioSourceKind.tone
  private let sine: Sine
  private let channels: Int
  /// Where a second holds whole waves.
  private let second: Second?

  init(frequency: Double, level: Double, format: PCMFormat) {
    let sine = Sine(frequency, level: level, rate: format.sampleRate)
    self.sine = sine
    channels = format.channels
    second = frequency.rounded() == frequency ? Second(format) { sine.value(at: $0) } : nil
  }

  func read(from position: Int, frames: Int, into samples: inout [Float]) {
    if let second { return second.read(from: position, frames: frames, into: &samples) }
    for index in 0..<max(frames, 0) {
      let value = sine.value(at: position.addingSaturating(index))
      for _ in 0..<channels { samples.append(value) }
    }
  }
}

/// A sine by the number of its sample.
struct Sine: Sendable {
  private let turns: Double
  private let amplitude: Double

  /// - Parameter level: of the peaks, in decibels of full scale; no more than full scale.
  init(_ frequency: Double, level: Double, rate: Int) {
    let isCarried = frequency.isFinite && frequency > 0 && frequency * 2 < Double(rate)
    turns = isCarried ? frequency / Double(max(rate, 1)) : 0
    amplitude = level.isNaN ? 0 : pow(10, min(level, 0) / 20)
  }

  func value(at index: Int) -> Float {
    let phase = Double(index) * turns
    return Float(amplitude * sin(2 * .pi * (phase - phase.rounded(.down))))
  }
}

/// A second of sound that repeats.
private struct Second: Sendable {
  private let samples: [Float]
  private let frames: Int
  private let channels: Int

  init(_ format: PCMFormat, _ value: (Int) -> Float) {
    frames = max(format.sampleRate, 1)
    channels = format.channels
    var samples: [Float] = []
    samples.reserveCapacity(frames.multipliedSaturating(by: channels))
    for index in 0..<frames {
      let value = value(index)
      for _ in 0..<channels { samples.append(value) }
    }
    self.samples = samples
  }

  func read(from position: Int, frames count: Int, into result: inout [Float]) {
    let remainder = position % frames
    var index = remainder < 0 ? remainder + frames : remainder
    var left = count
    while left > 0 {
      let length = min(left, frames - index)
      result.append(contentsOf: samples[index * channels..<(index + length) * channels])
      left -= length
      index = 0
    }
  }
}
