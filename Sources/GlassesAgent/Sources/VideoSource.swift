import MediaEngine
import PortableMedia
import Units

/// Where pictures come from: a file, the test pattern, later a sensor.
///
/// Sources know no clock: they are asked for the picture that shows at a time since they began, and answer the same for
/// the same time. Times asked for never go back. Sources have no end; what is finite begins again, its times rising on.
///
/// Used from one lane at a time. Calls may take as long as decoding takes; none waits for real time.
package protocol VideoSource: AnyObject, Sendable {
  /// The size of the pictures that `picture(at:)` gives.
  var nativeSize: PixelSize { get }
  /// Pictures a second, on average.
  var frameRate: Double { get }

  /// When the first picture that is due at `elapsed` or later is due, in whole nanoseconds. The source may then let go of
  /// what comes before it, save the picture right before.
  func nextPictureTime(from elapsed: Duration) throws(SourceError) -> Duration

  /// The picture that shows at `elapsed`: the last one due by then.
  func picture(at elapsed: Duration) throws(SourceError) -> SourcePicture

  /// When a source that is finite begins anew, since it began; nil without an end. Known before the first picture of the
  /// second round is due.
  var roundLength: Duration? { get }

  /// The picture given last, or the first if none was, as large as the source has it; for photos.
  func still() throws(SourceError) -> CVPixelBuffer
}

extension VideoSource {
  package var roundLength: Duration? { nil }
}

/// A picture of a source.
package struct SourcePicture: Sendable {
  /// Planar 4:2:0 (`y420`), limited range, at the source's native size.
  package var buffer: CVPixelBuffer
  /// Counts the source's pictures from 0, also through loops and those that nobody asked for.
  package var index: Int64
  /// When it was due, since the source began.
  package var time: Duration
  /// When the round that it belongs to began; 0 in the first, and always for a source without an end.
  package var roundBegan: Duration

  package init(buffer: CVPixelBuffer, index: Int64, time: Duration, roundBegan: Duration = .zero) {
    self.buffer = buffer
    self.index = index
    self.time = time
    self.roundBegan = roundBegan
  }
}

/// Why a source gives no pictures.
package enum SourceError: Error, Hashable, Sendable {
  /// The file can't be played; the error says what is wrong with it.
  case file(MediaError)
  /// The source has not a single picture.
  case noPicture
  case outOfMemory
  case sizeNotSupported(PixelSize)
  /// A live feed brings nothing; in words for people.
  case live(String)

  /// What is wrong and with what, in words for people.
  package var text: String {
    switch self {
    case .file(let error): error.description
    case .noPicture: "the source has no picture"
    case .outOfMemory: "no memory for pictures"
    case .live(let words): words
    case .sizeNotSupported(let size): "pictures of \(size.width)x\(size.height) are not supported"
    }
  }
}
