import Glasswing
import MWDATCamera
import MWDATCore

// What an app listens to.
extension World {
  func listen(_ place: Int, _ publisher: WalkPublisher) {
    guard let token = token(place, publisher) else { return }
    let old = state.withLock { state in
      state.tokens.insert(token, at: 0)
      return state.tokens.count > 2 * Self.most ? state.tokens.removeLast() : nil
    }
    old?.release()
  }

  private func token(_ place: Int, _ publisher: WalkPublisher) -> WalkToken? {
    let camera = pick(place, \.cameras)?.camera
    let session = pick(place, \.sessions)?.session
    func to<Value>(_ announcer: (any Announcer<Value>)?) -> WalkToken? {
      announcer.map { WalkToken("\(publisher)", $0, judge) }
    }
    func device(_ listen: (Device, @escaping @Sendable () -> Void) -> any AnyListenerToken) -> WalkToken? {
      guard let device = Wearables.shared.devices.first.flatMap({ Wearables.shared.deviceForIdentifier($0) }) else {
        return nil
      }
      return WalkToken("\(publisher)", judge) { heard in listen(device, heard) }
    }
    return switch publisher {
    case .registration:
      WalkToken("registration", judge) { heard in Wearables.shared.addRegistrationStateListener { _ in heard() } }
    case .devices: WalkToken("devices", judge) { heard in Wearables.shared.addDevicesListener { _ in heard() } }
    case .deviceState: device { device, heard in device.addDeviceStateListener { _ in heard() } }
    case .linkState: device { device, heard in device.addLinkStateListener { _ in heard() } }
    case .compatibility: device { device, heard in device.addCompatibilityListener { _ in heard() } }
    case .sessionStates: to(session?.statePublisher)
    case .sessionErrors: to(session?.errorPublisher)
    case .cameraStates: to(camera?.statePublisher)
    case .streamStates: to(camera?.stream.statePublisher)
    case .streamErrors: to(camera?.stream.errorPublisher)
    case .frames: to(camera?.stream.videoFramePublisher)
    case .audio: to(camera?.stream.audioFramePublisher)
    case .continuousAudio: to(camera?.stream.continuousAudioPublisher)
    case .streamPhotos: to(camera?.stream.photoDataPublisher)
    case .health: to(camera?.stream.healthPublisher)
    case .photoStates: to(camera?.photo.statePublisher)
    case .photos: to(camera?.photo.photoDataPublisher)
    case .photoErrors: to(camera?.photo.errorPublisher)
    case .photoProgress: to(camera?.photo.transferProgressPublisher)
    case .recording: to(pick(place, \.recorders)?.eventPublisher)
    }
  }

  func cancelToken(_ place: Int) {
    guard let token = take(place, \.tokens) else { return }
    state.withLock { $0.spentTokens.append(token) }
    awaits.begin("cancel of a token", within: .zero) { await token.cancel() }
  }

  func releaseToken(_ place: Int) {
    guard let token = take(place, \.tokens) else { return }
    state.withLock { $0.spentTokens.append(token) }
    token.release()
  }

  // MARK: Sequences

  /// A reader that goes on until the sequence ends or it is given up.
  func beginSequence(_ place: Int, _ sequence: WalkSequence) {
    let task: Task<Void, Never>? =
      switch sequence {
      case .registration: read("registrationStateStream", Wearables.shared.registrationStateStream())
      case .devices: read("devicesStream", Wearables.shared.devicesStream())
      case .sessionStates: readSession(place) { $0.stateStream().eraseToAnySequence() }
      case .sessionErrors:
        readSession(place) { session in
          session.errorStream().eraseToAnySequence()
        }
      case .activeDevice: pick(place, \.selectors).map { read("activeDeviceStream", $0.activeDeviceStream()) }
      case .specificDevice: read("activeDeviceStream", SpecificDeviceSelector(device: "x").activeDeviceStream())
      }
    guard let task else { return }
    let old = add(task, \.sequences)
    old?.cancel()
  }

  private func readSession<Element: Sendable>(
    _ place: Int, _ make: (DeviceSession) -> AnyAsyncSequence<Element>
  ) -> Task<Void, Never>? {
    pick(place, \.sessions).map { read("a session's sequence", make($0.session)) }
  }

  /// Sequences of sessions end with those, others when they are given up: the walk's own end is the bound.
  private func read<Sequence: AsyncSequence & Sendable>(_ name: String, _ sequence: Sequence) -> Task<Void, Never>
  where Sequence.Element: Sendable {
    awaits.begin(name, within: .seconds(100_000)) {
      do {
        for try await _ in sequence {}
      } catch {}
    }
  }

  func abandonSequence(_ place: Int) { take(place, \.sequences)?.cancel() }
}
