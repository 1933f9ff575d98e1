import LinkProtocol
import MWDATCore

/// What went wrong with standalone photos.
public enum PhotoError: DatError {
  /// A photo was asked for while not `.started`.
  case notReady
  /// The photo did not come about; `underlying` says more where more is known.
  case captureFailure(underlying: (any Error)?)
  /// The start came to nothing.
  case sessionSetupFailed(underlying: (any Error)?)
  /// Another photo is being taken, or the stream has the camera.
  case busy
  /// The camera of the glasses can't be had now.
  case serviceUnavailable
  case permissionDenied
  /// Too hot, or too little power.
  case deviceHealthCritical
  /// Kept for clients' switches; a lost device shows as `.captureFailure`.
  case deviceDisconnected

  public var description: String {
    switch self {
    case .notReady: "Photos are not started. Call start() and wait for the started state."
    case .captureFailure: "The photo could not be taken. Try again."
    case .sessionSetupFailed: "Photos could not be started. Look at the underlying error and start again."
    case .busy: "The camera is busy. Wait for the photo being taken, or stop the stream."
    case .serviceUnavailable: "The camera of the glasses is not available. Start the session again."
    case .permissionDenied: "The camera permission is not granted. Ask for it with requestPermission(.camera)."
    case .deviceHealthCritical:
      "The glasses are too hot or have too little power for a photo. Let them cool down, or charge them."
    case .deviceDisconnected: "The glasses are disconnected. Bring them close and start a new session."
    }
  }
}

extension PhotoError {
  package init(_ failure: CaptureMachine.Failure) {
    self =
      switch failure {
      case .refused(let code, _):
        switch code {
        case .photoBusy: .busy
        case .heldByOther, .notOpen, .unsupported: .serviceUnavailable
        case .cameraPermissionDenied: .permissionDenied
        case .thermalHot, .thermalCritical, .thermalEmergency, .batteryLow, .batteryCritical, .peakPowerLimit,
          .peakPowerShutdown:
          .deviceHealthCritical
        case .unknown, .internalError, .timeout, .microphonePermissionDenied, .sourceFailed, .encoderFailed,
          .audioFailed, .photoFailed, .hingeClosed:
          .captureFailure(underlying: failure)
        }
      case .timedOut, .damaged, .linkLost, .cancelled:
        .captureFailure(underlying: failure)
      }
  }

  package init(_ failure: PhotoMachine.SetupFailure) {
    self =
      switch failure {
      case .permissionDenied: .permissionDenied
      case .notConnected, .permissionUnknown, .timedOut, .cameraStopped: .sessionSetupFailed(underlying: failure)
      }
  }
}
