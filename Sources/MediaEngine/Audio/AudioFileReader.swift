import Synchronization
import Units

/// Reads the sound of a media file at any place: any container and codec that FFmpeg reads, with or without pictures.
///
/// Time 0 is the beginning of the first picture, as `VideoFileReader` counts; in a file without pictures it is the beginning
/// of the sound. Sound keeps its place beside the pictures: where the track has none, before its beginning, in its gaps,
/// and after its end, there is silence. What a codec adds in front and behind is left out.
///
/// Any thread; calls take turns. Reading blocks for the disk and for decoding.
package final class AudioFileReader: Sendable {
  /// What the file's sound is.
  package struct Description: Hashable, Sendable {
    /// FFmpeg's short name of the codec, such as "aac".
    package var codec: String
    /// As it is in the file.
    package var sampleRate: Int
    package var channels: Int
    /// From time 0 to the end of the sound, as the file states it; nil where it does not.
    package var duration: Duration?
    /// Where the sound begins; negative when it begins before the first picture.
    package var start: Duration
    package var hasVideo: Bool
  }

  package let description: Description
  /// What `read` returns.
  package let format: PCMFormat

  /// Opens the file and decodes the first sound, so that what can't be played is known here.
  ///
  /// - Parameter format: of what `read` returns.
  ///
  /// Throws `.noAudioTrack`, `.noDecodableSound`, `.codecNotSupported`, `.audioFormatNotSupported`, and the causes about files.
  package init(path: String, format: PCMFormat) throws(MediaError) {
    throw MediaError(.noAudioTrack, while: .opening, path: path)
  }

  /// So many frames from a time on, interleaved; the first is the one nearest to the time. Reads that follow each other are cheap; others seek.
  ///
  /// Packets that can't be decoded are passed over as silence and counted. Throws `.noDecodableSound` when nothing but
  /// such comes, or what the file system says.
  package func read(from: Duration, frames: Int) throws(MediaError) -> [Float] { [] }

  /// Packets that could not be decoded so far.
  package var undecodablePackets: Int { 0 }
}
