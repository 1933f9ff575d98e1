import PortableMedia
import Synchronization
import Units

/// Pictures that come when they come, for all who look at them: one reader brings them, streams and photos take the
/// newest. Any thread.
package final class LiveFeed: Sendable {
  /// A picture as it came.
  package struct Picture: Sendable {
    /// Planar 4:2:0 (`y420`), limited range.
    package var buffer: CVPixelBuffer
    package var captured: Instant
  }

  package enum News: Sendable {
    case picture(Picture)
    /// None come for the time being, or ever; in words for people.
    case failed(String)
  }

  private struct State {
    var newest: Picture?
    /// Why there are no pictures; nil while they come.
    var failure: String?
    var observers: [UInt64: @Sendable (News) -> Void] = [:]
    var nextObserver: UInt64 = 0
  }

  /// What people call it: no credentials.
  package let name: String
  /// Pictures a second, as far as it is known.
  package let frameRate: Double
  private let state = Mutex(State())

  package init(name: String, frameRate: Double) {
    self.name = name
    self.frameRate = frameRate
  }

  package var newest: Picture? { state.withLock { $0.newest } }
  package var failure: String? { state.withLock { $0.failure } }

  // MARK: - By the reader

  package func deliver(_ buffer: CVPixelBuffer, captured: Instant) {
    let picture = Picture(buffer: buffer, captured: captured)
    let observers = state.withLock { state in
      state.newest = picture
      state.failure = nil
      return Array(state.observers.values)
    }
    for observer in observers { observer(.picture(picture)) }
  }

  /// What runs on it ends with these words; what is begun later ends at once, until pictures come again.
  package func fail(_ words: String) {
    let observers = state.withLock { state in
      state.failure = words
      state.newest = nil
      return Array(state.observers.values)
    }
    for observer in observers { observer(.failed(words)) }
  }

  // MARK: - By whoever looks

  /// Calls back with each picture from now on, and with a failure, also one that is known already. On the reader's
  /// thread, which must not be kept.
  ///
  /// - Returns: what ends it.
  func observe(_ observer: @escaping @Sendable (News) -> Void) -> UInt64 {
    let (number, failure) = state.withLock { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = observer
      return (state.nextObserver, state.failure)
    }
    if let failure { observer(.failed(failure)) }
    return number
  }

  func stopObserving(_ number: UInt64) { state.withLock { _ = $0.observers.removeValue(forKey: number) } }
}

extension LiveFeed: Hashable {
  package static func == (a: LiveFeed, b: LiveFeed) -> Bool { a === b }
  package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// A live feed as whoever opens any feed sees it: what it shows now.
final class LiveSource: VideoSource {
  let nativeSize: PixelSize
  let frameRate: Double
  private let buffer: CVPixelBuffer

  /// Throws where the feed has no picture now.
  init(_ feed: LiveFeed) throws(SourceError) {
    if let failure = feed.failure { throw .live(failure) }
    guard let picture = feed.newest else { throw .live("\(feed.name) has not brought a picture yet") }
    buffer = picture.buffer
    nativeSize = PixelSize(width: buffer.pixelWidth, height: buffer.pixelHeight)
    frameRate = feed.frameRate
  }

  func nextPictureTime(from elapsed: Duration) -> Duration { elapsed }
  func picture(at elapsed: Duration) -> SourcePicture { SourcePicture(buffer: buffer, index: 0, time: elapsed) }
  func still() -> CVPixelBuffer { buffer }
}
