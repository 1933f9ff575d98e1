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
  /// The sound that was asked for can't be had: its form, or the microphone failed.
  case audioStreamingError
  /// The camera, or the microphone of a stream with sound, may not be used.
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
    case .internalError: "The stream ended by an internal error. Add a new camera and start again."
    case .deviceNotFound(let device): "Device \(device) is not known. Pair it, or choose another."
    case .deviceNotConnected(let device): "Device \(device) is not connected. Switch it on and bring it close."
    case .timeout: "The glasses sent no pictures in time. Add a new camera and start again."
    case .videoStreamingError: "The camera's pictures can't be streamed. Its health events say why."
    case .audioStreamingError:
      "The sound that was asked for can't be streamed. Its health events say why. Ask for none."
    case .permissionDenied: "Camera or microphone is not permitted. Ask with requestPermission(_:)."
    case .hingesClosed: "The glasses were folded. Unfold them and start a new session."
    case .thermalHot: "The glasses are too hot to stream. Let them cool down."
    case .batteryLow: "The battery of the glasses is too low to stream. Charge them."
    case .peakPowerLimit: "The glasses have not enough power to stream. Charge them."
    case .photoCaptureFailed: "The photo could not be taken. Try again; the stream goes on."
    }
  }
}

extension LinkClose {
  /// Why the link ended, for logs and health events.
  var words: String {
    switch cause {
    case .goodbye(let goodbye):
      "the glasses left: \(goodbye.reason)" + (goodbye.text.isEmpty ? "" : " (\(goodbye.text))")
    case .finished: "the link was closed on this side"
    case .transport(.peerClosed): "the glasses closed the connection"
    case .transport(.closedHere): "the connection was closed on this side"
    case .transport(.failed(let text)): "the connection broke: \(text)"
    case .protocolError(let error): "the link broke the protocol: \(error.description)"
    case .silent: "nothing was heard from the glasses any more"
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
      case .cameraPermissionDenied, .microphonePermissionDenied: .permissionDenied
      case .sourceFailed, .encoderFailed: .videoStreamingError
      case .audioFailed: .audioStreamingError
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
