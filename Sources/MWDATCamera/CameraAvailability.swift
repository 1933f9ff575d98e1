import LinkProtocol
import MWDATCore

/// Whether the camera of a device, and its microphone where that is asked for, may be used now.
enum CameraAvailability: Hashable, Sendable {
  case available
  /// The device is not listed.
  case notFound
  /// The device is listed and can't be reached.
  case notConnected
  case denied
  /// The camera may be used, the microphone not.
  case microphoneDenied
  /// The environment could not say; the text says why.
  case unknown(String)

  /// Looks at the device, then asks for the permission, and answers exactly once; on the calling thread when the
  /// environment answers without suspending, which keeps simulated time in one order.
  ///
  /// - Parameter withMicrophone: the microphone is needed too; else nobody is asked about it.
  static func check(
    _ context: CameraContext, withMicrophone: Bool = false, answer: @escaping @Sendable (CameraAvailability) -> Void
  ) {
    guard let device = context.environment.devices.first(where: { $0.identifier == context.device }) else {
      return answer(.notFound)
    }
    guard device.state.linkState == .connected else { return answer(.notConnected) }
    let environment = context.environment
    let ask: @Sendable () async -> Void = {
      do throws(PermissionError) {
        guard try await environment.checkPermissionStatus(.camera) == .granted else { return answer(.denied) }
        guard withMicrophone else { return answer(.available) }
        let microphone = try await environment.checkPermissionStatus(.microphone)
        answer(microphone == .granted ? .available : .microphoneDenied)
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
  /// Nil when all is available.
  init?(_ availability: CameraAvailability, device: DeviceIdentifier) {
    switch availability {
    case .available: return nil
    case .notFound: self = .deviceNotFound(device)
    case .notConnected: self = .deviceNotConnected(device)
    case .denied, .microphoneDenied: self = .permissionDenied
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
    case .denied, .microphoneDenied: self = .permissionDenied
    case .unknown(let text): self = .permissionUnknown(text)
    }
  }
}
