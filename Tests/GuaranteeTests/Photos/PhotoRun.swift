import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// Photos by hand: in a stream, or apart from one.
struct PhotoRun {
  enum Kind: CaseIterable { case inStream, standalone }

  /// What an accepted capture came to.
  enum Outcome: Equatable, Sendable {
    case photo(Data)
    case failure

    var isPhoto: Bool { self != .failure }
  }

  let kind: Kind
  let glasses: SimulatedGlasses
  let clock: ManualTimekeeper
  let session: DeviceSession
  let camera: Camera
  let outcomes = Observed<Outcome>()
  let details = Observed<PhotoDetails?>()
  let states = Observed<StreamState>()
  private let tokens = ListenerTokenBag()

  static func with(
    _ kind: Kind, chunkPayload: Int = 512, seed: UInt64 = 1, _ body: (PhotoRun) async throws -> Void
  ) async throws {
    var limits = LinkLimits()
    limits.chunkPayload = chunkPayload
    try await withGlassesByHand(limits: limits, seed: seed) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 7)
      let camera = try #require(try session.addCamera(config: configuration))
      let run = PhotoRun(kind: kind, glasses: glasses, clock: clock, session: session, camera: camera)
      run.listen()
      try await run.start()
      try await body(run)
    }
  }

  private func listen() {
    let (outcomes, details, states) = (outcomes, details, states)
    camera.stream.photoDataPublisher.listen {
      details.record($0.details)
      outcomes.record(.photo($0.data))
    }.store(in: tokens)
    camera.photo.photoDataPublisher.listen {
      details.record($0.details)
      outcomes.record(.photo($0.imageData))
    }.store(in: tokens)
    camera.stream.errorPublisher.listen { if $0 == .photoCaptureFailed { outcomes.record(.failure) } }.store(in: tokens)
    camera.photo.errorPublisher.listen {
      switch $0 {
      // What an accepted capture ends with.
      case .captureFailure, .serviceUnavailable, .permissionDenied, .deviceHealthCritical, .deviceDisconnected:
        outcomes.record(.failure)
      case .busy, .notReady, .sessionSetupFailed: Issue.record("\($0)")
      }
    }.store(in: tokens)
    camera.stream.statePublisher.listen { states.record($0) }.store(in: tokens)
  }

  /// The permission is asked for in a task, which runs when it likes.
  func start() async throws {
    switch kind {
    case .inStream:
      camera.stream.start()
      for _ in 0..<10_000 where camera.stream.state != .streaming {
        clock.advance(by: .microseconds(200))
        await Task.yield()
      }
      try #require(camera.stream.state == .streaming)
    case .standalone:
      let states = Observed<PhotoState>()
      let token = camera.photo.statePublisher.listen { states.record($0) }
      camera.photo.start()
      for _ in 0..<10_000 where states.values.last != .started {
        clock.advance(by: .microseconds(200))
        await Task.yield()
      }
      try #require(states.values.last == .started)
      withExtendedLifetime(token) {}
    }
    clock.advance(by: .milliseconds(300))
  }

  func stop() {
    switch kind {
    case .inStream: camera.stream.stop()
    case .standalone: camera.photo.stop()
    }
  }

  /// What photos are from now on, byte for byte.
  func setPicture(_ url: URL) {
    switch kind {
    case .inStream: glasses.services.camera.setCapturedImage(fileURL: url)
    case .standalone: glasses.services.cameraCapture.setCapturedPhoto(fileURL: url)
    }
  }

  /// Asks for a photo; it must be accepted.
  func capture() {
    switch kind {
    case .inStream: #expect(camera.stream.capturePhoto(format: .jpeg), "a capture was refused")
    case .standalone: camera.photo.capturePhoto()
    }
  }

  /// Asks for a photo and gives it time to end; it must end once.
  @discardableResult
  func captureToItsEnd(within limit: Duration = .seconds(11)) throws -> Outcome {
    let before = outcomes.values.count
    capture()
    let deadline = clock.now + limit
    while clock.now < deadline, outcomes.values.count == before { clock.advance(by: .milliseconds(100)) }
    #expect(outcomes.values.count == before + 1)
    return try #require(outcomes.values.last)
  }

  /// The next photo is whole: no fault leaves anything behind.
  func expectNextIsTaken(_ picture: URL) throws {
    glasses.link.clear()
    glasses.agent.faults.photo = nil
    setPicture(picture)
    #expect(try captureToItsEnd(within: .seconds(2)) == .photo(try Data(contentsOf: picture)))
  }
}

/// Pictures that tests tell apart by their bytes, made once.
enum PhotoFiles {
  static let small = Result { try make("testsrc2=size=320x240") }
  static let other = Result { try make("testsrc2=size=480x360") }
  /// Stored on its side: Exif orientation 6.
  static let turned = Result { () throws -> URL in
    let upright = Array(try Data(contentsOf: small.get()))
    // An Exif segment (CIPA DC-008) with that one tag, behind the start of image.
    let tiff: [UInt8] = [0x4D, 0x4D, 0, 0x2A, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0]
    let body = Array("Exif".utf8) + [0, 0] + tiff
    let length = UInt16(body.count + 2)
    let segment: [UInt8] = [0xFF, 0xE1, UInt8(length >> 8), UInt8(length & 0xFF)] + body
    let url = URL(fileURLWithPath: try MediaFactory.newPath("jpg"))
    try Data(upright.prefix(2) + segment + upright.dropFirst(2)).write(to: url)
    return url
  }

  private static func make(_ source: String) throws -> URL {
    let url = URL(fileURLWithPath: try MediaFactory.newPath("jpg"))
    try CommandLineTool.run(
      "ffmpeg", ["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", source, "-frames:v", "1", url.path])
    return url
  }
}
