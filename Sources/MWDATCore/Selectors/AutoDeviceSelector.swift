import Synchronization

/// Follows the devices and selects one that is connected and compatible and that the filter takes.
///
/// A selected device stays selected as long as it qualifies; after that the first of the list that does, or nil.
/// It fills asynchronously: directly after `init` there is no active device yet. Wait for `activeDeviceStream()`, or
/// use `SpecificDeviceSelector`. Any thread.
public final class AutoDeviceSelector: DeviceSelector {
  private let tracker: Tracker

  /// Begins to follow the devices of `wearables`.
  public init(wearables: any WearablesInterface, filter: DeviceFilter? = nil) {
    tracker = Tracker(wearables: wearables, filter: filter)
    tracker.begin()
  }

  deinit { tracker.end() }

  /// The selected device; nil when none qualifies, and directly after `init`.
  public var activeDevice: DeviceIdentifier? { tracker.active }

  /// Yields the current value first (nil included), then each change. The stream keeps the selector alive.
  public func activeDeviceStream() -> AnyAsyncSequence<DeviceIdentifier?> {
    tracker.stream(keeping: self).eraseToAnySequence()
  }
}

/// What the selector knows; apart from it, so that listeners don't keep the selector alive.
private final class Tracker: Sendable {
  private struct State {
    var identifiers: [DeviceIdentifier] = []
    var devices: [DeviceIdentifier: (device: Device, token: any AnyListenerToken)] = [:]
    var active: DeviceIdentifier?
    var continuations: [UInt64: AsyncStream<DeviceIdentifier?>.Continuation] = [:]
    var nextContinuation: UInt64 = 0
    var listToken: (any AnyListenerToken)?
    /// Counts what might change the choice, so that an evaluation knows when it was overtaken.
    var changeCount: UInt64 = 0
    var isEvaluating = false
    var hasEnded = false
  }

  private let wearables: any WearablesInterface
  private let filter: DeviceFilter?
  private let state = Mutex(State())

  init(wearables: any WearablesInterface, filter: DeviceFilter?) {
    self.wearables = wearables
    self.filter = filter
  }

  var active: DeviceIdentifier? { state.withLock { $0.active } }

  func begin() {
    let token = wearables.addDevicesListener { [weak self] identifiers in self?.listChanged(identifiers) }
    state.withLock { $0.listToken = token }
  }

  func end() {
    let (old, continuations) = state.withLock { state in
      defer {
        state.listToken = nil
        state.devices = [:]
        state.continuations = [:]
        state.hasEnded = true
      }
      return ((state.listToken, state.devices), Array(state.continuations.values))
    }
    for continuation in continuations { continuation.finish() }
    withExtendedLifetime(old) {}
  }

  func stream(keeping selector: AutoDeviceSelector) -> AsyncStream<DeviceIdentifier?> {
    let (stream, continuation) = AsyncStream.makeStream(of: DeviceIdentifier?.self)
    let number = state.withLock { state in
      defer { state.nextContinuation &+= 1 }
      continuation.yield(state.active)
      state.continuations[state.nextContinuation] = continuation
      return state.nextContinuation
    }
    continuation.onTermination = { [self] _ in
      withExtendedLifetime(selector) {}
      let removed = state.withLock { $0.continuations.removeValue(forKey: number) }
      withExtendedLifetime(removed) {}
    }
    return stream
  }

  private func listChanged(_ identifiers: [DeviceIdentifier]) {
    // Followed before they are looked at, so that no change falls between.
    let known = state.withLock { Set($0.devices.keys) }
    var added: [DeviceIdentifier: (device: Device, token: any AnyListenerToken)] = [:]
    for identifier in identifiers where !known.contains(identifier) && added[identifier] == nil {
      guard let device = wearables.deviceForIdentifier(identifier) else { continue }
      added[identifier] = (device, device.addChangeListener { [weak self] in self?.evaluate() })
    }
    let old = state.withLock { state in
      let old = state.devices
      guard !state.hasEnded else { return old }
      state.identifiers = identifiers
      state.devices.merge(added) { present, _ in present }
      let listed = Set(identifiers)
      state.devices = state.devices.filter { listed.contains($0.key) }
      return old
    }
    withExtendedLifetime(old) {}
    evaluate()
  }

  /// Looks at all devices and takes over the choice. One evaluation runs at a time, since the filter is the app's code
  /// and can't run under the lock; a change meanwhile makes it look again.
  private func evaluate() {
    var count = state.withLock { state -> UInt64? in
      state.changeCount &+= 1
      guard !state.isEvaluating else { return nil }
      state.isEvaluating = true
      return state.changeCount
    }
    while let current = count {
      let (candidates, active) = state.withLock { state in
        (state.identifiers.compactMap { state.devices[$0]?.device }, state.active)
      }
      let eligible = candidates.filter(qualifies).map(\.identifier)
      let choice = active.flatMap { eligible.contains($0) ? $0 : nil } ?? eligible.first
      tell(choice, to: state.withLock { $0.changeCount == current ? take(choice, &$0) : [] })
      count = state.withLock { state in
        guard state.changeCount == current else { return state.changeCount }
        state.isEvaluating = false
        return nil
      }
    }
  }

  private func qualifies(_ device: Device) -> Bool {
    guard device.currentDescription.isEligible else { return false }
    return filter?(device) ?? true
  }

  /// - Returns: who is to be told.
  private func take(_ choice: DeviceIdentifier?, _ state: inout State) -> [AsyncStream<DeviceIdentifier?>.Continuation]
  {
    guard !state.hasEnded, choice != state.active else { return [] }
    state.active = choice
    return Array(state.continuations.values)
  }

  /// Only the one evaluation that runs tells, so the order is that of the choices. With no lock held: a stream that wakes
  /// its reader waits for a task that is just being cancelled, and that one waits for what ends its subscription.
  private func tell(_ choice: DeviceIdentifier?, to continuations: [AsyncStream<DeviceIdentifier?>.Continuation]) {
    for continuation in continuations { continuation.yield(choice) }
  }
}
