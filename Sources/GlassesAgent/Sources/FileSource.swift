import MediaEngine
import PortableMedia
import Synchronization
import Units

/// Plays a file's video in a loop: any size, frame rate and rotation, evenly spaced or not.
///
/// Pictures come upright. One is decoded ahead, so that the next one's time is known, and it is ready when it is due.
package final class FileSource: VideoSource {
  /// Pictures that one call decodes to catch up with the clock. A file that needs more is too slow for real time, and
  /// each attempt to catch up would be later than the one before.
  private static let longestCatchUp = 30
  /// Of a file that does not say.
  private static let defaultFrameRate = 30.0

  private struct State {
    /// The picture that shows, and the one after it.
    var current: SourcePicture
    var upcoming: SourcePicture
    var loop: Int
    /// The picture that was given last.
    var given: SourcePicture?
    /// When the second round began, once it is known.
    var cycle: Duration?
  }

  package let nativeSize: PixelSize
  package let frameRate: Double
  private let path: String
  private let reader: VideoFileReader
  private let state: Mutex<State>

  /// Opens the file and decodes its first pictures.
  package init(path: String) throws(SourceError) {
    self.path = path
    do throws(MediaError) {
      reader = try VideoFileReader(path: path, loops: true)
      nativeSize = reader.description.video.size
      frameRate = reader.description.video.frameRate ?? Self.defaultFrameRate
      guard let first = try reader.next(), let second = try reader.next() else {
        throw MediaError(.noDecodablePicture, while: .decoding)
      }
      let current = SourcePicture(buffer: first.picture, index: 0, time: first.stamp)
      let upcoming = SourcePicture(
        buffer: second.picture, index: 1, time: second.stamp,
        roundBegan: second.loop == first.loop ? .zero : second.stamp)
      let cycle = second.loop == first.loop ? nil : second.stamp
      state = Mutex(State(current: current, upcoming: upcoming, loop: second.loop, cycle: cycle))
    } catch {
      throw .file(error.about(path: path))
    }
  }

  package func nextPictureTime(from elapsed: Duration) throws(SourceError) -> Duration {
    try locked { (state) throws(MediaError) in
      guard state.current.time < elapsed else { return state.current.time }
      while state.upcoming.time < elapsed { try advance(&state) }
      return state.upcoming.time
    }
  }

  package func picture(at elapsed: Duration) throws(SourceError) -> SourcePicture {
    try locked { (state) throws(MediaError) in
      var decoded = 0
      while state.upcoming.time <= elapsed, decoded < Self.longestCatchUp {
        try advance(&state)
        decoded += 1
      }
      state.given = state.current
      return state.current
    }
  }

  package var roundLength: Duration? { state.withLock { $0.cycle } }

  package func still() throws(SourceError) -> CVPixelBuffer { state.withLock { ($0.given ?? $0.current).buffer } }

  private func locked<Value: Sendable>(_ body: (inout State) throws(MediaError) -> Value) throws(SourceError) -> Value {
    do throws(MediaError) {
      return try state.withLock { (state) throws(MediaError) in try body(&state) }
    } catch {
      throw .file(error.about(path: path))
    }
  }

  private func advance(_ state: inout State) throws(MediaError) {
    guard let next = try reader.next() else { throw MediaError(.noDecodablePicture, while: .decoding) }
    let previous = state.upcoming
    state.upcoming = SourcePicture(
      buffer: next.picture, index: previous.index + 1, time: next.stamp,
      roundBegan: next.loop == state.loop ? previous.roundBegan : next.stamp)
    if next.loop != state.loop, state.cycle == nil { state.cycle = next.stamp }
    state.loop = next.loop
    state.current = previous
  }
}
