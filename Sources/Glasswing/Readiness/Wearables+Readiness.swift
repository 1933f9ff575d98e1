import MWDATCore

extension WearablesInterface {
  /// What is missing before a stream can start, in the order in which to put it right.
  ///
  /// Looks only; asks nobody and changes nothing. Returns at once but for the permission query, which the environment
  /// ends by its own deadline. May be called from anywhere.
  ///
  /// - Parameters:
  ///   - device: the device in question; without one, the first that can be reached, else the first listed.
  ///   - withAudio: the stream is to have sound, so that the microphone's permission counts; else nobody looks at it.
  public func readiness(for device: DeviceIdentifier? = nil, withAudio: Bool = false) async -> Readiness {
    var facts = ReadinessFacts()
    facts.wantsAudio = withAudio
    facts.registration = registrationState
    facts.wanted = device
    let candidates = (device.map { [$0] } ?? devices).compactMap(deviceForIdentifier)
    let chosen = candidates.first { $0.linkState == .connected } ?? candidates.first
    facts.device = chosen.map { ($0.identifier, $0.currentDescription.state) }
    facts.camera = await status(of: .camera)
    if withAudio { facts.microphone = await status(of: .microphone) }
    return facts.judge()
  }

  private func status(of permission: Permission) async -> Result<PermissionStatus, PermissionError> {
    do throws(PermissionError) {
      return .success(try await checkPermissionStatus(permission))
    } catch {
      return .failure(error)
    }
  }
}

extension Wearables {
  /// As `WearablesInterface.readiness(for:withAudio:)` of `Wearables.shared`, and safe to call before `configure()`: then the first
  /// missing step is `configured`.
  public static func readiness(for device: DeviceIdentifier? = nil, withAudio: Bool = false) async -> Readiness {
    if let shared = sharedIfConfigured { return await shared.readiness(for: device, withAudio: withAudio) }
    var facts = ReadinessFacts()
    facts.wantsAudio = withAudio
    facts.isConfigured = false
    facts.configurationProblems = configurationProblems
    facts.wanted = device
    return facts.judge()
  }

  /// Everything that the last `configure()` found wrong with the app's Info.plist, a sentence each; it throws the first.
  public static var configurationProblems: [String] { infoPlistProblems.map(\.text) }
}
