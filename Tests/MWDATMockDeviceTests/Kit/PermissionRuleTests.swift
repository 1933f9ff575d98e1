import MWDATCore
import Testing

@testable import MWDATMockDevice

@Suite("The simulated user's permissions")
struct PermissionRuleTests {
  private func store(allGranted: Bool) -> PermissionStore {
    let store = PermissionStore()
    store.reset(allGranted: allGranted)
    return store
  }

  @Test("what is denied at first is granted when asked for, and stays so")
  func consentStays() {
    let store = store(allGranted: false)
    #expect(store.status(of: .camera) == .denied)
    #expect(store.request(.camera) == .granted)
    #expect(store.status(of: .camera) == .granted)
    #expect(store.status(of: .microphone) == .denied)
  }

  @Test("setting a status decides checks and later requests")
  func setDecidesBoth() {
    let store = store(allGranted: true)
    store.set(.camera, .denied)
    #expect(store.status(of: .camera) == .denied)
    #expect(store.request(.camera) == .denied)
    #expect(store.status(of: .microphone) == .granted)
  }

  @Test("a request's result decides requests alone; a refusal takes nothing away")
  func resultDecidesRequests() {
    let store = store(allGranted: true)
    store.setRequestResult(.camera, result: .denied)
    #expect(store.status(of: .camera) == .granted)
    #expect(store.request(.camera) == .denied)
    #expect(store.status(of: .camera) == .granted)
  }

  @Test("the last call decides what a request is answered, in either order")
  func lastWins() {
    let store = store(allGranted: true)
    store.set(.camera, .denied)
    store.setRequestResult(.camera, result: .granted)
    #expect(store.status(of: .camera) == .denied)
    #expect(store.request(.camera) == .granted)
    #expect(store.status(of: .camera) == .granted)
    store.setRequestResult(.camera, result: .granted)
    store.set(.camera, .denied)
    #expect(store.request(.camera) == .denied)
  }
}
