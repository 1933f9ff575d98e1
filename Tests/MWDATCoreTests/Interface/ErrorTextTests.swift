import Foundation
import MWDATCore
import Testing

@Suite("Errors")
struct ErrorTextTests {
  static let errors: [any DatError] = {
    let plain: [any DatError] = [
      RegistrationError.alreadyRegistered, RegistrationError.configurationInvalid,
      RegistrationError.metaAINotInstalled, RegistrationError.networkUnavailable, RegistrationError.unknown,
      UnregistrationError.alreadyUnregistered, UnregistrationError.configurationInvalid,
      UnregistrationError.metaAINotInstalled, UnregistrationError.unknown,
      WearablesHandleURLError.registrationError, WearablesHandleURLError.unregistrationError,
      NavigationError.metaAINotInstalled, NavigationError.notRegistered,
    ]
    let wearables: [any DatError] = (0...7).compactMap { WearablesError(rawValue: $0) }
    let permissions: [any DatError] = (0...6).compactMap { PermissionError(rawValue: $0) }
    let requests: [any DatError] = [
      RegistrationRequestError.invalidRequest, RegistrationRequestError.alreadyHandled,
      RegistrationRequestError.configurationInvalid, RegistrationRequestError.networkUnavailable,
      RegistrationRequestError.metaAINotInstalled, RegistrationRequestError.registrationFailed,
      RegistrationRequestError.cancellationFailed,
    ]
    let sessions: [any DatError] = [
      DeviceSessionError.noEligibleDevice, DeviceSessionError.sessionAlreadyStopped,
      DeviceSessionError.sessionAlreadyExists, DeviceSessionError.sessionIdle,
      DeviceSessionError.capabilityAlreadyActive, DeviceSessionError.capabilityNotFound,
      DeviceSessionError.unexpectedError(description: "Session ended by device"),
      DeviceSessionError.thermalCritical, DeviceSessionError.thermalEmergency, DeviceSessionError.peakPowerShutdown,
      DeviceSessionError.batteryCritical, DeviceSessionError.datAppOnTheGlassesUpdateRequired,
      DeviceSessionError.dwaUnavailable, DeviceSessionError.insufficientSDKVersion,
      DeviceSessionError.dwaOutOfStuRange,
    ]
    return plain + wearables + permissions + requests + sessions
  }()

  @Test("Each has a sentence, and localizedDescription is the same one")
  func sentences() {
    #expect(Self.errors.count == 13 + 8 + 7 + 7 + 15)
    for error in Self.errors {
      #expect(!error.description.isEmpty)
      #expect(error.localizedDescription == error.description)
      #expect((error as any Error).localizedDescription == error.description)
      #expect(error.errorDescription == error.description)
    }
  }

  @Test("Interpolating prints the case's name, not the sentence")
  func interpolation() {
    #expect("\(RegistrationError.networkUnavailable)" == "networkUnavailable")
    #expect("\(DeviceSessionError.noEligibleDevice)" == "noEligibleDevice")
    #expect("\(RegistrationState.registered)" == "registered")
    #expect("\(DeviceSessionState.paused)" == "paused")
  }

  @Test("The texts that others rely on are these")
  func knownTexts() {
    #expect(
      DeviceSessionError.sessionAlreadyExists.localizedDescription == "A session already exists for this device")
    #expect(DeviceSessionError.noEligibleDevice.localizedDescription == "No eligible device available")
    #expect(
      DeviceSessionError.unexpectedError(description: "Session ended by device").localizedDescription
        == "Session ended by device")
  }
}
