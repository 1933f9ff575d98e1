import LinkProtocol
import MWDATCore

/// What went wrong with a stream. All but `.photoCaptureFailed` end it: `.stopping` and `.stopped` follow, and the
/// camera is detached from its session.
public enum StreamError: DatError, Equatable {
  case internalError
  /// No such device is known.
  case deviceNotFound(DeviceIdentifier)
  /// The device is known and can't be reached, or was lost.
  case deviceNotConnected(DeviceIdentifier)
  /// The glasses were asked for pictures and none came in time.
  case timeout
  /// The source of the pictures can't be played, or failed.
  case videoStreamingError
  /// The sound that was asked for can't be had.
  case audioStreamingError
  case permissionDenied
  /// The glasses were folded.
  case hingesClosed
  case thermalHot
  case batteryLow
  case peakPowerLimit
  /// The photo taken while streaming did not come about; the stream goes on.
  case photoCaptureFailed

  public var description: String {
    switch self {
    case .internalError: "The stream ended by an internal error"
    case .deviceNotFound(let device): "Device \(device) is not known"
    case .deviceNotConnected(let device): "Device \(device) is not connected"
    case .timeout: "The glasses sent no pictures in time"
    case .videoStreamingError: "The camera's pictures can't be streamed"
    case .audioStreamingError: "The sound that was asked for can't be streamed"
    case .permissionDenied: "The camera permission is not granted"
    case .hingesClosed: "The glasses were folded"
    case .thermalHot: "The glasses are too hot to stream"
    case .batteryLow: "The battery of the glasses is too low to stream"
    case .peakPowerLimit: "The glasses have not enough power to stream"
    case .photoCaptureFailed: "The photo could not be taken"
    }
  }
}

extension StreamError {
  /// What a cause that crossed the link is to the app.
  package init(_ code: LinkErrorCode) {
    self =
      switch code {
      case .unknown, .internalError, .notOpen, .heldByOther, .unsupported: .internalError
      case .timeout: .timeout
      case .cameraPermissionDenied: .permissionDenied
      case .sourceFailed, .encoderFailed: .videoStreamingError
      case .microphonePermissionDenied, .audioFailed: .audioStreamingError
      case .photoFailed, .photoBusy: .photoCaptureFailed
      case .hingeClosed: .hingesClosed
      case .thermalHot, .thermalCritical, .thermalEmergency: .thermalHot
      case .batteryLow, .batteryCritical: .batteryLow
      case .peakPowerLimit, .peakPowerShutdown: .peakPowerLimit
      }
  }

  /// What a cause that ended a stream is to the app: never `.photoCaptureFailed`, which ends nothing.
  init(ending code: LinkErrorCode) {
    let error = StreamError(code)
    self = error == .photoCaptureFailed ? .internalError : error
  }

  /// What the end of the link is to a stream that did not ask for it.
  package init(_ close: LinkClose, device: DeviceIdentifier) {
    self =
      switch close.cause {
      case .goodbye(let goodbye) where goodbye.reason == .hingeClosed: .hingesClosed
      case .protocolError: .internalError
      case .goodbye, .finished, .transport, .silent: .deviceNotConnected(device)
      }
  }
}
