import LinkProtocol
import LinkTransport
import MWDATCore
import TestSupport
import Testing

/// A session on scripted glasses "A", its time moved by hand, with all that it announces in one log.
struct SessionRig {
  let timekeeper: ManualTimekeeper
  let environment: FakeEnvironment
  let wearables: SharedWearables
  let session: DeviceSession
  let log = Observed<String>()
  let tokens = ListenerTokenBag()

  init(_ script: GlassesScript = GlassesScript(), devices: [DeviceDescription] = [.glasses("A")]) throws {
    timekeeper = ManualTimekeeper()
    environment = FakeEnvironment(timekeeper, devices: devices, script: script)
    wearables = SharedWearables(environment: environment)
    session = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: "A"))
    session.statePublisher.listen { [log] in log.record("\($0)") }.store(in: tokens)
    session.errorPublisher.listen { [log] in log.record("error: \($0.description)") }.store(in: tokens)
  }

  /// Starts it and lets the glasses answer.
  func begin() throws {
    try session.start()
    timekeeper.advance(by: .milliseconds(100))
  }

  func glasses() throws -> ScriptedGlasses { try #require(environment.glasses.last) }

  /// Lets everything happen that needs next to no time.
  func settle() { timekeeper.advance(by: .milliseconds(100)) }
}

/// A capability that tells what it is told.
final class TellingCapability: SessionCapability {
  let log: Observed<String>
  let state: @Sendable () -> DeviceSessionState?

  init(_ log: Observed<String>, state: @escaping @Sendable () -> DeviceSessionState? = { nil }) {
    self.log = log
    self.state = state
  }

  func sessionPaused(_ reason: SessionPaused.Reason) { log.record("capability paused: \(reason)") }
  func sessionResumed() { log.record("capability resumed") }
  func sessionEnding() { log.record("capability ending while \(state().map { "\($0)" } ?? "released")") }
  func sessionLinkEvent(_ event: LinkEvent) {
    switch event {
    case .message(let message): log.record("message \(message.name)")
    case .closed: log.record("link closed")
    case .opened, .accessUnit, .audio, .audioDropped, .photoProgress, .photo, .videoDropped, .clockRealigned, .silent,
      .heardAgain:
      log.record("\(event)")
    }
  }
}

extension Message {
  /// The case's name.
  var name: String { String("\(self)".prefix { $0 != "(" }) }
}
