import LinkProtocol
import TestSupport
import Testing

@testable import MWDATCore

@Suite("Wearables", .exclusive(.mockKit))
struct WearablesTests {
  @Test("It is configured once, and stays; an environment can be put behind it and taken away again")
  func life() throws {
    try? Wearables.configure()
    #expect(throws: WearablesError.alreadyConfigured) { try Wearables.configure() }
    let shared = Wearables.shared
    let environment = FakeEnvironment(ManualTimekeeper(), devices: [.glasses("A")])
    Wearables.install(environment)
    #expect(Wearables.shared.devices == ["A"])
    #expect(shared.devices == ["A"])
    #expect(Wearables.shared as AnyObject === shared as AnyObject)
    Wearables.uninstall(FakeEnvironment(ManualTimekeeper()))
    #expect(shared.devices == ["A"])
    Wearables.uninstall(environment)
    #expect(shared.devices.isEmpty)
    #expect(shared.registrationState == .unavailable)
    #expect(throws: WearablesError.alreadyConfigured) { try Wearables.configure() }
  }

  // Exit tests came with Swift 6.2.
  #if compiler(>=6.2)
    @Test("Touching it unconfigured ends the process with a text that says what to call")
    func unconfigured() async {
      let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
        _ = Wearables.shared
      }
      let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
      #expect(text.contains("Wearables.configure()"))
    }

    @Test("A program without an Info.plist is configured, in developer mode")
    func developerMode() async {
      await #expect(processExitsWith: .success) {
        try Wearables.configure()
        guard Wearables.appInformation?.isDeveloperMode == true, Wearables.infoPlistProblems.isEmpty,
          Wearables.shared.registrationState == .unavailable
        else { throw WearablesError.internalError }
      }
    }
  #endif
}
