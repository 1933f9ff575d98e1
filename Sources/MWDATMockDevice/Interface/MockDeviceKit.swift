import MWDATCore

/// Simulated glasses for tests and for work without hardware.
public enum MockDeviceKit: Sendable {
  /// The process's kit.
  public static let shared: any MockDeviceKitInterface = MockKit.shared
}

/// The kit behind `MockDeviceKit.shared`. Every member may be called from any thread; those that aren't `async` return
/// at once.
public protocol MockDeviceKitInterface: Sendable {
  /// Whether simulated glasses stand behind `Wearables.shared` now.
  var isEnabled: Bool { get }

  /// Puts simulated registration, permissions and devices behind `Wearables.shared`, and configures `Wearables` if
  /// nobody has. An enabled kit starts over: what was paired is gone, permissions are as the configuration says.
  func enable(config: MockDeviceKitConfig)

  /// Unpairs all glasses and takes the simulation away. Returns at once; sessions end soon after.
  func disable()

  /// Unpairs all glasses and takes the simulation away. Returns when every link is torn down: at most half a second
  /// after the call, whatever the app does.
  func disable() async

  /// New glasses, switched off, folded, on nobody's face.
  ///
  /// - Throws: `notEnabled`.
  func pairGlasses(model: GlassesModel) throws(MockDeviceKitError) -> any MockGlasses

  /// Forgets the glasses; their sessions end. Returns at once. Glasses that aren't paired are none of its business.
  func unpairDevice(_ device: any MockDevice)

  /// Forgets the glasses; returns when each of their links is torn down.
  func unpairDevice(_ device: any MockDevice) async

  /// In the order in which they were paired.
  var pairedDevices: [any MockDevice] { get }

  /// What the user allows, for all glasses of the kit.
  var permissions: any MockPermissions { get }

  /// Starts the server by which a test in another process drives the kit, on a port that the system chooses.
  ///
  /// - Throws: `MockDeviceKitError.testServerUnavailable`.
  func startTestServer(portFilePath: String?) async throws -> UInt16

  /// Starts the server by which a test in another process drives the kit; port 0 is the system's choice.
  ///
  /// - Throws: `MockDeviceKitError.testServerUnavailable`.
  func startTestServer(port: UInt16, portFilePath: String?) async throws -> UInt16

  /// Stops that server. Nothing happens when none runs.
  func stopTestServer() async
}

extension MockDeviceKitInterface {
  /// Enables the kit with an app that is registered and has every permission.
  public func enable() { enable(config: MockDeviceKitConfig()) }

  /// As `startTestServer(portFilePath:)`, where the port is of no matter.
  public func startTestServer(port: UInt16, portFilePath: String?) async throws -> UInt16 {
    try await startTestServer(portFilePath: portFilePath)
  }

  /// Starts the server by which a test in another process drives the kit, and writes its port to the usual file.
  public func startTestServer(port: UInt16 = 0) async throws -> UInt16 {
    try await startTestServer(port: port, portFilePath: nil)
  }
}
