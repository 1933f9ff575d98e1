import Glasswing
import MWDATCore
import MWDATMockDevice

/// Checks of what an app would reach: companion, glasses, and the simulated ones.
enum GlassesChecks {
  static func companion() -> DoctorCheck {
    DoctorCheck(
      "companion", .warning, "none: this version has simulated glasses only",
      remedy: "Use --simulate here, MockDeviceKit in an app.")
  }

  static func devices() -> DoctorCheck {
    DoctorCheck(
      "glasses", .warning, "none: they are found through the companion",
      remedy: "Use --simulate here, MockDeviceKit in an app.")
  }

  /// Brings simulated glasses up to where a stream could start.
  static func simulation() async -> DoctorCheck {
    let name = "simulated glasses"
    MockDeviceKit.shared.enable()
    let readiness: Readiness
    do {
      let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
      glasses.powerOn()
      glasses.don()
      readiness = await Wearables.readiness(for: glasses.deviceIdentifier)
    } catch {
      await MockDeviceKit.shared.disable()
      return DoctorCheck(name, .failed, error.localizedDescription, remedy: "Please report this.")
    }
    await MockDeviceKit.shared.disable()
    return simulation(readiness)
  }

  static func simulation(_ readiness: Readiness) -> DoctorCheck {
    let name = "simulated glasses"
    guard let first = readiness.checks.first(where: { $0.status != .satisfied }) else {
      return DoctorCheck(name, .ok, "ready to stream")
    }
    return DoctorCheck(name, .failed, "\(first.step.rawValue) is \(first.status.rawValue)", remedy: first.remedy)
  }
}
