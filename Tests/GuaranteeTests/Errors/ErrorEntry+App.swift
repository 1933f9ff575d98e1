import Foundation
import Glasswing
import GlasswingTesting
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Testing

/// Why some errors are met by nobody yet.
private let companion = Meeting.never("it is a companion's answer, and none is spoken to")
private let requests = Meeting.never("requests to register come from a companion, and none is spoken to")
private let clients = Meeting.never("nothing here fails so; the case is kept for clients' switches")

/// Of a kit's error too, whose facts are in a module of their own.
func facts(of error: any Error) -> ErrorFacts? {
  if let error = error as? MockDeviceKitError { return error.facts }
  return ErrorFacts(error)
}

/// Runs with a kit that has no glasses; without one, if it is to be disabled.
private func withKit(
  registered: Bool = true, disabled: Bool = false, _ body: () async throws -> Void
) async -> [ErrorFacts] {
  MockDeviceKit.shared.enable(config: MockDeviceKitConfig(initiallyRegistered: registered))
  if disabled { await MockDeviceKit.shared.disable() }
  let met = await errors(body)
  await MockDeviceKit.shared.disable()
  return met
}

extension ErrorEntry {
  static let wearables: [ErrorEntry] =
    [
      ErrorEntry("wearables.internalError", clients),
      ErrorEntry("wearables.alreadyConfigured") { await withKit { try Wearables.configure() } },
      ErrorEntry("wearables.configurationError", .configuring(infoPlist())),
      ErrorEntry("wearables.missingInfoDictionary", .configuring("not a property list")),
      ErrorEntry("wearables.missingBundleIdentifier", .configuring(infoPlist(without: "CFBundleIdentifier"))),
      ErrorEntry("wearables.missingAppName", .configuring(infoPlist(without: "CFBundleName"))),
      ErrorEntry("wearables.missingAppVersion", .configuring(infoPlist(without: "CFBundleShortVersionString"))),
      ErrorEntry("wearables.missingBuildNumber", .configuring(infoPlist(without: "CFBundleVersion"))),
    ] + registration

  /// Complete but for the dictionary that configures the interface, and one key.
  private static func infoPlist(without key: String = "") -> String {
    let keys = ["CFBundleIdentifier", "CFBundleName", "CFBundleShortVersionString", "CFBundleVersion"]
    let entries = keys.filter { $0 != key }.map { "<key>\($0)</key><string>1</string>" }
    return "<plist version=\"1.0\"><dict>\(entries.joined())</dict></plist>"
  }

  private static let registration: [ErrorEntry] = [
    ErrorEntry("registration.alreadyRegistered") { await withKit { try await Wearables.shared.startRegistration() } },
    ErrorEntry("registration.configurationInvalid", companion),
    ErrorEntry("registration.metaAINotInstalled") {
      await withKit(disabled: true) { try await Wearables.shared.startRegistration() }
    },
    ErrorEntry("registration.networkUnavailable", companion),
    ErrorEntry("registration.unknown", companion),
    ErrorEntry("unregistration.alreadyUnregistered") {
      await withKit(registered: false) { try await Wearables.shared.startUnregistration() }
    },
    ErrorEntry("unregistration.configurationInvalid", companion),
    ErrorEntry("unregistration.metaAINotInstalled") {
      await withKit(disabled: true) { try await Wearables.shared.startUnregistration() }
    },
    ErrorEntry("unregistration.unknown", companion),
    ErrorEntry("handleURL.registrationError") {
      await withKit(disabled: true) {
        let url = try #require(URL(string: "app://answer?metaWearablesAction=register"))
        _ = try await Wearables.shared.handleUrl(url)
      }
    },
    ErrorEntry("handleURL.unregistrationError", companion),
    ErrorEntry("navigation.metaAINotInstalled") {
      await withKit(disabled: true) { try await Wearables.shared.openFirmwareUpdate() }
    },
    ErrorEntry("navigation.notRegistered") {
      await withKit(registered: false) { try await Wearables.shared.openDATGlassesAppUpdate() }
    },
    ErrorEntry("registrationRequest.invalidRequest", requests),
    ErrorEntry("registrationRequest.alreadyHandled", requests),
    ErrorEntry("registrationRequest.configurationInvalid", requests),
    ErrorEntry("registrationRequest.networkUnavailable", requests),
    ErrorEntry("registrationRequest.metaAINotInstalled", requests),
    ErrorEntry("registrationRequest.registrationFailed", requests),
    ErrorEntry("registrationRequest.cancellationFailed", requests),
  ]

