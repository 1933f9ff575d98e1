import Foundation
import LinkProtocol
import MWDATCore
import Synchronization

/// The camera of the glasses in a session: parent of the stream and of standalone photos.
///
/// Made by `DeviceSession.addCamera`. It ends with `stop()`, with its session, or with a failure of its stream; stopping
/// the stream alone doesn't end it. The session keeps it until then. All members may be used from any thread; states are
/// announced on one thread of the camera's, in order.
public final class Camera: Sendable {
  /// The video stream; begins `.stopped`.
  public let stream: Stream
  /// Photos apart from the stream; begins `.stopped`.
  public let photo: Photo

  private struct Life {
    var state = CameraState.started
    /// The session holds the camera, so not the other way round.
    weak var session: DeviceSession?
  }

  private let states: Broadcaster<CameraState>
  private let desk: PhotoDesk
  private let life: Mutex<Life>

  init(_ configuration: StreamConfiguration, _ context: CameraContext, session: DeviceSession) {
    let desk = PhotoDesk(context)
    let stream = Stream(configuration, context, desk: desk)
    photo = Photo(context, desk: desk, isStreaming: { [weak stream] in stream.map { $0.state != .stopped } ?? false })
    states = Broadcaster(lane: context.timekeeper.makeLane("camera"))
    life = Mutex(Life(session: session))
    self.desk = desk
    self.stream = stream
    desk.serve(stream: stream, standalone: photo)
    stream.serve(self)
  }

  /// Where the camera stands.
  public var state: CameraState { life.withLock { $0.state } }

  /// Announces each new state.
  public var statePublisher: any Announcer<CameraState> { states }

  /// Stops stream and photos, then takes the camera out of its session; when this returns all of that has been done, and
  /// a new camera can be added. Harmless when repeated.
  public func stop() { end(streamHasEnded: false) }

  private func end(streamHasEnded: Bool) {
    let (isFirst, session) = life.withLock { life in
      guard life.state == .started else { return (false, DeviceSession?.none) }
      life.state = .stopping
      states.send(.stopping)
      return (true, life.session)
    }
    guard isFirst else { return }
    if !streamHasEnded { stream.parentEnded() }
    photo.parentEnded()
    session?.detach(self)
    life.withLock { life in
      life.state = .stopped
      states.send(.stopped)
    }
  }
}

extension Camera: StreamOwner {
  func streamFailed() { end(streamHasEnded: true) }
}

extension Camera: SessionCapability {
  package func sessionPaused(_ reason: SessionPaused.Reason) { stream.sessionPaused(reason) }
  package func sessionResumed() { stream.sessionResumed() }
  package func sessionEnding() { end(streamHasEnded: false) }

  package func sessionLinkEvent(_ event: LinkEvent) {
    desk.handle(event)
    stream.handle(event)
    if case .closed = event { photo.linkLost() }
  }
}
