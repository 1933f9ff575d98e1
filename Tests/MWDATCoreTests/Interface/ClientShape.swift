// Each symbol as an app uses it, by its public name alone: what compiles here compiles there.
import Foundation
import MWDATCore

/// What a view would show.
final class Notes: @unchecked Sendable {
  // Guarded by the lock.
  private var notes: [String] = []
  private let lock = NSLock()

  var values: [String] { lock.withLock { notes } }
  func add(_ note: String) { lock.withLock { notes.append(note) } }
}

final class ViewModel: Sendable {
  let wearables: any WearablesInterface
  let selector: any DeviceSelector
  let tokens = ListenerTokenBag()
  let heard = Notes()

  init(wearables: any WearablesInterface) {
    self.wearables = wearables
    let filter: DeviceFilter = { $0.nameOrId() == "Mine" && !$0.supportsDisplay() }
    selector = AutoDeviceSelector(wearables: wearables, filter: filter)
    wearables.addDevicesListener { [heard] in heard.add("list \($0.count)") }.store(in: tokens)
    wearables.addRegistrationStateListener { [heard] in heard.add("\($0.description)") }.store(in: tokens)
    for identifier in wearables.devices { follow(identifier) }
  }

  func follow(_ identifier: DeviceIdentifier) {
    guard let device = wearables.deviceForIdentifier(identifier) else { return }
    let token: any AnyListenerToken = device.addDeviceStateListener { [heard] (state: DeviceState) in
      heard.add("device \(state.linkState)")
    }
    tokens.insert(token)
    tokens.insert(device.addLinkStateListener { _ in })
    tokens.insert(device.addCompatibilityListener { print($0.displayString) })
    let uuid: UUID = device.deviceUUID
    heard.add(uuid.uuidString + device.deviceType().rawValue + device.compatibility().displayString)
  }

  func makeSession() throws -> DeviceSession {
    let session = try wearables.createSession(deviceSelector: selector)
    let states: any Announcer<DeviceSessionState> = session.statePublisher
    let errors: any Announcer<DeviceSessionError> = session.errorPublisher
    states.listen { [heard] in heard.add("session \($0)") }.store(in: tokens)
    errors.listen { [heard] in heard.add($0.localizedDescription) }.store(in: tokens)
    try session.start()
    return session
  }

  func tearDown() async { await tokens.cancelAll() }
}

/// Never run: it would answer a companion. It has to compile.
func handleURL(_ url: URL, _ wearables: any WearablesInterface) async {
  do {
    _ = try await wearables.handleUrl(url)
    _ = try await wearables.handleUrl(url) { request in
      Task {
        print(request.flowID, request.protocolVersion)
        do throws(RegistrationRequestError) { try await request.continueRegistration() } catch {
          switch error {
          case .invalidRequest, .alreadyHandled, .configurationInvalid, .networkUnavailable, .metaAINotInstalled,
            .registrationFailed, .cancellationFailed:
            break
          }
        }
      }
    }
  } catch {
    switch error {
    case .registrationError, .unregistrationError: break
    }
  }
}
