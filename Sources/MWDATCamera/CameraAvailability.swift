import LinkProtocol
import MWDATCore

/// Whether the camera of a device may be used now.
enum CameraAvailability: Hashable, Sendable {
  case available
  /// The device is not listed.
  case notFound
  /// The device is listed and can't be reached.
  case notConnected
  case denied
  /// The environment could not say; the text says why.
  case unknown(String)

  /// Looks at the device, then asks for the permission, and answers exactly once; on the calling thread when the
  /// environment answers without suspending, which keeps simulated time in one order.
  static func check(_ context: CameraContext, answer: @escaping @Sendable (CameraAvailability) -> Void) {
    guard let device = context.environment.devices.first(where: { $0.identifier == context.device }) else {
      return answer(.notFound)
    }
    guard device.state.linkState == .connected else { return answer(.notConnected) }
    let environment = context.environment
    let ask: @Sendable () async -> Void = {
      do throws(PermissionError) {
        let status = try await environment.checkPermissionStatus(.camera)
        answer(status == .granted ? .available : .denied)
      } catch {
        answer(CameraAvailability(error))
      }
    }
    #if compiler(>=6.2)
      Task.immediate { await ask() }
    #else
      Task { await ask() }
    #endif
  }

  private init(_ error: PermissionError) {
    self =
      switch error {
      case .noDevice: .notFound
      case .noDeviceWithConnection: .notConnected
      case .connectionError, .metaAINotInstalled, .requestInProgress, .requestTimeout, .internalError:
        .unknown(error.description)
      }
  }
}

extension StreamError {
  /// Nil when the camera is available.
  init?(_ availability: CameraAvailability, device: DeviceIdentifier) {
    switch availability {
    case .available: return nil
    case .notFound: self = .deviceNotFound(device)
    case .notConnected: self = .deviceNotConnected(device)
    case .denied: self = .permissionDenied
    case .unknown: self = .internalError
    }
  }
}

extension PhotoMachine.SetupFailure {
  /// Nil when the camera is available.
  init?(_ availability: CameraAvailability) {
    switch availability {
    case .available: return nil
    case .notFound, .notConnected: self = .notConnected
    case .denied: self = .permissionDenied
    case .unknown(let text): self = .permissionUnknown(text)
    }
  }
}
