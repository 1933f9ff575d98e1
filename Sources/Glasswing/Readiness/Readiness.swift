/// What stands between an app and its first frame, at one moment.
public struct Readiness: Codable, Hashable, Sendable {
  /// What has to be true before a stream can start, in the order in which it is put right.
  public enum Step: String, Codable, Hashable, Sendable, CaseIterable {
    /// `Wearables.configure()` has succeeded, or the mock kit is enabled.
    case configured
    /// The app is registered with the companion.
    case registered
    /// The device, or any device, is listed.
    case deviceKnown
    /// It is powered on and connected.
    case reachable
    /// Its hinge is open.
    case unfolded
    /// Its software and this interface understand each other.
    case compatible
    /// It is neither too hot nor out of battery.
    case healthy
    /// The user lets the app use the camera.
    case cameraPermitted
    /// The user lets the app use the microphone. Among the checks only where sound was asked about.
    case microphonePermitted
  }

  /// The outcome of one step.
  public enum Status: String, Codable, Hashable, Sendable, CaseIterable {
    case satisfied
    case missing
    /// It can't be told until an earlier step is satisfied.
    case unknown
  }

  /// One step with its outcome.
  public struct Check: Codable, Hashable, Sendable {
    /// What was looked at.
    public let step: Step
    /// What was found.
    public let status: Status
    /// What to do about it, in a sentence; nil when nothing has to be done.
    public let remedy: String?
  }

  /// The device that was looked at; nil when there is none.
  public let device: String?
  /// Every step, in order; that of the microphone only where sound was asked about.
  public let checks: [Check]

  /// True when a session and a stream can start.
  public var isReady: Bool { checks.allSatisfy { $0.status == .satisfied } }

  /// The steps that are missing, the first to put right first.
  public var missing: [Check] { checks.filter { $0.status == .missing } }
}
