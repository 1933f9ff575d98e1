import MWDATCore
import Testing

@testable import Glasswing

@Suite("ERR-5: readiness")
struct ReadinessTests {
  private var ready: ReadinessFacts {
    ReadinessFacts(
      registration: .registered,
      device: (
        "g1",
        DeviceState(
          linkState: .connected, compatibility: .compatible, batteryLevel: 80, chargingState: .notCharging,
          donState: .donned, hingeState: .open, thermalLevel: .none)
      ),
      camera: .success(.granted))
  }

  @Test("All steps are listed, in the order in which they are put right, and nothing is missing when all is well")
  func allWell() {
    let readiness = ready.judge()
    #expect(readiness.isReady)
    #expect(readiness.missing.isEmpty)
    #expect(readiness.checks.map(\.step) == Readiness.Step.allCases.filter { $0 != .microphonePermitted })
    #expect(readiness.device == "g1")
  }

  @Test("The microphone counts only where sound is asked about (PERM-2)")
  func microphone() {
    var facts = ready
    facts.microphone = .success(.denied)
    #expect(facts.judge().isReady)
    facts.wantsAudio = true
    #expect(facts.judge().checks.map(\.step) == Readiness.Step.allCases)
    #expect(facts.judge().missing.map(\.step) == [.microphonePermitted])
    facts.microphone = .success(.granted)
    #expect(facts.judge().isReady)
  }

  @Test("Each missing thing is named with a remedy, and only it")
  func oneMissing() {
    let cases: [(Readiness.Step, (inout ReadinessFacts) -> Void)] = [
      (.registered, { $0.registration = .available }),
      (.reachable, { $0.device?.state.linkState = .disconnected }),
      (.unfolded, { $0.device?.state.hingeState = .closed }),
      (.compatible, { $0.device?.state.compatibility = .deviceUpdateRequired }),
      (.healthy, { $0.device?.state.thermalLevel = .severe }),
      (.healthy, { $0.device?.state.batteryLevel = 5 }),
      (.cameraPermitted, { $0.camera = .success(.denied) }),
    ]
    for (step, change) in cases {
      var facts = ready
      change(&facts)
      let readiness = facts.judge()
      #expect(!readiness.isReady)
      #expect(readiness.missing.map(\.step) == [step])
      #expect(readiness.missing.first?.remedy?.isEmpty == false)
    }
  }

  @Test("A charging battery is no obstacle, however empty")
  func charging() {
    var facts = ready
    facts.device?.state.batteryLevel = 1
    facts.device?.state.chargingState = .charging
    #expect(facts.judge().isReady)
  }

  @Test("What can't be told before an earlier step is unknown, not missing")
  func unknown() {
    var facts = ready
    facts.device = nil
    facts.wanted = "g7"
    facts.camera = .failure(.noDeviceWithConnection)
    let readiness = facts.judge()
    #expect(readiness.missing.map(\.step) == [.deviceKnown])
    #expect(readiness.missing.first?.remedy?.contains("g7") == true)
    #expect(
      readiness.checks.filter { $0.status == .unknown }.map(\.step) == [
        .reachable, .unfolded, .compatible, .healthy, .cameraPermitted,
      ])
  }

  @Test("Without configuration the first step says what to call, or what is wrong with Info.plist")
  func unconfigured() {
    var facts = ReadinessFacts()
    facts.isConfigured = false
    #expect(facts.judge().missing.map(\.step) == [.configured])
    #expect(facts.judge().missing.first?.remedy?.contains("Wearables.configure()") == true)
    facts.configurationProblems = ["MWDAT is missing"]
    #expect(facts.judge().missing.first?.remedy?.contains("MWDAT is missing") == true)
  }
}
