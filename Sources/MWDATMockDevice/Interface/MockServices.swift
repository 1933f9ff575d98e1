import Foundation
import MWDATCore

/// What the simulated camera sees. Without a feed it sees a moving test pattern. Any thread; each call returns at once.
public protocol MockCameraKit: Sendable {
  /// The camera sees a media file from now on, over and over, also in a stream that runs.
  ///
  /// Any container with H.264 or HEVC video in any size, rate and rotation will do. A file that can't be played ends
  /// the stream with `StreamError.videoStreamingError` within two seconds of its start.
  func setCameraFeed(fileURL: URL)

  /// The camera sees what a simulated camera of the host sees from now on: the moving test pattern, whichever way it
  /// faces. Takes the place of a file.
  func setCameraFeed(cameraFacing: CameraFacing)

  /// Photos taken while streaming are this JPEG or PNG picture from now on. One that is asked for in the file's own
  /// format is delivered byte for byte; a picture that can't be read fails the photo, not the stream.
  func setCapturedImage(fileURL: URL)
}

/// Photos taken without a stream. Any thread; each call returns at once.
public protocol MockCameraCaptureKit: Sendable {
  /// Photos are this JPEG or HEIC file from now on, delivered byte for byte.
  func setCapturedPhoto(fileURL: URL)

  /// The next photo fails, and only that one.
  func simulateCaptureFailure()
}

/// The touchpad. Any thread; each call returns at once.
public protocol MockCaptouchKit: Sendable {
  /// One tap: a started session pauses, one that was paused by a tap goes on. Nothing happens without a session.
  func tap()

  /// A finger that stays: the session ends. Nothing happens without one.
  func tapAndHold()
}

/// What the user allows. Any thread; each call returns at once.
public protocol MockPermissions: Sendable {
  /// Decides what a check finds and what later requests are answered.
  func set(_ permission: Permission, _ status: PermissionStatus)

  /// Decides what later requests are answered. A request that is granted is what a later check finds.
  func setRequestResult(_ permission: Permission, result: PermissionStatus)
}
