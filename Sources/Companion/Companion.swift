import LinkProtocol
import LinkTransport
import Synchronization
import Trust
import Units

/// What the companion app is on a phone: it has the host's key, knows the paired glasses and how they are, and lets this
/// user's apps in at them.
///
/// Everything happens on one lane. Apps reach it over local connections (docs/protocol.md, 6, group 0x06).
package final class Companion: Sendable {
  struct State {
    var store: PairedGlasses
    var keepers: [GlassesIdentifier: GlassesKeeper] = [:]
    var apps: [UInt64: AppLink] = [:]
    var nextApp: UInt64 = 1
    var isOver = false
  }

  package let host: HostIdentity
  let timekeeper: any Timekeeper
  let lane: any Lane
  private let file: StoreFile<PairedGlasses>
  let state: Mutex<State>
  /// For the log of whoever runs it: what was damaged and is begun anew.
  package let warning: String?

  /// Reads what the folder has, or makes it: host key and paired glasses.
  ///
  /// - Parameter hostName: what glasses call this host; one that can't be shown becomes "host".
  package init(
    _ folder: CompanionFolder, hostName: String, timekeeper: any Timekeeper = SystemTimekeeper.shared
  ) throws(CompanionError) {
    self.timekeeper = timekeeper
    host = try Self.host(folder, hostName)
    file = StoreFile(folder.glasses)
    let load: StoreLoad<PairedGlasses>
    do throws(StoreError) { load = try file.load() } catch { throw .store(error) }
    warning = load.message.map { "\(folder.glasses): \($0)" }
    lane = timekeeper.makeLane("gw-companion")
    state = Mutex(State(store: load.content))
    for glasses in load.content.glasses { keep(glasses) }
  }

  deinit { lane.end() }

  private static func host(_ folder: CompanionFolder, _ name: String) throws(CompanionError) -> HostIdentity {
    let key: SigningKey
    do throws(KeyError) { key = try KeyFile.loadOrMake(folder.hostKey) } catch { throw .key(error) }
    let shown = PairedHosts.Host(name: name, key: key.publicKey)?.name ?? "host"
    do throws(CertificateError) {
      return try HostIdentity(key: key, name: shown)
    } catch {
      throw .certificate(error)
    }
  }

  /// Says goodbye to glasses and apps. Idempotent.
  package func end() {
    let (keepers, apps) = state.withLock { state in
      state.isOver = true
      defer {
        state.keepers = [:]
        state.apps = [:]
      }
      return (Array(state.keepers.values), Array(state.apps.values))
    }
    for keeper in keepers { keeper.end() }
    for app in apps { app.link.close(Goodbye(reason: .finished)) }
  }

  /// Glasses were found on the network. Those that are not paired are none of the companion's business.
  package func found(_ device: GlassesIdentifier, at addresses: [HostAddress], port: UInt16) {
    state.withLock { $0.keepers[device] }?.found(at: addresses, port: port)
  }

  var listings: [GlassesListing] {
    state.withLock { state in state.store.glasses.compactMap { state.keepers[$0.device]?.listing } }
  }

  // MARK: - Glasses, on the lane

  private func keep(_ glasses: PairedGlasses.Glasses) {
    let keeper = GlassesKeeper(glasses, host: host, timekeeper: timekeeper, lane: lane) { [weak self] glasses in
      self?.changed(glasses)
    }
    let old = state.withLock { $0.keepers.updateValue(keeper, forKey: glasses.device) }
    old?.end()
    keeper.start()
  }

  private func changed(_ glasses: PairedGlasses.Glasses) {
    let (isNew, store) = state.withLock { state in
      guard let known = state.store.glasses.first(where: { $0.device == glasses.device }), known != glasses else {
        return (false, state.store)
      }
      return (state.store.add(glasses), state.store)
    }
    // Names and places come again with the next link, so a disk that is full now costs nothing that lasts.
    if isNew { try? file.save(store) }
    guard let listing = state.withLock({ $0.keepers[glasses.device] })?.listing else { return }
    tell(.glassesListing(listing))
  }

  func pair(_ text: String, done: @escaping @Sendable (CompanionAnswer.Outcome, String, String) -> Void) {
    let uri: PairingURI
    do throws(PairingURIError) {
      uri = try PairingURI(text)
    } catch {
      return done(.badURI, "", "\(error)")
    }
    PairingClient.pair(uri, as: host, timekeeper: timekeeper) { [weak self] outcome in
      switch outcome {
      case .failed(let code, let words): done(code, uri.device.text, words)
      case .paired(let glasses):
        guard let self else { return done(.failed, uri.device.text, "the companion has ended") }
        lane.run { self.paired(glasses, done) }
      }
    }
  }

  private func paired(
    _ glasses: PairedGlasses.Glasses, _ done: (CompanionAnswer.Outcome, String, String) -> Void
  ) {
    var store = state.withLock { $0.store }
    // Who pairs anew is the same pair of glasses to apps.
    let known = store.glasses.first { $0.device == glasses.device }
    let kept = known.flatMap { glasses.with(uuid: $0.uuid) } ?? glasses
    guard store.add(kept) else {
      return done(
        .full, glasses.device.text, "unpair glasses that are not used any more; \(PairedGlasses.most) is the limit")
    }
    do throws(StoreError) {
      try file.save(store)
    } catch {
      return done(.failed, glasses.device.text, "\(error)")
    }
    state.withLock { $0.store = store }
    keep(kept)
    if let listing = state.withLock({ $0.keepers[kept.device] })?.listing { tell(.glassesListing(listing)) }
    done(.done, kept.device.text, kept.name)
  }

  /// - Parameter name: the glasses' identifier.
  func unpair(_ name: String) -> (CompanionAnswer.Outcome, String) {
    guard let device = GlassesIdentifier(name) else { return (.notPaired, "") }
    var store = state.withLock { $0.store }
    guard store.remove(device) else { return (.notPaired, "") }
    do throws(StoreError) {
      try file.save(store)
    } catch {
      return (.failed, "\(error)")
    }
    let keeper = state.withLock { state in
      state.store = store
      return state.keepers.removeValue(forKey: device)
    }
    let wereTold = keeper?.unpair() ?? false
    tell(.glassesRemoved(GlassesRemoved(identifier: name)))
    return (wereTold ? .done : .doneHere, "")
  }

  private func tell(_ message: Message) {
    for app in state.withLock({ $0.apps.values.filter(\.isOpen) }) { app.link.send(message) }
  }
}
