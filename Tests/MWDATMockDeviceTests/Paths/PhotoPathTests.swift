import Foundation
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

@Suite("Photos with simulated glasses", .exclusive(.mockKit))
struct PhotoPathTests {
  private func jpeg() throws -> URL {
    let path = try MediaFactory.newPath("jpg")
    try CommandLineTool.run(
      "ffmpeg",
      ["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=s=320x240", "-frames:v", "1", path])
    return URL(fileURLWithPath: path)
  }

  private func isJPEG(_ data: Data) -> Bool { data.starts(with: [0xFF, 0xD8, 0xFF]) }
  private func isHEIC(_ data: Data) -> Bool { data.count > 12 && data[8..<12].elementsEqual("heic".utf8) }

  @Test("a photo while streaming comes in the format asked for, and the stream goes on (PHOTO-1, PHOTO-3)")
  func whileStreaming() throws {
    let world = try CameraWorld()
    world.start()
    #expect(world.stream.capturePhoto(format: .jpeg))
    #expect(!world.stream.capturePhoto(format: .jpeg), "a second one while the first is in flight is refused")
    world.time.advance(by: .seconds(1))
    #expect(world.photos.values.map(\.format) == [.jpeg])
    #expect(isJPEG(try #require(world.photos.values.first).data))
    #expect(world.stream.capturePhoto(format: .heic))
    world.time.advance(by: .seconds(1))
    #expect(world.photos.values.map(\.format) == [.jpeg, .heic])
    #expect(isHEIC(try #require(world.photos.values.last).data))
    #expect(world.states.values.last == .streaming)
    #expect(world.errors.values.isEmpty)
    let gaps = zip(world.stamps.dropFirst(), world.stamps).map { $0 - $1 }
    #expect(gaps.allSatisfy { $0 <= 134_000_000 })
    world.end()
  }

  @Test("a set image in the format asked for is delivered byte for byte (PHOTO-4)")
  func setImage() throws {
    let world = try CameraWorld()
    let url = try jpeg()
    world.glasses.services.camera.setCapturedImage(fileURL: url)
    world.start()
    #expect(world.stream.capturePhoto(format: .jpeg))
    world.time.advance(by: .seconds(1))
    let photo = try #require(world.photos.values.first)
    #expect(photo.data == (try Data(contentsOf: url)))
    world.end()
  }

  @Test("an image that can't be read fails the photo, not the stream; the next one is taken (PHOTO-2)")
  func unreadable() throws {
    let world = try CameraWorld()
    world.glasses.services.camera.setCapturedImage(fileURL: URL(fileURLWithPath: "/nonexistent.jpg"))
    world.start()
    #expect(world.stream.capturePhoto(format: .jpeg))
    world.time.advance(by: .seconds(1))
    #expect(world.errors.values == [.photoCaptureFailed])
    #expect(world.stream.state == .streaming)
    world.glasses.services.camera.setCapturedImage(fileURL: try jpeg())
    #expect(world.stream.capturePhoto(format: .jpeg))
    world.time.advance(by: .seconds(1))
    #expect(world.photos.values.count == 1)
    world.end()
  }

  @Test("without a running stream a capture is refused")
  func noStream() throws {
    let world = try CameraWorld()
    #expect(!world.stream.capturePhoto(format: .jpeg))
    world.end()
  }

  @Test("a photo of its own comes with progress; a failure that was ordered comes once")
  func standalone() throws {
    let world = try CameraWorld()
    let url = try jpeg()
    let tokens = ListenerTokenBag()
    let states = Observed<PhotoState>()
    let photos = Observed<PhotoCaptureData>()
    let failures = Observed<String>()
    let progress = Observed<Double>()
    let photo = world.camera.photo
    photo.statePublisher.listen { states.record($0) }.store(in: tokens)
    photo.photoDataPublisher.listen { photos.record($0) }.store(in: tokens)
    photo.errorPublisher.listen { failures.record("\($0)") }.store(in: tokens)
    photo.transferProgressPublisher.listen { progress.record($0.fraction) }.store(in: tokens)
    photo.capturePhoto()
    photo.start()
    world.time.advance(by: .seconds(1))
    #expect(states.values == [.starting, .started])
    #expect(failures.values == ["notReady"])

    photo.capturePhoto(resolution: .small, quality: .high)
    world.time.advance(by: .seconds(1))
    #expect(isJPEG(try #require(photos.values.first).imageData))
    #expect(progress.values.last == 1)

    world.glasses.services.cameraCapture.setCapturedPhoto(fileURL: url)
    world.glasses.services.cameraCapture.simulateCaptureFailure()
    photo.capturePhoto()
    world.time.advance(by: .seconds(1))
    #expect(photos.values.count == 1)
    #expect(failures.values.count == 2)
    photo.capturePhoto()
    world.time.advance(by: .seconds(1))
    #expect(photos.values.last?.imageData == (try Data(contentsOf: url)))
    photo.stop()
    world.time.advance(by: .seconds(1))
    #expect(states.values.last == .stopped)
    tokens.clear()
    world.end()
  }
}
