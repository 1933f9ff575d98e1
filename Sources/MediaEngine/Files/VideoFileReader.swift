import PortableMedia
import Synchronization
import Units

/// A picture of a file, upright and with square pixels.
package struct FilePicture: Sendable {
  /// 'y420', limited range, colours by BT.601 whatever the file's are. Belongs to whoever has it.
  package var picture: CVPixelBuffer
  /// When it is shown, from the beginning of the first picture of the first round. Rises strictly, through every loop.
  package var stamp: Duration
  /// How long it is shown, as the file says.
  package var duration: Duration
  /// Its number within the file, from 0, in order of presentation.
  package var index: Int
  /// How often the file had begun anew before it.
  package var loop: Int
}

/// Reads the pictures of a media file in order of presentation: any container and codec that FFmpeg reads.
///
/// The display matrix and pixel aspect are applied, time stamps are the file's own, sound is not read. In a loop, the first
/// picture follows when the last one's duration is over.
///
/// Any thread; calls take turns. Reading blocks for the disk and for decoding.
package final class VideoFileReader: Sendable {
  package let description: MediaFileDescription

  private let state: Mutex<VideoFileReaderState>

  /// Opens the file and decodes its first picture, so that what can't be played is known here. The work is bounded by
  /// constants: a few megabytes are read and a few hundred packets tried.
  ///
  /// - Parameter loops: whether the pictures begin anew after the last, without end.
  ///
  /// Throws one of the causes about files, with the path and words for people.
  package init(path: String, loops: Bool) throws(MediaError) {
    do {
      var state = try VideoFileReaderState(path: path, loops: loops)
      description = try state.prepare()
      self.state = Mutex(state)
    } catch {
      throw error.about(path: path)
    }
  }

  /// The next picture; nil after the last one of a file that doesn't loop.
  ///
  /// Packets that can't be decoded are passed over and counted. Throws `.noDecodablePicture` when nothing but such comes,
  /// or what the file system says.
  package func next() throws(MediaError) -> FilePicture? {
    try state.withLock { state throws(MediaError) in try state.next() }
  }

  /// When the first picture is shown on the file's own axis of time, which its other tracks share; nil where the file does
  /// not say.
  package var firstStampInFile: Duration? { state.withLock { $0.firstStampInFile } }

  /// Packets that could not be decoded so far.
  package var undecodablePackets: Int { state.withLock { $0.undecodablePackets } }
}