  static let permissions: [ErrorEntry] = [
    ErrorEntry("permission.noDevice") {
      await withKit { _ = try await Wearables.shared.checkPermissionStatus(.camera) }
    },
    ErrorEntry("permission.noDeviceWithConnection") {
      await withKit {
        let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
        glasses.powerOn()
        glasses.don()
        glasses.powerOff()
        _ = try await Wearables.shared.requestPermission(.camera)
      }
    },
    ErrorEntry("permission.connectionError", companion),
    ErrorEntry("permission.metaAINotInstalled") {
      await withKit(disabled: true) { _ = try await Wearables.shared.requestPermission(.microphone) }
    },
    ErrorEntry("permission.requestInProgress", .never("the kit's answer is there before a second request can be made")),
    ErrorEntry("permission.requestTimeout", companion),
    ErrorEntry("permission.internalError", companion),
  ]

  static let kit: [ErrorEntry] = [
    ErrorEntry("mockDeviceKit.notEnabled") {
      await withKit(disabled: true) { _ = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta) }
    },
    ErrorEntry("mockDeviceKit.testServerUnavailable") {
      await withKit { _ = try await MockDeviceKit.shared.startTestServer() }
    },
  ]

  static let sessions: [ErrorEntry] = [
    ErrorEntry("session.noEligibleDevice") {
      await withKit {
        try Wearables.shared.createSession(deviceSelector: SpecificDeviceSelector(device: "none")).start()
      }
    },
    ErrorEntry("session.sessionAlreadyStopped") {
      try await ErrorScene.met { scene in
        scene.session.stop()
        await scene.pass(.seconds(2))
        try scene.session.start()
      }
    },
    ErrorEntry("session.sessionAlreadyExists") {
      try await ErrorScene.met { scene in
        _ = try Wearables.shared.createSession(
          deviceSelector: SpecificDeviceSelector(device: scene.glasses.deviceIdentifier))
      }
    },
    ErrorEntry("session.sessionIdle", .never("a session that is not started gives no camera, and no error")),
    ErrorEntry("session.capabilityAlreadyActive") {
      try await ErrorScene.met { scene in _ = try scene.session.addCamera() }
    },
    ErrorEntry("session.capabilityNotFound", .never("no call takes a capability away by its kind")),
    ErrorEntry("session.unexpectedError") {
      try await ErrorScene.met { $0.glasses.services.captouch.tapAndHold() }
    },
    ErrorEntry("session.thermalCritical") { try await ErrorScene.met { $0.glasses.setThermalLevel(.critical) } },
    ErrorEntry("session.thermalEmergency") { try await ErrorScene.met { $0.glasses.setThermalLevel(.emergency) } },
    ErrorEntry("session.peakPowerShutdown") {
      try await ErrorScene.met { $0.glasses.agent.hardware.raisePeakPowerShutdown() }
    },
    ErrorEntry("session.batteryCritical") { try await ErrorScene.met { $0.glasses.setBatteryLevel(1) } },
    ErrorEntry("session.datAppOnTheGlassesUpdateRequired") {
      try await ErrorScene.startErrors(version: ProtocolVersion(major: 0, minor: 9))
    },
    ErrorEntry("session.dwaUnavailable") {
      try await ErrorScene.startErrors { $0.agent.faults.ignoresMessages = true }
    },
    ErrorEntry("session.insufficientSDKVersion") {
      try await ErrorScene.startErrors(version: ProtocolVersion(major: 2, minor: 0))
    },
    ErrorEntry("session.dwaOutOfStuRange", .never("no range of tested software is known here")),
  ]
}
