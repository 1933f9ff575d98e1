import Foundation
import MWDATCamera
import MWDATCore
import Observation

/// The camera of one pair of glasses as a screen shows it: start a session, start the preview, stop both.
///
/// Written against the Device Access Toolkit alone, so the same file builds for a phone and for Linux.
@MainActor @Observable
public final class CameraModel {
  public private(set) var state: StreamState = .stopped
  public private(set) var framesSeen = 0
  public private(set) var photo: PhotoData?
  /// What went wrong, in the words that users see.
  public private(set) var problem: String?

  @ObservationIgnored private let wearables: any WearablesInterface
  @ObservationIgnored private var session: DeviceSession?
  @ObservationIgnored private var camera: Camera?
  @ObservationIgnored private let tokens = ListenerTokenBag()

  public init(wearables: any WearablesInterface) {
    self.wearables = wearables
  }

  /// Connects to the given glasses; returns when the session is there or has failed.
  public func startSession(on device: DeviceIdentifier) async {
    do {
      let session = try wearables.createSession(deviceSelector: SpecificDeviceSelector(device: device))
      let states = session.stateStream()
      try session.start()
      self.session = session
      for await state in states where state == .started || state == .stopped { break }
    } catch {
      problem = error.localizedDescription
    }
  }

  /// Attaches the camera and starts the stream. The session has to be started.
  public func startPreview() async {
    do {
      guard try await wearables.checkPermissionStatus(.camera) == .granted else {
        problem = StreamError.permissionDenied.localizedDescription
        return
      }
      let configuration = StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: 24)
      guard let camera = try session?.addCamera(config: configuration) else { return }
      self.camera = camera
      listen(to: camera.stream)
      camera.stream.start()
    } catch {
      problem = error.localizedDescription
    }
  }

  /// False when the glasses take no photo now.
  public func takePhoto() -> Bool {
    camera?.stream.capturePhoto(format: .jpeg) ?? false
  }

  public func stop() {
    tokens.clear()
    session?.stop()
    session = nil
    camera = nil
    state = .stopped
  }

  private func listen(to stream: MWDATCamera.Stream) {
    stream.statePublisher.listen { state in
      Task { @MainActor [weak self] in self?.state = state }
    }.store(in: tokens)
    stream.videoFramePublisher.listen { _ in
      Task { @MainActor [weak self] in self?.framesSeen += 1 }
    }.store(in: tokens)
    stream.photoDataPublisher.listen { photo in
      Task { @MainActor [weak self] in self?.photo = photo }
    }.store(in: tokens)
    stream.errorPublisher.listen { error in
      Task { @MainActor [weak self] in self?.problem = error.localizedDescription }
    }.store(in: tokens)
  }
}
