import Companion
import Foundation
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Synchronization
import TestSupport
import Testing
import Units

/// A host in this process: a companion in a folder of its own, and an app's interface to it.
final class Host: Sendable {
  let companion: Companion
  let environment: CompanionEnvironment
  let wearables: SharedWearables

  /// - Parameter other: whose companion serves this app as well; nil for one of its own.
  init(with other: Host? = nil) throws {
    let timekeeper = SystemTimekeeper.shared
    let companion =
      try other?.companion ?? Companion(CompanionFolder(try GlassesProcess.newFolder()), hostName: "desk")
    self.companion = companion
    environment = CompanionEnvironment(timekeeper: timekeeper) {
      let wire = MemoryLink.makePair(timekeeper: timekeeper)
      companion.serve(wire.glasses)
      return wire.app
    }
    wearables = SharedWearables(environment: environment)
  }

  deinit { companion.end() }

  /// Pairs, and waits until the glasses are connected; their identifier.
  func pair(_ code: String) async throws -> DeviceIdentifier {
    #expect(await environment.client.joined(within: .seconds(60)))
    let answer = await environment.client.answer { .pairGlasses(PairGlasses(number: $0, uri: code)) }
    try #require(answer?.outcome == .done, "\(String(describing: answer))")
    let identifier = try #require(answer?.identifier)
    try await connected(identifier)
    return identifier
  }

  func connected(_ identifier: DeviceIdentifier) async throws {
    try await linkState(.connected, of: identifier)
  }

  func linkState(_ wanted: LinkState, of identifier: DeviceIdentifier) async throws {
    let device = try #require(wearables.deviceForIdentifier(identifier))
    let states = Observed<LinkState>()
    let token = device.addDeviceStateListener { states.record($0.linkState) }
    try await states.wait("\(wanted)") { $0.last == wanted }
    withExtendedLifetime(token) {}
  }

  /// A session that has started.
  func session(with identifier: DeviceIdentifier) async throws -> DeviceSession {
    let session = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: identifier))
    let states = Observed<DeviceSessionState>()
    let token = session.statePublisher.listen { states.record($0) }
    try session.start()
    try await states.wait("the session") { $0.contains(.started) || $0.contains(.stopped) }
    withExtendedLifetime(token) {}
    #expect(session.state == .started)
    return session
  }
}

/// A stream that is watched.
final class WatchedStream: Sendable {
  /// One that nobody holds is over.
  let session: DeviceSession
  let camera: Camera
  let frames = Observed<VideoFrame>()
  let states = Observed<StreamState>()
  let errors = Observed<StreamError>()
  let sessionErrors = Observed<DeviceSessionError>()
  let sessionStates = Observed<DeviceSessionState>()
  private let tokens = ListenerTokenBag()

  var stream: MWDATCamera.Stream { camera.stream }

  init(in session: DeviceSession, _ configuration: StreamConfiguration = WatchedStream.small) throws {
    self.session = session
    camera = try #require(try session.addCamera(config: configuration))
    camera.stream.videoFramePublisher.listen { [frames] in frames.record($0) }.store(in: tokens)
    camera.stream.statePublisher.listen { [states] in states.record($0) }.store(in: tokens)
    camera.stream.errorPublisher.listen { [errors] in errors.record($0) }.store(in: tokens)
    session.errorPublisher.listen { [sessionErrors] in sessionErrors.record($0) }.store(in: tokens)
    session.statePublisher.listen { [sessionStates] in sessionStates.record($0) }.store(in: tokens)
  }

  static var small: StreamConfiguration {
    StreamConfiguration(videoCodec: .hvc1, audioCodec: nil, resolution: .low, frameRate: 15)
  }

  func start(frames count: Int = 10) async throws {
    stream.start()
    try await frames.wait("pictures") { $0.count >= count }
  }

  /// Their times strictly rise.
  func expectRisingTimes() {
    let times = frames.values.map { $0.sampleBuffer.presentationTimeStamp.seconds }
    #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
  }
}
