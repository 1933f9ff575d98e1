import Foundation
import MWDATCore
import Testing

@Suite("Cases and raw values")
struct ShapeTests {
  @Test("Integer enums number their cases as the interface says")
  func integers() {
    let registration: [RegistrationState] = [.unavailable, .available, .registering, .registered]
    #expect(registration.map(\.rawValue) == [0, 1, 2, 3])
    let registrationErrors: [RegistrationError] = [
      .alreadyRegistered, .configurationInvalid, .metaAINotInstalled, .networkUnavailable, .unknown,
    ]
    #expect(registrationErrors.map(\.rawValue) == Array(0...4))
    let unregistrationErrors: [UnregistrationError] = [
      .alreadyUnregistered, .configurationInvalid, .metaAINotInstalled, .unknown,
    ]
    #expect(unregistrationErrors.map(\.rawValue) == Array(0...3))
    let urlErrors: [WearablesHandleURLError] = [.registrationError, .unregistrationError]
    #expect(urlErrors.map(\.rawValue) == [0, 1])
    let navigationErrors: [NavigationError] = [.metaAINotInstalled, .notRegistered]
    #expect(navigationErrors.map(\.rawValue) == [0, 1])
    let wearablesErrors: [WearablesError] = [
      .internalError, .alreadyConfigured, .configurationError, .missingInfoDictionary, .missingBundleIdentifier,
      .missingAppName, .missingAppVersion, .missingBuildNumber,
    ]
    #expect(wearablesErrors.map(\.rawValue) == Array(0...7))
    let permissionErrors: [PermissionError] = [
      .noDevice, .noDeviceWithConnection, .connectionError, .metaAINotInstalled, .requestInProgress,
      .requestTimeout, .internalError,
    ]
    #expect(permissionErrors.map(\.rawValue) == Array(0...6))
  }

  @Test("Enums that list their cases list them in order")
  func order() {
    #expect(Permission.allCases == [.camera, .microphone])
    #expect(
      Compatibility.allCases == [.undefined, .compatible, .deviceUpdateRequired, .sdkUpdateRequired])
    #expect(Compatibility.allCases.allSatisfy { !$0.displayString.isEmpty })
    #expect(
      DeviceType.allCases == [
        .unknown, .rayBanMeta, .oakleyMetaHSTN, .oakleyMetaVanguard, .metaRayBanDisplay, .rayBanMetaOptics,
        .metaGlasses,
      ])
    #expect(
      DeviceType.allCases.map(\.rawValue) == [
        "Unknown", "Ray-Ban Meta", "Oakley Meta HSTN", "Oakley Meta Vanguard", "Meta Ray-Ban Display",
        "Ray-Ban Meta Optics", "Meta Glasses",
      ])
  }

  @Test("States describe themselves, each in a word of its own")
  func descriptions() {
    let registration: [RegistrationState] = [.unavailable, .available, .registering, .registered]
    #expect(Set(registration.map(\.description)).count == 4)
    let session: [DeviceSessionState] = [.idle, .starting, .started, .paused, .stopping, .stopped]
    #expect(Set(session.map(\.description)).count == 6)
  }

  @Test("A device's state is a value with defaults that say nothing")
  func deviceState() {
    var state = DeviceState()
    #expect(
      state
        == DeviceState(
          linkState: .disconnected, compatibility: .undefined, batteryLevel: nil, chargingState: .unknown,
          donState: .unknown, hingeState: .unknown, thermalLevel: .unknown))
    state.batteryLevel = 3
    #expect(state != DeviceState())
  }

  @Test("Notifications have their names")
  func notifications() {
    #expect(Notification.Name.mwdatDeviceSessionCreated.rawValue == "mwdatDeviceSessionCreated")
    #expect(NSNotification.wearablesRegistrationStateChanged != NSNotification.wearablesDevicesChanged)
  }
}
