import Foundation
import LinkProtocol
import LinkTransport
import MediaEngine
import TestSupport
import Testing
import Units

@testable import GlassesAgent

@Suite("Photos of a pair of glasses")
struct AgentPhotoTests {
  private let time = ManualTimekeeper()
  private let agent: GlassesAgent
  private let probe: AppProbe
  private let session = SessionID(1)
  private let stream = StreamID(5)

  init() {
    agent = GlassesAgent(
      identity: GlassesIdentity(identifier: "g-1", name: "Test glasses", model: "Model", softwareVersion: "9"),
      timekeeper: time, permissions: ListedPermissions(["app"]),
      configuration: GlassesAgent.Configuration(
        foldEffect: .endsSession, nonces: .seeded(SeededGenerator(seed: 3)), replaysCachedUnits: true))
    agent.hardware.powerOn()
    agent.hardware.don()
    probe = AppProbe(agent, timekeeper: time)
    time.settle()
    probe.send(.sessionOpen(SessionOpen(session: session)))
    time.settle()
  }

  private func startStream() {
    let video = VideoParameters(codec: .hevc, size: PixelSize(width: 360, height: 640), frameRate: 15)
    probe.send(.streamStart(StreamStart(stream: stream, session: session, video: video)))
    time.advance(by: .seconds(1))
  }

  private func ask(
    _ id: UInt32, _ format: PhotoFormat = .jpeg, _ size: PhotoSize = .source, wait: Bool = true
  ) {
    probe.send(
      .photoRequest(PhotoRequest(photo: PhotoID(id), session: session, format: format, size: size)))
    if wait { time.advance(by: .seconds(1)) }
  }

  private func facts(_ id: UInt32) -> PhotoFacts? {
    for result in probe.photoResults where result.photo == PhotoID(id) {
      if case .taken(let facts) = result.outcome { return facts }
    }
    return nil
  }

  private func failure(_ id: UInt32) -> (LinkErrorCode, String)? {
    for result in probe.photoResults where result.photo == PhotoID(id) {
      if case .failed(let code) = result.outcome { return (code, result.text) }
    }
    return nil
  }

