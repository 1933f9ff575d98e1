import MWDATCore

/// What readiness is judged by. Gathered from an interface, judged without it.
struct ReadinessFacts {
  /// What is wrong with the app's configuration, in words.
  var configurationProblems: [String] = []
  var isConfigured = true
  var registration = RegistrationState.unavailable
  /// The device asked for, or the one that would be chosen; nil when none is listed.
  var device: (identifier: DeviceIdentifier, state: DeviceState)?
  /// What was asked for, if anything.
  var wanted: DeviceIdentifier?
  var camera: Result<PermissionStatus, PermissionError>?
  /// Whether the app wants sound; if not, nobody looks at the microphone.
  var wantsAudio = false
  var microphone: Result<PermissionStatus, PermissionError>?

  func judge() -> Readiness {
    var checks: [Readiness.Check] = []
    for step in Readiness.Step.allCases where wantsAudio || step != .microphonePermitted {
      let (status, remedy) = judge(step)
      checks.append(.init(step: step, status: status, remedy: remedy))
    }
    return Readiness(device: device?.identifier ?? wanted, checks: checks)
  }

  private func judge(_ step: Readiness.Step) -> (Readiness.Status, String?) {
    switch step {
    case .configured: configured
    case .registered: registered
    case .deviceKnown: deviceKnown
    case .reachable: ofDevice(reachable)
    case .unfolded: ofDevice(unfolded)
    case .compatible: ofDevice(compatible)
    case .healthy: ofDevice(healthy)
    case .cameraPermitted: permitted(camera, "requestPermission(.camera)")
    case .microphonePermitted: permitted(microphone, "requestPermission(.microphone)")
    }
  }

  private typealias Outcome = (Readiness.Status, String?)

  private var configured: Outcome {
    guard !isConfigured else { return (.satisfied, nil) }
    guard !configurationProblems.isEmpty else {
      return (.missing, "Call Wearables.configure() once when the app starts, or enable the mock device kit.")
    }
    return (.missing, "Put the app's Info.plist right: " + configurationProblems.joined(separator: "; ") + ".")
  }

  private var registered: Outcome {
    guard isConfigured else { return (.unknown, nil) }
    return switch registration {
    case .registered: (.satisfied, nil)
    case .registering: (.missing, "Wait for the registration that runs, or finish it in the companion.")
    case .available: (.missing, "Call startRegistration() and approve the app in the companion.")
    case .unavailable: (.missing, "Start the companion, then call startRegistration().")
    }
  }

  private var deviceKnown: Outcome {
    guard device == nil else { return (.satisfied, nil) }
    guard isConfigured, registration == .registered else { return (.unknown, nil) }
    if let wanted {
      return (.missing, "There is no device \(wanted); switch it on, or pair it in the companion.")
    }
    return (.missing, "Switch a pair of glasses on and open it, or pair one in the companion.")
  }

  private func ofDevice(_ judge: (DeviceState) -> Outcome) -> Outcome {
    device.map { judge($0.state) } ?? (.unknown, nil)
  }

  private func reachable(_ state: DeviceState) -> Outcome {
    switch state.linkState {
    case .connected: (.satisfied, nil)
    case .connecting: (.missing, "Wait until the glasses are connected.")
    case .disconnected: (.missing, "Switch the glasses on and bring them close.")
    }
  }

  private func unfolded(_ state: DeviceState) -> Outcome {
    switch state.hingeState {
    case .open: (.satisfied, nil)
    case .closed: (.missing, "Open the glasses.")
    // Glasses without a hinge sensor report no state; they aren't held back for it.
    case .unknown: state.linkState == .connected ? (.satisfied, nil) : (.unknown, nil)
    }
  }

  private func compatible(_ state: DeviceState) -> Outcome {
    switch state.compatibility {
    case .compatible: (.satisfied, nil)
    case .deviceUpdateRequired: (.missing, "Update the glasses: openFirmwareUpdate().")
    case .sdkUpdateRequired: (.missing, "Update the app to a newer version of the interface.")
    case .undefined:
      state.linkState == .connected
        ? (.missing, "Wait until the glasses have said which version they run.") : (.unknown, nil)
    }
  }

  private func healthy(_ state: DeviceState) -> Outcome {
    switch state.thermalLevel {
    case .severe, .critical, .emergency, .shutdown: return (.missing, "Let the glasses cool down.")
    case .unknown, .none, .light, .moderate: break
    }
    // As the stream judges it: at 5 percent and not charging it ends with `.batteryLow`.
    if let battery = state.batteryLevel, battery <= 5, state.chargingState != .charging {
      return (.missing, "Charge the glasses.")
    }
    return (.satisfied, nil)
  }

  private func permitted(_ status: Result<PermissionStatus, PermissionError>?, _ call: String) -> Outcome {
    switch status {
    case .success(.granted): (.satisfied, nil)
    case .success(.denied): (.missing, "Call \(call) and let the user allow it.")
    case .failure(let error): (.unknown, error.description)
    case nil: (.unknown, nil)
    }
  }
}
