import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import TestSupport
import Testing
import Units

/// A camera on scripted glasses in a started session, its time moved by hand, with all that it announces in one log.
struct CameraRig {
  let timekeeper = ManualTimekeeper()
  let environment: CameraEnvironment
  let wearables: SharedWearables
  let session: DeviceSession
  let camera: Camera
  let glasses: ScriptedGlasses
  /// "starting", "error timeout", "photo 3 bytes jpeg", "camera stopped", in the order in which they were heard.
  let log = Observed<String>()
  let tokens = ListenerTokenBag()

  var stream: MWDATCamera.Stream { camera.stream }

  init(_ configuration: StreamConfiguration = StreamConfiguration()) throws {
    environment = CameraEnvironment(timekeeper)
    wearables = SharedWearables(environment: environment)
    session = try wearables.createSession(
      deviceSelector: SpecificDeviceSelector(device: CameraEnvironment.device))
    try session.start()
    timekeeper.advance(by: .milliseconds(100))
    glasses = try #require(environment.glasses.last)
    camera = try #require(try session.addCamera(config: configuration))
    listen(to: camera)
  }

  private func listen(to camera: Camera) {
    let log = log
    camera.statePublisher.listen { log.record("camera \($0)") }.store(in: tokens)
    camera.stream.statePublisher.listen { log.record("\($0)") }.store(in: tokens)
    camera.stream.errorPublisher.listen { log.record("error \($0)") }.store(in: tokens)
    camera.stream.photoDataPublisher.listen { log.record("photo \($0.data.count) bytes \($0.format)") }
      .store(in: tokens)
    camera.photo.statePublisher.listen { log.record("photo \($0)") }.store(in: tokens)
    camera.photo.errorPublisher.listen { log.record("photo error \($0.name)") }.store(in: tokens)
    camera.photo.photoDataPublisher.listen { log.record("photo taken \($0.imageData.count) bytes") }
      .store(in: tokens)
  }

  /// Lets everything happen that needs next to no time.
  func settle() { timekeeper.advance(by: .milliseconds(50)) }

  /// Starts the stream and brings it to `.streaming` by its first picture.
  func stream(pictures: Int = 1) {
    stream.start()
    settle()
    glasses.sendPictures(pictures)
    settle()
  }

  /// Sends pictures at 24 a second.
  func run(pictures: Int) {
    for _ in 0..<pictures {
      glasses.sendPictures()
      timekeeper.advance(by: .nanoseconds(1_000_000_000 / 24))
    }
  }
}

extension PhotoError {
  var name: String { String("\(self)".prefix { $0 != "(" }) }
}
