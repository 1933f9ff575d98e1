import MWDATCore

/// A simulated device. Every member may be called from any thread and returns at once; what follows for sessions
/// follows in the order of the calls.
public protocol MockDevice: Sendable {
  /// By which `Wearables` knows the device.
  var deviceIdentifier: DeviceIdentifier { get }

  /// Switches it on. Apps reach it once the hinge is open as well.
  func powerOn()

  /// Switches it off: links and sessions end.
  func powerOff()

  /// Puts it on a face, which opens the hinge.
  func don()

  /// Takes it off the face. Nothing else changes: a stream goes on.
  func doff()

  /// Sets what the battery has left.
  ///
  /// - Parameter level: percent, held within 0 and 100; nil for unknown. At 5 or less streams end unless it charges,
  ///   at 2 or less sessions do.
  func setBatteryLevel(_ level: Int?)

  /// Sets whether it is on the charger.
  func setChargingState(_ state: ChargingState)

  /// Sets how warm it is. From `.severe` on streams end, from `.critical` on sessions do.
  func setThermalLevel(_ level: ThermalLevel)
}

/// Simulated glasses.
public protocol MockGlasses: MockDevice {
  /// Closes the hinge and takes the glasses off the face: the device ends its session but stays reachable, so that a
  /// new session can start.
  func fold()

  /// Opens the hinge.
  func unfold()

  /// What the glasses can do.
  var services: any MockGlassesServices { get }
}

/// What simulated glasses can do.
public protocol MockGlassesServices: Sendable {
  /// What the camera sees, and the photos taken while it streams.
  var camera: any MockCameraKit { get }
  /// Photos taken without a stream.
  var cameraCapture: any MockCameraCaptureKit { get }
  /// The touchpad.
  var captouch: any MockCaptouchKit { get }
}
