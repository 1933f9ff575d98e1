import Synchronization
import Units

/// Reads the sound of a media file at any place: any container and codec that FFmpeg reads, with or without pictures.
///
/// Time 0 is the beginning of the first picture, as `VideoFileReader` counts; in a file without pictures it is the beginning
/// of the sound. Sound keeps its place beside the pictures: where the track has none, before its beginning, in its gaps,
/// and after its end, there is silence. What a codec adds in front and behind is left out. More than two channels are mixed
/// down.
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
  private let state: Mutex<AudioFileReaderState>

  /// Opens the file and decodes the first sound, so that what can't be played is known here.
  ///
  /// - Parameter format: of what `read` returns.
  ///
  /// Throws `.noAudioTrack`, `.noDecodableAudio`, `.codecNotSupported`, `.audioFormatNotSupported`, and the causes about files.
  package init(path: String, format: PCMFormat) throws(MediaError) {
    do {
      let state = try AudioFileReaderState(path: path, format: format)
      description = state.description
      self.format = format
      self.state = Mutex(state)
    } catch {
      throw error.about(path: path)
    }
  }

  /// So many frames from a time on, interleaved; the first is the one nearest to the time. Reads that follow each other
  /// are cheap; others seek, and give the same samples.
  ///
  /// Packets that can't be decoded are passed over as silence and counted, and so are those that say a place far ahead where
  /// the file does not go on, unless what lies around them says where they belong. Throws `.noDecodableAudio` when nothing but
  /// such comes, or what the file system says.
  package func read(from: Duration, frames: Int) throws(MediaError) -> [Float] {
    try state.withLock { state throws(MediaError) in try state.read(from: from, frames: frames) }
  }

  /// Packets that could not be decoded, or placed, so far.
  package var undecodablePackets: Int { state.withLock { $0.undecodablePackets } }
}

/// The reader's inside: the track at its own rate, and what turns it into the asked one.
///
/// A run of the resampler begins at a time that is a whole number of frames at both rates, so that a seek shifts nothing, and
/// early enough for its filter.
private struct AudioFileReaderState {
  /// Frames that a resampler's filter reaches to each side, at the lower of its rates.
  private static let filterReach = 64
  /// Further apart, a place is sought instead of read through.
  private static let readThrough: Duration = .seconds(1)
  /// No sound lies further from time 0, in frames: months.
  private static let furthest = 1 << 40

  let description: AudioFileReader.Description
  private let format: PCMFormat
  private var track: AudioTrackReader
  private let resampler: Resampler
  /// The least numbers of frames that last equally long at the file's and the asked rate.
  private let period: (file: Int, asked: Int)

  /// The next frame of the file that the resampler gets, and the asked frame that `ready` begins with; nil before the first read.
  private var run: (next: Int, ready: Int)?
  private var ready: [Float] = []

  init(path: String, format: PCMFormat) throws(MediaError) {
    try format.check(while: .opening)
    self.format = format
    let track = try AudioTrackReader(path: path) { hasPictures in
      guard hasPictures else { return nil }
      // The reader of the pictures knows which one it shows first.
      return (try? VideoFileReader(path: path, loops: false))?.firstStampInFile
    }
    let own = PCMFormat(sampleRate: track.sampleRate, channels: track.channels)
    resampler = try Resampler(from: own, to: format)
    let divisor = Self.greatestCommonDivisor(own.sampleRate, format.sampleRate)
    period = (own.sampleRate / divisor, format.sampleRate / divisor)
    description = AudioFileReader.Description(
      codec: track.codec, sampleRate: track.sampleRate, channels: track.channelsInFile,
      duration: track.end.map { own.duration(frames: $0) }, start: own.duration(frames: track.start),
      hasVideo: track.hasPictures)
    self.track = track
  }

  var undecodablePackets: Int { track.undecodablePackets }

  mutating func read(from time: Duration, frames: Int) throws(MediaError) -> [Float] {
    let first = format.frames(in: time)
    guard frames > 0 else { return [] }
    guard -Self.furthest..<Self.furthest ~= first, frames < Self.furthest else {
      return [Float](repeating: 0, count: frames * format.channels)
    }
    let isNear = run.map { first >= $0.ready && first - $0.ready < format.frames(in: Self.readThrough) } ?? false
    if !isNear { try begin(at: first) }
    guard let begin = run?.ready else { return [] }
    let skipped = (first - begin) * format.channels
    let count = frames * format.channels
    do {
      while ready.count < skipped + count { try feed() }
    } catch {
      run = nil
      throw error
    }
    let output = Array(ready[skipped..<skipped + count])
    ready.removeFirst(skipped + count)
    run?.ready = first + frames
    return output
  }

  private mutating func begin(at frame: Int) throws(MediaError) {
    _ = try resampler.flush()
    ready = []
    guard period.file != period.asked else {
      run = (frame, frame)
      return
    }
    let reach = Self.filterReach * max(1, 1 + period.asked / period.file)
    let periods = Int((Double(frame - reach) / Double(period.asked)).rounded(.down))
    run = (periods * period.file, periods * period.asked)
  }

  /// Twenty milliseconds more.
  private mutating func feed() throws(MediaError) {
    guard let next = run?.next else { return }
    let frames = max(1, track.sampleRate / 50)
    ready += try resampler.convert(try track.read(from: next, frames: frames))
    run?.next = next + frames
  }

  private static func greatestCommonDivisor(_ a: Int, _ b: Int) -> Int { b == 0 ? a : greatestCommonDivisor(b, a % b) }
}
