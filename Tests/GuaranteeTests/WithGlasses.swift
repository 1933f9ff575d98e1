import Foundation
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// Simulated glasses for one test, switched on and worn, gone afterwards whatever the test did.
///
/// Only for tests that are `.exclusive(.mockKit)`: the kit belongs to the process.
func withGlasses(
  _ model: GlassesModel = .rayBanMeta, feed: URL? = nil, config: MockDeviceKitConfig = MockDeviceKitConfig(),
  _ test: (any MockGlasses) async throws -> Void
) async throws {
  MockDeviceKit.shared.enable(config: config)
  do {
    let glasses = try MockDeviceKit.shared.pairGlasses(model: model)
    glasses.powerOn()
    glasses.don()
    if let feed { glasses.services.camera.setCameraFeed(fileURL: feed) }
    try await test(glasses)
  } catch {
    await MockDeviceKit.shared.disable()
    throw error
  }
  await MockDeviceKit.shared.disable()
}

/// A started session with these glasses.
func startedSession(with glasses: any MockGlasses) async throws -> DeviceSession {
  let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
  let session = try Wearables.shared.createSession(deviceSelector: selector)
  let states = Observed<DeviceSessionState>()
  let token = session.statePublisher.listen { states.record($0) }
  try session.start()
  try await states.wait("a started session") { $0.last == .started }
  await token.cancel()
  return session
}

/// What the listeners of one stream saw.
final class WatchedStream: Sendable {
  /// A frame's facts; the frame itself is not kept.
  struct Frame: Sendable {
    let presentation: CMTime
    let size: CMVideoDimensions
    let isSync: Bool
    let isCompressed: Bool
  }

  /// States and errors in the order in which they came.
  enum Event: Equatable, Sendable {
    case state(StreamState)
    case error(StreamError)
  }

  let stream: MWDATCamera.Stream
  let events = Observed<Event>()
  let frames = Observed<Frame>()
  let photos = Observed<PhotoData>()
  private let tokens = ListenerTokenBag()

  init(_ stream: MWDATCamera.Stream, watchesFrames: Bool = true) {
    self.stream = stream
    stream.statePublisher.listen { [events] in events.record(.state($0)) }.store(in: tokens)
    stream.errorPublisher.listen { [events] in events.record(.error($0)) }.store(in: tokens)
    stream.photoDataPublisher.listen { [photos] in photos.record($0) }.store(in: tokens)
    guard watchesFrames else { return }
    stream.videoFramePublisher.listen { [frames] in frames.record(Frame($0)) }.store(in: tokens)
  }

  var states: [StreamState] {
    events.values.compactMap { if case .state(let state) = $0 { state } else { nil } }
  }

  var errors: [StreamError] {
    events.values.compactMap { if case .error(let error) = $0 { error } else { nil } }
  }

  func wait(for state: StreamState, within limit: Duration = .seconds(180)) async throws {
    try await events.wait("the state \(state)", within: limit) { $0.last == .state(state) }
  }

  func wait(forFrames count: Int, within limit: Duration = .seconds(180)) async throws {
    try await frames.wait("\(count) frames", within: limit) { $0.count >= count }
  }
}

extension WatchedStream.Frame {
  init(_ frame: VideoFrame) {
    let buffer = frame.sampleBuffer
    presentation = CMSampleBufferGetPresentationTimeStamp(buffer)
    isCompressed = CMSampleBufferGetImageBuffer(buffer) == nil
    isSync = buffer.sampleAttachments.first?[.notSync] as? Bool != true
    size =
      CMSampleBufferGetFormatDescription(buffer).map { CMVideoFormatDescriptionGetDimensions($0) }
      ?? CMVideoDimensions(width: 0, height: 0)
  }
}

/// A JPEG of 640x480 in the temporary folder, made by the `ffmpeg` command.
func stillPicture() throws -> URL {
  let path = try MediaFactory.newPath("jpg")
  try CommandLineTool.run(
    "ffmpeg", ["-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=640x480", "-frames:v", "1", path])
  return URL(fileURLWithPath: path)
}
