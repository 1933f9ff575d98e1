import LinkProtocol
import Synchronization
import Units

/// What a photo is made of.
package enum Shot: Hashable, Sendable {
  /// The picture that the camera sees.
  case feed(FeedDescription)
  /// A picture file; its bytes as they are when it is in the format asked for, and made anew when not.
  case image(path: String)
  /// A file delivered byte for byte, whatever was asked for.
  case finished(path: String)
  /// It fails, as a simulation was told.
  case failure
}

/// What the camera of a pair of glasses sees.
///
/// Every member may be called from any thread and none waits.
package final class GlassesCamera: Sendable {
  private struct State {
    var feed = FeedDescription.pattern
    var bitrate: Bitrate?
    var image: String?
    var capturedPhoto: String?
    var failsNextCapture = false
    var observer: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())
  private let lane: any Lane

  init(lane: any Lane) { self.lane = lane }

  package var feed: FeedDescription { state.withLock { $0.feed } }

  /// Shows something else from now on, also in streams that run.
  package func setFeed(_ feed: FeedDescription) {
    state.withLock { state in
      guard state.feed != feed else { return }
      state.feed = feed
      if let observer = state.observer { lane.run(observer) }
    }
  }

  /// What streams that begin from now on are encoded at; nil for what suits their size and rate.
  package var bitrate: Bitrate? { state.withLock { $0.bitrate } }
  package func setBitrate(_ bitrate: Bitrate?) { state.withLock { $0.bitrate = bitrate } }

  /// Photos within a stream are this picture file; nil for what the camera sees.
  package func setImage(path: String?) { state.withLock { $0.image = path } }

  /// Photos of their own are this file; nil for what photos within a stream are.
  package func setCapturedPhoto(path: String?) { state.withLock { $0.capturedPhoto = path } }

  /// The next photo of its own fails, and only that one.
  package func failNextCapture() { state.withLock { $0.failsNextCapture = true } }

  func observeFeed(_ observer: @escaping @Sendable () -> Void) { state.withLock { $0.observer = observer } }

  /// What the photo that is asked for now is made of. A size of `source` marks a photo within a stream.
  func takeShot(_ request: PhotoRequest) -> Shot {
    state.withLock { state in
      if request.size != .source {
        if state.failsNextCapture {
          state.failsNextCapture = false
          return .failure
        }
        if let path = state.capturedPhoto { return .finished(path: path) }
      }
      return state.image.map { .image(path: $0) } ?? .feed(state.feed)
    }
  }
}
