import Foundation
import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Synchronization
import TestSupport
import Units

/// What a walk goes through: the kit, its glasses, and all that an app has of them. Any thread may do any step at any
/// time: what a step needs is taken out under the lock, and used outside.
final class World: Sendable {
  struct SessionEntry: Sendable {
    let session: DeviceSession
    let watch: SessionWatch
  }

  struct CameraEntry: Sendable {
    let camera: Camera
    let watch: CameraWatch
  }

  struct State {
    /// Newest first, each.
    var glasses: [SimulatedGlasses] = []
    var sessions: [SessionEntry] = []
    var cameras: [CameraEntry] = []
    var selectors: [AutoDeviceSelector] = []
    var tokens: [WalkToken] = []
    var sequences: [Task<Void, Never>] = []
    var recorders: [Recorder] = []
    /// Kept to the end, since what must not happen may happen late.
    var sessionWatches: [SessionWatch] = []
    var cameraWatches: [CameraWatch] = []
    var spentTokens: [WalkToken] = []
    /// Everything that must be gone at the end.
    var mortal: [(name: String, object: @Sendable () -> AnyObject?)] = []
    var allGlasses: [Reference<SimulatedGlasses>] = []
    var count = 0
  }

  /// Of each kind an app keeps no more than so many at a time; it lets go of the oldest.
  static let most = 3

  let judge: WalkJudge
  let awaits: Awaits
  let media: WalkMedia
  let state = Mutex(State())
  private let seed: UInt64

  init(seed: UInt64, media: WalkMedia, _ judge: WalkJudge) {
    self.seed = seed
    self.media = media
    self.judge = judge
    awaits = Awaits(judge)
  }

  func enable(isRegistered: Bool) {
    MockKit.shared.enable(
      config: MockDeviceKitConfig(initiallyRegistered: isRegistered, initialPermissionsGranted: isRegistered),
      options: MockKit.Options(
        timekeeper: judge.timekeeper, seed: seed, replaysCachedUnits: judge.timekeeper is ManualTimekeeper))
    letGoOfGlasses()
  }

  /// The `place`-th of what is there.
  func pick<Element: Sendable>(_ place: Int, _ list: KeyPath<State, [Element]>) -> Element? {
    state.withLock { state in
      let all = state[keyPath: list]
      return all.isEmpty ? nil : all[place % all.count]
    }
  }

  /// Takes the `place`-th out.
  func take<Element: Sendable>(_ place: Int, _ list: WritableKeyPath<State, [Element]>) -> Element? {
    state.withLock { state in
      let count = state[keyPath: list].count
      return count == 0 ? nil : state[keyPath: list].remove(at: place % count)
    }
  }

  /// Adds the newest; what is one too many is returned, to be let go outside the lock.
  func add<Element: Sendable>(_ element: Element, _ list: WritableKeyPath<State, [Element]>) -> Element? {
    state.withLock { state in
      state[keyPath: list].insert(element, at: 0)
      return state[keyPath: list].count > Self.most ? state[keyPath: list].removeLast() : nil
    }
  }

  func number() -> Int {
    state.withLock { state in
      state.count += 1
      return state.count
    }
  }

  /// Notes something that has to be gone at the end.
  func expectEnd<Object: AnyObject & Sendable>(of object: Object, _ name: String) {
    let reference = Reference(object)
    state.withLock { $0.mortal.append((name, { reference.object })) }
  }

  // MARK: Looking

  /// To be called when nothing is under way.
  func check() async {
    let (sessions, cameras) = state.withLock { ($0.sessionWatches, $0.cameraWatches) }
    for session in sessions { session.settled() }
    for camera in cameras { camera.settled() }
    await awaits.check()
  }

  /// What the agents still have of apps.
  var leftOnGlasses: [String] {
    state.withLock(\.allGlasses).compactMap(\.object).compactMap { glasses in
      let (links, sessions) = (glasses.agent.linkCount, glasses.agent.sessionCount)
      return links + sessions == 0 ? nil : "\(glasses.deviceIdentifier): \(links) links, \(sessions) sessions"
    }
  }

  /// What should be gone and is not.
  var survivors: [String] { state.withLock { $0.mortal.filter { $0.object() != nil }.map(\.name) } }

  /// The app lets go of everything that it has.
  func letGo() {
    let old = state.withLock { state in
      let old = (state.sessions, state.cameras, state.selectors, state.tokens + state.spentTokens, state.recorders)
      state.sessions = []
      state.cameras = []
      state.selectors = []
      state.tokens = []
      state.spentTokens = []
      state.recorders = []
      state.sequences = []
      return old
    }
    for session in old.0 { session.watch.endWished() }
    for token in old.3 { token.release() }
  }

  func letGoOfGlasses() {
    let old = state.withLock { state in
      defer { state.glasses = [] }
      return state.glasses
    }
    withExtendedLifetime(old) {}
  }

  /// What has not come to its end.
  var unfinished: [String] {
    state.withLock { state in
      state.sessionWatches.filter { !$0.isOver }.map(\.description)
        + state.cameraWatches.filter { !$0.isOver }.map(\.description)
    }
  }
}

/// Files that a walk needs, made once.
struct WalkMedia: Sendable {
  let clip: URL
  let unplayable: URL
  let picture: URL
  let sound: URL

  static func make() throws -> WalkMedia {
    WalkMedia(
      clip: URL(fileURLWithPath: try MediaFactory.path(.h264)),
      unplayable: URL(fileURLWithPath: try MediaFactory.path(.textNamedMP4)), picture: try stillPicture(),
      sound: try WAVFile.write(
        [SineTone.samples(frequency: 600, sampleRate: 22_050, count: 22_050)], sampleRate: 22_050))
  }
}
