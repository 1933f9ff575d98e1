import LinkProtocol
import MWDATCamera
import MWDATCore
import MediaEngine
import TestSupport
import Testing
import Units

@Suite("Photos on a link")
struct PhotoTests {
  static let bytes = (0..<50_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }

  // MARK: While streaming

  @Test(
    "A photo taken while streaming brings the glasses' bytes, in the format asked for (PHOTO-1, PHOTO-4)",
    arguments: [
      PhotoCaptureFormat.jpeg, .heic,
    ])
  func inStream(format: PhotoCaptureFormat) throws {
    let rig = try CameraRig()
    rig.stream()
    let photos = Observed<PhotoData>()
    let token = rig.stream.photoDataPublisher.listen { photos.record($0) }
    #expect(rig.stream.capturePhoto(format: format))
    rig.settle()
    let request = try #require(rig.glasses.photoRequests.first)
    #expect(request.size == .source)
    #expect(request.quality == .high)
    #expect(request.session == rig.session.linkSessionID)
    try rig.glasses.answer(request, with: Self.bytes)
    rig.settle()
    #expect(photos.values.count == 1)
    #expect(photos.values.first.map { [UInt8]($0.data) } == Self.bytes)
    #expect(photos.values.first?.format == format)
    #expect(rig.stream.state == .streaming)
    withExtendedLifetime(token) {}
  }

