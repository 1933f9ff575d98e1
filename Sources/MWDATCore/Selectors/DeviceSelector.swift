/// Says which device a session shall use.
public protocol DeviceSelector: Sendable {
  /// The device at this moment; nil when there is none.
  var activeDevice: DeviceIdentifier? { get }

  /// The current device first (nil included), then each change.
  func activeDeviceStream() -> AnyAsyncSequence<DeviceIdentifier?>
}

/// Chooses among connected, compatible devices. Called on any thread; must not block.
public typealias DeviceFilter = @Sendable (Device) -> Bool

/// Always the same device, connected or not.
public final class SpecificDeviceSelector: DeviceSelector {
  private let device: DeviceIdentifier

  /// Selects one device by its identifier.
  public init(device: DeviceIdentifier) { self.device = device }

  /// The device given at the start, connected or not.
  public var activeDevice: DeviceIdentifier? { device }

  /// Yields the device once and ends.
  public func activeDeviceStream() -> AnyAsyncSequence<DeviceIdentifier?> {
    let (stream, continuation) = AsyncStream.makeStream(of: DeviceIdentifier?.self)
    continuation.yield(device)
    continuation.finish()
    return stream.eraseToAnySequence()
  }
}
