import LinkProtocol
import MediaEngine
import Units

/// Where sound comes from: the feed's own track, a file, the pattern's beep, a tone, later a microphone.
///
/// Sources know no clock. Their time is counted in samples of the format that they were opened for, and the same position
/// always gives the same sample, so that a source may be read anew, or from anywhere.
///
/// Used from one thread at a time. Calls may take as long as reading and decoding take; none waits for real time.
package protocol AudioSource: AnyObject, Sendable {
  /// What apps are told that it is.
  var kind: AudioSourceKind { get }

  /// Appends the samples of `frames` frames from `position` on, interleaved. Where the source has none it is silent, also
  /// before its beginning.
  func read(from position: Int, frames: Int, into samples: inout [Float]) throws(MediaError)
}

/// What a microphone hears, as it is set.
package enum MicrophoneSource: Hashable, Sendable {
  /// The sound of what the camera sees, in step with its pictures.
  case feed
  /// A file with sound, from its beginning, over and over.
  case file(path: String)
  /// A sine; the level is that of its peaks, in decibels of full scale.
  case tone(frequency: Double, level: Double)
  case silence

  /// What it is before it has been opened.
  var kind: AudioSourceKind {
    switch self {
    case .feed: .feed
    case .file: .file
    case .tone: .tone
    case .silence: .silence
    }
  }

  /// Opens the source; nil for the feed, whose sound belongs to what the camera sees. Blocks for as long as that takes
  /// (tens of milliseconds for a file).
  func open(_ format: PCMFormat) throws(MediaError) -> (any AudioSource)? {
    switch self {
    case .feed: nil
    case .file(let path): try FileAudio(path: path, format: format, loops: true, kind: .file)
    case .tone(let frequency, let level): ToneAudio(frequency: frequency, level: level, format: format)
    case .silence: SilentAudio(format: format)
    }
  }
}

extension FeedDescription {
  /// Opens the feed's sound. A film without sound is silent; one whose sound can't be decoded is an error. Blocks as
  /// `MicrophoneSource.open` does.
  func openAudio(_ format: PCMFormat) throws(MediaError) -> any AudioSource {
    switch self {
    case .pattern: return PatternAudio(format: format)
    // Raw pictures have no sound.
    case .live: return SilentAudio(format: format)
    case .file(let path):
      do throws(MediaError) {
        return try FileAudio(path: path, format: format, loops: false, kind: .feed)
      } catch {
        guard error.cause == .noAudioTrack else { throw error }
        return SilentAudio(format: format)
      }
    }
  }
}

/// Nothing to hear.
final class SilentAudio: AudioSource {
  let kind = AudioSourceKind.silence
  private let channels: Int

  init(format: PCMFormat) { channels = format.channels }

  func read(from position: Int, frames: Int, into samples: inout [Float]) {
    samples.append(contentsOf: repeatElement(0, count: max(frames, 0).multipliedSaturating(by: channels)))
  }
}