  @Test("A capture is refused while not streaming, and while another is in flight; nothing is announced then")
  func refusals() throws {
    let rig = try CameraRig()
    #expect(!rig.stream.capturePhoto(format: .jpeg))
    rig.stream.start()
    rig.settle()
    #expect(!rig.stream.capturePhoto(format: .jpeg))
    rig.glasses.sendPictures()
    rig.settle()
    #expect(rig.stream.capturePhoto(format: .jpeg))
    #expect(!rig.stream.capturePhoto(format: .jpeg))
    rig.settle()
    try rig.glasses.answer(#require(rig.glasses.photoRequests.first), with: Self.bytes)
    rig.settle()
    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.glasses.send(.sessionPaused(SessionPaused(session: rig.session.linkSessionID, reason: .wearer)))
    rig.settle()
    #expect(!rig.stream.capturePhoto(format: .jpeg))
    #expect(rig.log.values.filter { $0.hasPrefix("photo") } == ["photo 50000 bytes jpeg"])
    #expect(rig.glasses.photoRequests.count == 2)
  }

  @Test(
    "Each failure of a capture is one photoCaptureFailed, the stream goes on and the next capture is taken (PHOTO-2)")
  func failures() throws {
    let rig = try CameraRig()
    rig.stream()

    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.settle()
    rig.glasses.refuse(try #require(rig.glasses.photoRequests.last), .photoFailed)
    rig.settle()
    #expect(rig.log.values.last == "error photoCaptureFailed")

    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.settle()
    try rig.glasses.answer(
      #require(rig.glasses.photoRequests.last), with: Self.bytes, digest: [UInt8](repeating: 7, count: 32))
    rig.settle()
    #expect(rig.log.values.filter { $0 == "error photoCaptureFailed" }.count == 2)

    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.settle()
    try rig.glasses.answer(#require(rig.glasses.photoRequests.last), with: Self.bytes)
    rig.settle()
    #expect(rig.log.values.last == "photo 50000 bytes jpeg")
    #expect(rig.stream.state == .streaming)
  }

  @Test("No answer for 10 s is a failure, and what comes after is discarded (PHOTO-1)")
  func lateAnswer() throws {
    let rig = try CameraRig()
    rig.stream()
    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.run(pictures: 237)
    #expect(!rig.log.values.contains("error photoCaptureFailed"))
    rig.run(pictures: 4)
    #expect(rig.log.values.last == "error photoCaptureFailed")
    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.settle()
    try rig.glasses.answer(rig.glasses.photoRequests[0], with: [1, 2, 3])
    rig.settle()
    #expect(rig.log.values.last == "error photoCaptureFailed")
    try rig.glasses.answer(rig.glasses.photoRequests[1], with: Self.bytes)
    rig.settle()
    #expect(rig.log.values.last == "photo 50000 bytes jpeg")
  }

  @Test("Progress gives a slow transfer 10 s more each time")
  func slowTransfer() throws {
    let rig = try CameraRig()
    rig.stream()
    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.run(pictures: 9 * 24)
    let request = try #require(rig.glasses.photoRequests.first)
    let facts = PhotoFacts(
      format: .jpeg, size: PixelSize(width: 8, height: 8), orientation: 1,
      captured: DeviceTime(nanoseconds: rig.timekeeper.now.nanoseconds), byteCount: UInt32(Self.bytes.count),
      digest: try sha256(Self.bytes))
    rig.glasses.send(.photoResult(PhotoResult(photo: request.photo, outcome: .taken(facts))))
    rig.run(pictures: 9 * 24)
    #expect(!rig.log.values.contains("error photoCaptureFailed"))
    rig.glasses.connection.send(photo: request.photo, bytes: Self.bytes)
    rig.settle()
    #expect(rig.log.values.last == "photo 50000 bytes jpeg")
  }

  @Test(
    "The end of a stream ends its capture first, with a failure; nothing comes after stopped",
    arguments: [
      "stop", "camera", "session", "link",
    ])
  func endDuringCapture(end: String) throws {
    let rig = try CameraRig()
    rig.stream()
    #expect(rig.stream.capturePhoto(format: .jpeg))
    rig.settle()
    let request = try #require(rig.glasses.photoRequests.first)
    switch end {
    case "stop": rig.stream.stop()
    case "camera": rig.camera.stop()
    case "session": rig.session.stop()
    default: rig.glasses.breakLink()
    }
    try rig.glasses.answer(request, with: Self.bytes)
    rig.timekeeper.advance(by: .seconds(12))
    let events = rig.log.values.filter { !$0.hasPrefix("camera") }
    #expect(events.filter { $0 == "error photoCaptureFailed" }.count == 1)
    #expect(!events.contains("photo 50000 bytes jpeg"))
    #expect(events.last == "stopped")
    let failed = try #require(events.firstIndex(of: "error photoCaptureFailed"))
    #expect(failed < (events.firstIndex(of: "stopping") ?? 0))
  }

  // MARK: Standalone

  @Test("A standalone photo goes from stopped to started to a photo, with size, quality and progress")
  func standalone() throws {
    let rig = try CameraRig()
    let progress = Observed<PhotoTransferProgress>()
    let photos = Observed<PhotoCaptureData>()
    let photo = rig.camera.photo
    photo.transferProgressPublisher.listen { progress.record($0) }.store(in: rig.tokens)
    photo.photoDataPublisher.listen { photos.record($0) }.store(in: rig.tokens)
    photo.start()
    rig.settle()
    photo.capturePhoto(resolution: .full, quality: .low)
    rig.settle()
    let request = try #require(rig.glasses.photoRequests.first)
    #expect(request.size == .full)
    #expect(request.quality == .low)
    let bytes = (0..<400_000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    try rig.glasses.answer(request, with: bytes)
    rig.settle()
    let taken = try #require(photos.values.first)
    #expect([UInt8](taken.imageData) == bytes)
    #expect(abs(taken.timestamp.timeIntervalSince1970 - rig.timekeeper.wallClockSeconds) < 1)
    let fractions = progress.values.map(\.fraction)
    #expect(fractions.count > 1)
    #expect(fractions == fractions.sorted())
    #expect(progress.values.last.map { $0.bytesReceived == 400_000 && $0.totalBytes == 400_000 } == true)
    photo.stop()
    rig.settle()
    #expect(
      rig.log.values == [
        "photo starting", "photo started", "photo taken 400000 bytes", "photo stopping", "photo stopped",
      ])
    photo.start()
    rig.settle()
    #expect(rig.log.values.last == "photo started")
  }

  @Test("A standalone capture that can't be is answered by the error that says why")
  func standaloneErrors() throws {
    let rig = try CameraRig()
    let photo = rig.camera.photo
    photo.capturePhoto()
    rig.settle()
    #expect(rig.log.values.last == "photo error notReady")
    photo.start()
    photo.capturePhoto()
    rig.settle()
    #expect(rig.log.values.suffix(3) == ["photo starting", "photo error notReady", "photo started"])
    photo.capturePhoto()
    photo.capturePhoto()
    rig.settle()
    #expect(rig.log.values.last == "photo error busy")
    rig.glasses.refuse(try #require(rig.glasses.photoRequests.last), .batteryLow)
    rig.settle()
    #expect(rig.log.values.last == "photo error deviceHealthCritical")
    rig.stream()
    photo.capturePhoto()
    rig.settle()
    #expect(rig.log.values.last == "photo error busy")
    #expect(rig.glasses.photoRequests.count == 1)
  }

  @Test("A stop while starting is kept until the start has resolved, and no started comes")
  func stopWhileStarting() throws {
    let rig = try CameraRig()
    rig.camera.photo.start()
    rig.camera.photo.stop()
    rig.settle()
    #expect(rig.log.values == ["photo starting", "photo stopping", "photo stopped"])
  }

  @Test("A denied permission or a missing device keeps photos from starting (PERM-2)")
  func standaloneAvailability() throws {
    let denied = try CameraRig()
    denied.environment.setPermission(.success(.denied))
    denied.camera.photo.start()
    denied.settle()
    #expect(
      denied.log.values == ["photo starting", "photo error permissionDenied", "photo stopping", "photo stopped"])
    denied.environment.setPermission(.success(.granted))
    denied.camera.photo.start()
    denied.settle()
    #expect(denied.log.values.last == "photo started")

    let gone = try CameraRig()
    gone.environment.setDevices { $0 = [] }
    gone.camera.photo.start()
    gone.settle()
    #expect(gone.log.values.contains("photo error sessionSetupFailed"))
  }

  @Test("A lost link ends a standalone capture with captureFailure, and the session's end stops photos")
  func standaloneLinkLoss() throws {
    let rig = try CameraRig()
    rig.camera.photo.start()
    rig.settle()
    rig.camera.photo.capturePhoto()
    rig.settle()
    rig.glasses.breakLink()
    rig.settle()
    #expect(
      rig.log.values.filter { $0.hasPrefix("photo") } == [
        "photo starting", "photo started", "photo error captureFailure", "photo stopping", "photo stopped",
      ])
  }
}
