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
    case .notReady: "Photos are not started"
    case .captureFailure: "The photo could not be taken"
    case .sessionSetupFailed: "Photos could not be started"
    case .busy: "The camera is busy"
    case .serviceUnavailable: "The camera of the glasses is not available"
    case .permissionDenied: "The camera permission is not granted"
    case .deviceHealthCritical: "The glasses are too hot or have too little power for a photo"
    case .deviceDisconnected: "The glasses are disconnected"
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