  private func file(_ name: String, _ arguments: [String]) throws -> (path: String, bytes: [UInt8]) {
    let path = try MediaFactory.newPath(name)
    try CommandLineTool.run(
      "ffmpeg",
      ["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=s=320x240", "-frames:v", "1"] + arguments
        + [path])
    return (path, [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))))
  }

  @Test("a photo within a stream is the source's picture at its full size, with digest and capture time")
  func fullSize() throws {
    startStream()
    ask(1)
    let facts = try #require(self.facts(1))
    let bytes = try #require(probe.photos[PhotoID(1)])
    #expect(facts.format == .jpeg)
    #expect(min(facts.size.width, facts.size.height) > 640)
    #expect(Int(facts.byteCount) == bytes.count)
    #expect(facts.digest == (try sha256(bytes)))
    #expect(StillDecoder.format(of: bytes) == .jpeg)
    #expect(facts.captured.nanoseconds <= time.now.nanoseconds)
    #expect(facts.captured.nanoseconds > time.now.nanoseconds - 1_200_000_000)
  }

  @Test("a photo needs no stream")
  func withoutStream() throws {
    ask(1)
    #expect(facts(1) != nil)
    #expect(probe.photos[PhotoID(1)] != nil)
  }

  @Test("HEIC is HEIC")
  func heic() throws {
    ask(1, .heic, .small480)
    let facts = try #require(self.facts(1))
    #expect(facts.format == .heic)
    #expect(min(facts.size.width, facts.size.height) == 480)
    #expect(StillDecoder.format(of: try #require(probe.photos[PhotoID(1)])) == .heic)
  }

  @Test("a photo pauses the video by no more than two frame intervals (PHOTO-3)")
  func videoGoesOn() {
    startStream()
    let before = probe.units.count
    ask(1, .jpeg, wait: false)
    ask(2, .heic, .small480)
    let stamps = probe.units.dropFirst(before - 1).map(\.presentation)
    #expect(stamps.count > 10)
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $1 - $0 <= .milliseconds(134) })
    #expect(probe.photos.count == 2)
  }

  @Test("a set picture in the format asked for arrives byte for byte (PHOTO-4)")
  func unchanged() throws {
    let jpeg = try file("jpg", [])
    agent.camera.setImage(path: jpeg.path)
    ask(1)
    #expect(probe.photos[PhotoID(1)] == jpeg.bytes)
    let facts = try #require(self.facts(1))
    #expect(facts.digest == (try sha256(jpeg.bytes)))
    #expect(facts.size == PixelSize(width: 320, height: 240))
    #expect(facts.orientation == 1)
  }

  @Test("a set picture in another format is made anew, at its own size")
  func converted() throws {
    let png = try file("png", [])
    agent.camera.setImage(path: png.path)
    ask(1, .jpeg)
    ask(2, .heic)
    for (id, kind) in [(1, StillFormat.jpeg), (2, .heic)] as [(UInt32, StillFormat)] {
      #expect(facts(id)?.size == PixelSize(width: 320, height: 240))
      #expect(StillDecoder.format(of: try #require(probe.photos[PhotoID(id)])) == kind)
    }
  }

  @Test("a captured photo's file is delivered byte for byte, whatever size is asked for; not within a stream")
  func captured() throws {
    let jpeg = try file("jpg", [])
    agent.camera.setCapturedPhoto(path: jpeg.path)
    ask(1, .jpeg, .small480)
    #expect(probe.photos[PhotoID(1)] == jpeg.bytes)
    ask(2, .jpeg, .source)
    #expect(probe.photos[PhotoID(2)] != jpeg.bytes)
  }

  @Test("a failure that was ordered comes once, and only to a photo of its own (PHOTO-2)")
  func ordered() {
    agent.camera.failNextCapture()
    ask(1, .jpeg, .source)
    #expect(facts(1) != nil)
    ask(2, .jpeg, .small480)
    #expect(failure(2)?.0 == .photoFailed)
    ask(3, .jpeg, .small480)
    #expect(facts(3) != nil)
  }

  @Test("a picture that can't be read fails the photo, by name and reason, and not the stream")
  func unreadable() throws {
    startStream()
    agent.camera.setImage(path: "/nonexistent.jpg")
    ask(1)
    #expect(failure(1)?.0 == .photoFailed)
    #expect(failure(1)?.1.contains("/nonexistent.jpg") == true)
    let text = try MediaFactory.newPath("jpg")
    try Data("no picture".utf8).write(to: URL(fileURLWithPath: text))
    agent.camera.setImage(path: text)
    ask(2)
    #expect(failure(2)?.1.contains(text) == true)
    let cut = try file("jpg", [])
    try Data(cut.bytes.prefix(200)).write(to: URL(fileURLWithPath: cut.path))
    agent.camera.setImage(path: cut.path)
    ask(3, .heic)
    #expect(failure(3)?.1.contains(cut.path) == true)
    let before = probe.units.count
    time.advance(by: .seconds(1))
    #expect(probe.units.count > before)
    agent.camera.setImage(path: nil)
    ask(4)
    #expect(facts(4) != nil)
  }

  @Test("a session that ends while a photo is taken gets no answer any more")
  func sessionEnds() {
    ask(1, wait: false)
    time.settle()
    let answered = probe.photoResults.count
    ask(2, wait: false)
    probe.send(.sessionClose(SessionClose(session: session)))
    time.advance(by: .seconds(5))
    #expect(probe.photoResults.count <= answered + 1)
    guard case .sessionClosed = probe.messages.last else {
      Issue.record("something came after the session's end: \(probe.messages.suffix(3))")
      return
    }
  }

  @Test(
    "sizes by their shorter side keep the shape and never enlarge",
    arguments: [
      (PhotoSize.small480, 3024, 4032, 480, 640), (.medium720, 1920, 1080, 1280, 720),
      (.large1080, 1080, 1920, 1080, 1920), (.small480, 320, 240, 320, 240), (.full, 1081, 777, 1081, 777),
      (.small480, 1000, 17, 1000, 17),
    ] as [(PhotoSize, Int, Int, Int, Int)])
  func sizing(size: PhotoSize, width: Int, height: Int, fittedWidth: Int, fittedHeight: Int) {
    let fitted = size.fitted(to: PixelSize(width: width, height: height))
    #expect(fitted == PixelSize(width: fittedWidth, height: fittedHeight))
  }
}

@Suite("The orientation of photos made anew")
struct PhotoOrientationTests {
  @Test("is found in any file that begins as a JPEG file does, however damaged the rest is")
  func statedInDamaged() throws {
    let plain = try JPEGEncoder.encode(
      try PatternSource(size: PixelSize(width: 64, height: 64), frameRate: 15).picture(at: .zero).buffer)
    for damaged in DecoderVerifier.damaged(plain, limit: 500) {
      let stated = JPEGOrientation.stating(.right, in: damaged)
      guard damaged.count >= 2 else {
        #expect(stated == damaged)
        continue
      }
      #expect(stated.count == damaged.count + 36 && stated.prefix(2) == damaged.prefix(2))
      // Any other marker at the beginning is no JPEG file.
      guard let still = try? StillDecoder.decode(stated) else { continue }
      #expect(still.orientation == .right)
    }
  }

  @Test("is written into a JPEG file as another reader finds it", arguments: StillOrientation.allCases)
  func stated(orientation: StillOrientation) throws {
    let picture = try FeedDescription.pattern.makeSource(size: PixelSize(width: 360, height: 640), frameRate: 15)
      .still()
    let plain = try JPEGEncoder.encode(picture)
    let stated = JPEGOrientation.stating(orientation, in: plain)
    #expect(try StillDecoder.decode(stated).orientation == orientation)
    #expect(stated.suffix(plain.count - 2) == plain.suffix(plain.count - 2))
    if orientation == .up { #expect(stated == plain) }
    let path = try MediaFactory.newPath("jpg")
    try Data(stated).write(to: URL(fileURLWithPath: path))
    #expect(try MediaInspector.complaints(path).isEmpty)
  }
}
