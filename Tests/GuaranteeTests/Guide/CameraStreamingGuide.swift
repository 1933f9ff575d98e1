import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// docs/camera-streaming.md, run. `GuideTextTests` holds its blocks against this file.
@Suite(.exclusive(.mockKit))
struct CameraStreamingGuide {
  @Test("DOC-1: the guide's walk shows pictures, takes a photo and ends")
  func walk() async throws {
    try await withGlasses { _ in
      let reader = Reader()
      try await follow(reader)
      #expect(reader.images.values.isEmpty == false)
      #expect(reader.photos.values.first?.1 == .jpeg)
      #expect(reader.texts.values.isEmpty)
    }
  }

  @Test("DOC-1: the guide's recording holds what arrived")
  func recording() async throws {
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let stream = try #require(try session.addCamera(config: configuration)).stream
      let watched = WatchedStream(stream)
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("guide-\(UUID().uuidString).mp4")
      defer { try? FileManager.default.removeItem(at: file) }
      let recorder = try Recorder(to: file)
      try recorder.record(stream)
      stream.start()
      try await watched.wait(forFrames: 24)
      stream.stop()
      let summary = try await recorder.finish()
      #expect(summary.statistics.framesWritten >= 20)
    }
  }

  // swift-format-ignore
  private func follow(_ reader: Reader) async throws {
    let show = reader.show, say = reader.say, keep = reader.keep

    let wearables = Wearables.shared
    let selector = AutoDeviceSelector(wearables: wearables)
    for await device in selector.activeDeviceStream() where device != nil { break }

    let session = try wearables.createSession(deviceSelector: selector)
    let states = session.stateStream()  // before start(), to miss nothing
    try session.start()
    for await state in states where state == .started || state == .stopped { break }

    if try await wearables.checkPermissionStatus(.camera) != .granted {
      guard try await wearables.requestPermission(.camera) == .granted else { return }
    }

    let configuration = StreamConfiguration(videoCodec: .raw, resolution: .medium, frameRate: 24)
    guard let camera = try session.addCamera(config: configuration) else { return }
    let stream = camera.stream

    let tokens = ListenerTokenBag()
    stream.statePublisher.listen { state in
      switch state {
      case .streaming: print("pictures are coming")
      case .paused: print("resting; the last picture stays")
      case .waitingForDevice, .starting: print("getting there")
      case .stopping, .stopped: print("over")
      }
    }.store(in: tokens)
    stream.videoFramePublisher.listen { frame in
      guard let image = frame.makeUIImage() else { return }
      Task { @MainActor in show(image) }
    }.store(in: tokens)
    stream.errorPublisher.listen { error in
      Task { @MainActor in say(error.localizedDescription) }
    }.store(in: tokens)
    stream.start()

    try await reader.images.wait("a picture") { !$0.isEmpty }

    stream.photoDataPublisher.listen { photo in
      Task { @MainActor in keep(photo.data, photo.format) }
    }.store(in: tokens)
    let started = stream.capturePhoto(format: .jpeg)
    if !started { Task { @MainActor in say("not now") } }

    try await reader.photos.wait("a photo") { !$0.isEmpty }

    stream.stop()  // the camera stays; stream.start() goes on
    camera.stop()  // the session stays; addCamera gives a new one
    session.stop()
    tokens.clear()
  }
}

/// Stands for the app around the guide's blocks: a screen, a line of text, an album.
private final class Reader: Sendable {
  let images = Observed<CGSize>()
  let texts = Observed<String>()
  let photos = Observed<(Data, PhotoCaptureFormat)>()

  @MainActor func show(_ image: UIImage) { images.record(image.size) }
  @MainActor func say(_ text: String) { texts.record(text) }
  @MainActor func keep(_ data: Data, _ format: PhotoCaptureFormat) { photos.record((data, format)) }
}
