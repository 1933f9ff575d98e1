import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import TestSupport
import Testing
import Units

@Suite("What sessions leave behind", .timeLimit(.minutes(5)))
struct SessionLeakTests {
  @Test("A stopped session is released whole once the app lets go: session, link and lane (LIFE-3)")
  func released() throws {
    weak var session: DeviceSession?
    weak var link: LinkConnection?
    weak var lane: (any Lane)?
    weak var glasses: ScriptedGlasses?
    let timekeeper = ManualTimekeeper()
    do {
      let environment = FakeEnvironment(timekeeper, devices: [.glasses("A")])
      let wearables = SharedWearables(environment: environment)
      let made = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: "A"))
      try made.start()
      timekeeper.advance(by: .milliseconds(100))
      session = made
      link = made.link
      lane = made.controlLane
      glasses = environment.glasses.first
      #expect(link != nil)
      made.stop()
      timekeeper.advance(by: .seconds(2))
      #expect(made.state == .stopped)
    }
    timekeeper.advance(by: .seconds(20))
    #expect(session == nil)
    #expect(link == nil)
    #expect(lane == nil)
    #expect(glasses == nil)
  }

  @Test("A listener that holds its own session lets it go when the session has stopped")
  func listenerHoldsSession() throws {
    weak var session: DeviceSession?
    let timekeeper = ManualTimekeeper()
    let tokens = ListenerTokenBag()
    let wearables = SharedWearables(environment: FakeEnvironment(timekeeper, devices: [.glasses("A")]))
    do {
      let made = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: "A"))
      made.statePublisher.listen { _ in withExtendedLifetime(made) {} }.store(in: tokens)
      made.errorPublisher.listen { _ in withExtendedLifetime(made) {} }.store(in: tokens)
      try made.start()
      timekeeper.advance(by: .milliseconds(100))
      made.stop()
      session = made
    }
    #expect(session != nil)
    timekeeper.advance(by: .seconds(2))
    #expect(session == nil)
    tokens.clear()
  }

  // Exit tests came with Swift 6.2.
  #if compiler(>=6.2)
    @Test("100 cycles leave neither threads nor descriptors in the process (LIFE-3)")
    func threads() async {
      await #expect(processExitsWith: .success) {
        let timekeeper = SystemTimekeeper()
        let environment = FakeEnvironment(timekeeper, devices: [.glasses("A")])
        let wearables = SharedWearables(environment: environment)
        func cycle() async throws {
          let session = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: "A"))
          let states = session.stateStream()
          try session.start()
          for await state in states where state == .started { session.stop() }
        }
        try await cycle()
        let before = ProcessResources.now()
        for _ in 0..<100 { try await cycle() }
        // Lanes that have ended give their threads back when these next run; Swift's own come and go.
        let after = await ProcessResources.settled { $0.threads.count <= before.threads.count + 4 }
        guard after.threads.count <= before.threads.count + 4, after.descriptors.count <= before.descriptors.count
        else { throw LeftBehind(before: before, after: after) }
      }
    }

    private struct LeftBehind: Error { let before, after: ProcessResources }
  #endif
}
