import Foundation
import MWDATCore

extension DeviceSession {
  /// Gives the session a camera, already `.started`, whose stream and photos wait to be started.
  ///
  /// Nil when the session is not `.started`. Throws `capabilityAlreadyActive` while the session has a camera; after that
  /// has stopped, or its stream has failed, a new one can be added.
  public func addCamera(config: StreamConfiguration = StreamConfiguration()) throws(DeviceSessionError) -> Camera? {
    guard state == .started, let link else { return nil }
    let context = CameraContext(device: deviceId, session: linkSessionID, link: link, environment: environment)
    let camera = Camera(config, context, session: self)
    do throws(DeviceSessionError) {
      try attach(camera)
    } catch .sessionIdle, .sessionAlreadyStopped {
      // Paused or stopped since it was looked at.
      return nil
    }
    NotificationCenter.default.post(name: .mwdatStreamSessionCreated, object: camera.stream)
    return camera
  }
}

extension Notification.Name {
  /// Posted on the caller's thread when `addCamera` has made a camera; the object is its `Stream`.
  public static let mwdatStreamSessionCreated = Notification.Name("mwdatStreamSessionCreated")
}

extension NSNotification {
  // Names that only an Objective-C client's façade posts; here for programs that mention them.

  /// Not posted: listen to `Stream.statePublisher`.
  public static let streamStateChanged = Notification.Name("streamStateChanged")
  /// Not posted: listen to `Stream.videoFramePublisher`.
  public static let streamFrameReceived = Notification.Name("streamFrameReceived")
  /// Not posted: listen to `Stream.photoDataPublisher`.
  public static let streamPhotoCaptured = Notification.Name("streamPhotoCaptured")
  /// Not posted: listen to `Stream.errorPublisher`.
  public static let streamErrorOccurred = Notification.Name("streamErrorOccurred")
}
