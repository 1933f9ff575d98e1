import LinkProtocol
import MediaEngine
import Synchronization
import Units

/// The sound of a file, from wherever it is asked for.
///
/// Decoded in stretches that are kept, so that a loop, or a jump back, costs nothing: a feed's cycle is decoded once. At
/// most `capacity` stretches; the one not used for longest goes.
final class FileAudio: AudioSource {
  /// Half a second each, 16 s in all: 6 MB of stereo at 48 kHz.
  private static let capacity = 32
  private static let stretchesPerSecond = 2
  /// A shorter file is played once.
  private static let shortestLoop: Duration = .milliseconds(1)

  let kind: AudioSourceKind
  private let reader: AudioFileReader
  private let format: PCMFormat
  private let stretchFrames: Int
  /// When a loop begins anew; nil for what has no loop.
  private let round: Int?
  /// Least recently used first.
  private let stretches = Mutex<[(number: Int, samples: [Float])]>([])

  /// Opens the file and decodes its first sound.
  ///
  /// - Parameter loops: whether it begins anew after its end; in silence if not.
  init(path: String, format: PCMFormat, loops: Bool, kind: AudioSourceKind) throws(MediaError) {
    self.kind = kind
    self.format = format
    reader = try AudioFileReader(path: path, format: format)
    stretchFrames = max(1, format.sampleRate / Self.stretchesPerSecond)
    let duration = reader.description.duration ?? .zero
    round = loops && duration >= Self.shortestLoop ? max(1, format.frames(in: duration)) : nil
  }

  func read(from position: Int, frames: Int, into samples: inout [Float]) throws(MediaError) {
    var position = position
    var left = frames
    while left > 0 {
      var length = left
      if let round {
        let remainder = position % round
        position = remainder < 0 ? remainder + round : remainder
        length = min(length, round - position)
      }
      try readOnce(from: position, frames: length, into: &samples)
      position = position.addingSaturating(length)
      left -= length
    }
  }

  private func readOnce(from start: Int, frames: Int, into samples: inout [Float]) throws(MediaError) {
    var position = start
    let end = start.addingSaturating(frames)
    if position < 0 {
      let silent = min(end, 0) - position
      samples.append(contentsOf: repeatElement(0, count: silent * format.channels))
      position += silent
    }
    while position < end {
      let number = position / stretchFrames
      let stretch = try stretch(number)
      let offset = position - number * stretchFrames
      let length = min(end - position, stretchFrames - offset)
      samples.append(contentsOf: stretch[offset * format.channels..<(offset + length) * format.channels])
      position += length
    }
  }

  private func stretch(_ number: Int) throws(MediaError) -> [Float] {
    let known = stretches.withLock { stretches -> [Float]? in
      guard let index = stretches.lastIndex(where: { $0.number == number }) else { return nil }
      if index + 1 < stretches.count { stretches.append(stretches.remove(at: index)) }
      return stretches.last?.samples
    }
    if let known { return known }
    let start = format.duration(frames: number.multipliedSaturating(by: stretchFrames))
    var samples = try reader.read(from: start, frames: stretchFrames)
    // As long as it must be, whatever the reader had.
    let missing = stretchFrames * format.channels - samples.count
    if missing > 0 { samples.append(contentsOf: repeatElement(0, count: missing)) }
    stretches.withLock { stretches in
      if stretches.count >= Self.capacity { stretches.removeFirst() }
      stretches.append((number, samples))
    }
    return samples
  }
}
