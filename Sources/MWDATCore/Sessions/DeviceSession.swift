import LinkProtocol
import LinkTransport

/// A session with one device: the parent of everything that uses the glasses.
///
/// Made by `WearablesInterface.createSession`, started once, and over when it has stopped. Releasing it stops it.
/// All members may be used from any thread. States and errors are announced on one thread of the session's, in order:
/// an error before the state it explains, with `state` already at the new value or a later one.
public final class DeviceSession: Sendable {
  /// The device that the session was made for.
  public let deviceId: DeviceIdentifier

  private let wearables: SharedWearables
  private let core: SessionCore

  init(deviceId: DeviceIdentifier, wearables: SharedWearables, environment: any WearablesEnvironment) {
    self.deviceId = deviceId
    self.wearables = wearables
    core = SessionCore(deviceId: deviceId, environment: environment)
  }

  deinit { core.stop() }

  /// The device, live; nil while it is not listed.
  public var device: Device? { wearables.deviceForIdentifier(deviceId) }

  /// Where the session stands.
  public var state: DeviceSessionState { core.current }

  /// Announces each new state; not the current one.
  public var statePublisher: any Announcer<DeviceSessionState> { core.states }

  /// Announces what goes wrong.
  public var errorPublisher: any Announcer<DeviceSessionError> { core.errors }

  /// Begins the session and returns at once; the outcome is announced, within 10 s: `.started`, or an error, then
  /// `.stopping` and `.stopped`. Nothing happens when the session is under way.
  ///
  /// Throws `noEligibleDevice` when the device is not listed, not connected or not compatible: the session stays idle
  /// and may be started later. Throws `sessionAlreadyStopped` after a stop.
  public func start() throws(DeviceSessionError) { try core.start() }

  /// Ends the session and everything in it, and returns at once; `.stopped` is announced within 2 s, whether the
  /// glasses answer or not. Harmless when repeated.
  public func stop() { core.stop() }

  /// The current state first, then each new one; ends after `.stopped`. Made after that, it is empty.
  public func stateStream() -> AsyncStream<DeviceSessionState> { core.stateStream() }

  /// Each error from now on; ends with the session.
  public func errorStream() -> AsyncStream<DeviceSessionError> { core.errors.stream() }
}

extension DeviceSession {
  /// The session's link; nil before `start()` and after the link has closed.
  package var link: LinkConnection? { core.connection }

  /// The session's number on its link.
  package var linkSessionID: SessionID { SessionCore.sessionID }

  /// What the glasses said of themselves; nil before the link is open.
  package var peer: Hello? { core.peer }

  /// Runs listeners and capabilities, in order; ends after `.stopped`.
  package var controlLane: any Lane { core.controlLane }

  package var environment: any WearablesEnvironment { core.environment }

  /// What ended the session, or kept it from starting; nil after an intended stop.
  package var failure: SessionFailure? { core.failure }

  /// Why the glasses hold the session; nil while it is not paused.
  /// (Glasswing makes it public as `pauseReason`.)
  package var linkPauseReason: SessionPaused.Reason? { core.pauseReason }

  /// Adds a capability to a started session.
  ///
  /// Throws `sessionIdle` when the session is not started or paused, `sessionAlreadyStopped` after its end,
  /// `capabilityAlreadyActive` when it has one of that type.
  package func attach(_ capability: any SessionCapability) throws(DeviceSessionError) {
    try core.attach(capability)
  }

  /// Removes it; it hears nothing more. Harmless when it is not attached.
  package func detach(_ capability: any SessionCapability) { core.detach(capability) }
}
