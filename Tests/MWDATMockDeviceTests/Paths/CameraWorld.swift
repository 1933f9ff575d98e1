import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// Simulated glasses on a face, a started session with a camera, and a clock moved by hand.
struct CameraWorld {
  let time = ManualTimekeeper()
  let glasses: SimulatedGlasses
  let session: DeviceSession
  let camera: Camera
  let sessionStates = Observed<DeviceSessionState>()
  let sessionErrors = Observed<DeviceSessionError>()
  let cameraStates = Observed<CameraState>()
  let states = Observed<StreamState>()
  let errors = Observed<StreamError>()
  let frames = Observed<VideoFrame>()
  let photos = Observed<PhotoData>()
  /// States and errors of the stream as they came, in words.
  let log = Observed<String>()
  private let tokens = ListenerTokenBag()

  var stream: MWDATCamera.Stream { camera.stream }

  static let compressed = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
  static let decoded = StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: 15)

  init(_ configuration: StreamConfiguration = Self.compressed, clock: DeviceClock = .identity) throws {
    MockKit.shared.enable(config: MockDeviceKitConfig(), options: MockKit.Options(timekeeper: time))
    glasses = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: clock)
    glasses.powerOn()
    glasses.don()
    session = try Wearables.shared.createSession(
      deviceSelector: SpecificDeviceSelector(device: glasses.deviceIdentifier))
    session.statePublisher.listen { [sessionStates] in sessionStates.record($0) }.store(in: tokens)
    session.errorPublisher.listen { [sessionErrors] in sessionErrors.record($0) }.store(in: tokens)
    try session.start()
    time.settle()
    camera = try #require(try session.addCamera(config: configuration))
    camera.statePublisher.listen { [cameraStates] in cameraStates.record($0) }.store(in: tokens)
    listen(to: camera.stream)
  }

  /// Listens to another stream too, with the same records.
  func listen(to stream: MWDATCamera.Stream) {
    stream.statePublisher.listen { [states, log] in
      states.record($0)
      log.record("\($0)")
    }.store(in: tokens)
    stream.errorPublisher.listen { [errors, log] in
      errors.record($0)
      log.record("error \($0)")
    }.store(in: tokens)
    stream.videoFramePublisher.listen { [frames] in frames.record($0) }.store(in: tokens)
    stream.photoDataPublisher.listen { [photos] in photos.record($0) }.store(in: tokens)
  }

  func start() {
    stream.start()
    time.advance(by: .seconds(1))
  }

  /// Times of the frames in nanoseconds of the host's clock.
  var stamps: [Int64] { frames.values.map { $0.sampleBuffer.presentationTimeStamp.value } }

  func end() {
    MockDeviceKit.shared.disable()
    time.advance(by: .seconds(2))
  }
}
