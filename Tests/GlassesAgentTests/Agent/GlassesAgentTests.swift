import LinkProtocol
import LinkTransport
import Synchronization
import TestSupport
import Testing
import Units

@testable import GlassesAgent

@Suite("A pair of glasses on its links")
struct GlassesAgentTests {
  private let time = ManualTimekeeper()
  private let permissions = ListedPermissions(["app"])
  private let session = SessionID(1)

  private func makeAgent(fold: HardwareMachine.FoldEffect = .endsSession) -> GlassesAgent {
    let agent = GlassesAgent(
      identity: GlassesIdentity(identifier: "g-1", name: "Test glasses", model: "Model", softwareVersion: "9"),
      timekeeper: time, permissions: permissions,
      configuration: GlassesAgent.Configuration(
        foldEffect: fold, nonces: .seeded(SeededGenerator(seed: 3)), replaysCachedUnits: true))
    agent.hardware.powerOn()
    agent.hardware.don()
    return agent
  }

  private func connect(_ agent: GlassesAgent, app: String = "app", opening: Bool = true) -> AppProbe {
    let probe = AppProbe(agent, timekeeper: time, app: app)
    time.settle()
    if opening {
      probe.send(.sessionOpen(SessionOpen(session: session)))
      time.settle()
    }
    return probe
  }

  @Test("an app hears who the glasses are and how they are, and of every change")
  func greeting() throws {
    let agent = makeAgent()
    agent.hardware.setBatteryLevel(60)
    let probe = connect(agent, opening: false)
    guard case .opened(let hello) = probe.events.first else {
      Issue.record("no hello: \(probe.events)")
      return
    }
    #expect(hello.role == .glasses)
    #expect(hello.identifier == "g-1")
    #expect(hello.name == "Test glasses")
    #expect(probe.reports.map(\.batteryLevel) == [60])
    agent.hardware.setBatteryLevel(59)
    agent.hardware.setBatteryLevel(59)
    agent.hardware.doff()
    time.settle()
    #expect(probe.reports.map(\.batteryLevel) == [60, 59, 59])
    #expect(probe.reports.last?.wear == .doffed)
  }

  @Test("a tap pauses and resumes the session, a held finger ends it")
  func touch() {
    let agent = makeAgent()
    let probe = connect(agent)
    agent.hardware.tap()
    agent.hardware.tap()
    agent.hardware.tapAndHold()
    agent.hardware.tap()
    time.settle()
    let text = "ended at the touchpad"
    #expect(
      Array(probe.messages.dropFirst()) == [
        .sessionOpened(SessionOpened(session: session)),
        .sessionPaused(SessionPaused(session: session, reason: .wearer)),
        .sessionResumed(SessionResumed(session: session)),
        .sessionClosed(SessionClosed(session: session, reason: .endedByDevice, text: text)),
      ])
    #expect(agent.sessionCount == 0)
    #expect(agent.linkCount == 1)
  }

  @Test("switching off says goodbye on every link; whoever comes next is told as well")
  func powerOff() {
    let agent = makeAgent()
    let probes = [connect(agent), connect(agent, app: "other", opening: false)]
    agent.hardware.powerOff()
    time.advance(by: .seconds(1))
    #expect(probes.map(\.goodbye) == [.poweringOff, .poweringOff])
    #expect(agent.linkCount == 0)
    let late = connect(agent, opening: false)
    time.advance(by: .seconds(1))
    #expect(late.goodbye == .poweringOff)
    agent.hardware.powerOn()
    #expect(connect(agent).messages.last == .sessionOpened(SessionOpened(session: session)))
  }

  @Test("folding keeps the link of simulated glasses and ends that of glasses in the hand")
  func folding() {
    let simulated = makeAgent()
    let first = connect(simulated)
    simulated.hardware.fold()
    time.advance(by: .seconds(1))
    #expect(first.close == nil)
    #expect(simulated.sessionCount == 0)

    let real = makeAgent(fold: .dropsLinks)
    let second = connect(real)
    real.hardware.fold()
    time.advance(by: .seconds(1))
    #expect(second.goodbye == .hingeClosed)
  }

  @Test("an app that leaves frees what it held within five seconds (LIFE-4)")
  func leavingApp() {
    let agent = makeAgent()
    let probe = connect(agent)
    #expect(agent.sessionCount == 1)
    probe.leave()
    time.advance(by: .seconds(5))
    #expect(agent.sessionCount == 0)
    #expect(agent.linkCount == 0)
  }

  @Test("shutting down says why, completes once the last link is gone, and leaves nothing that runs")
  func shutDown() {
    let agent = makeAgent()
    let probe = connect(agent)
    let completed = Observed<Int>()
    agent.shutDown(.unpaired) { completed.record(1) }
    agent.shutDown(.unpaired) { completed.record(2) }
    #expect(completed.values.isEmpty)
    time.advance(by: .seconds(1))
    #expect(probe.goodbye == .unpaired)
    #expect(completed.values == [1, 2])
    #expect(agent.linkCount == 0)
    agent.shutDown(.unpaired) { completed.record(3) }
    #expect(completed.values == [1, 2, 3])
    let late = AppProbe(agent, timekeeper: time)
    time.advance(by: .seconds(1))
    #expect(late.close != nil)
    #expect(late.messages.isEmpty)
  }

  @Test("an agent that its owner let go of while it ends still ends every link")
  func releasedWhileEnding() {
    var agent: GlassesAgent? = makeAgent()
    weak let released = agent
    let probe = agent.map { connect($0) }
    let completed = Observed<Int>()
    agent?.shutDown(.unpaired) { completed.record(1) }
    agent = nil
    time.advance(by: .seconds(1))
    #expect(probe?.goodbye == .unpaired)
    #expect(completed.values == [1])
    #expect(released == nil)
  }

  @Test("a hundred sessions in a row leave none behind (LIFE-3)")
  func manySessions() {
    let agent = makeAgent()
    for _ in 0..<100 {
      let probe = connect(agent)
      probe.leave()
      time.advance(by: .seconds(1))
    }
    #expect(agent.sessionCount == 0)
    #expect(agent.linkCount == 0)
  }
}
