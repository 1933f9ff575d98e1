import Glasswing
import LinkProtocol
import MWDATCore
import MWDATMockDevice

/// Checks of what an app would reach: companion, glasses, and the simulated ones.
enum GlassesChecks {
  /// Companion and paired glasses. Before the simulation, which takes their place behind the interface.
  static func paired() async -> [DoctorCheck] {
    do throws(CommandFailure) {
      let environment = try await CompanionAccess.shared.environment()
      let listings = await DevicesCommand.settled(environment)
      return [companion(isOwn: CompanionAccess.shared.isServing), glasses(listings)]
    } catch {
      return [DoctorCheck("companion", .failed, error.words, remedy: error.next.map { "\($0)." })]
    }
  }

  static func companion(isOwn: Bool) -> DoctorCheck {
    isOwn
      ? DoctorCheck(
        "companion", .warning, "none runs; commands bring one along, other programs need it",
        remedy: "Run glasswing companion.")
      : DoctorCheck("companion", .ok, "runs")
  }

  static func glasses(_ listings: [GlassesListing]) -> DoctorCheck {
    guard !listings.isEmpty else {
      return DoctorCheck(
        "glasses", .warning, "none are paired", remedy: "Pair some with glasswing pair, or use --simulate.")
    }
    let absent = listings.filter { $0.presence != .connected }
    guard !absent.isEmpty else { return DoctorCheck("glasses", .ok, "\(listings.count) paired and connected") }
    return DoctorCheck(
      "glasses", .warning,
      "\(listings.count) paired, not connected: \(absent.map(\.name).joined(separator: ", "))",
      remedy: "Switch them on in this network; glasswing devices says where they were last.")
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
