import Foundation

extension Notification.Name {
  /// Posted on the caller's thread when `createSession` has made a session; the object is the `DeviceSession`.
  public static let mwdatDeviceSessionCreated = Notification.Name("mwdatDeviceSessionCreated")
}

extension NSNotification {
  /// Posted, on any thread, after the registration state has changed; no object.
  public static let wearablesRegistrationStateChanged = Notification.Name("wearablesRegistrationStateChanged")

  /// Posted, on any thread, after the list of devices has changed; no object.
  public static let wearablesDevicesChanged = Notification.Name("wearablesDevicesChanged")
}
