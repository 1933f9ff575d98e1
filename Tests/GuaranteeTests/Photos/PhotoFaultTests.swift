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

/// Photos while something goes wrong: each accepted capture ends once, with the right bytes or a typed error.
@Suite(.exclusive(.mockKit))
struct PhotoFaultTests {
  @Test(
    "PHOTO-1, PHOTO-2: a request that is never answered fails at its deadline, time and again, and the next one is taken",
    arguments: PhotoRun.Kind.allCases)
  func swallowed(kind: PhotoRun.Kind) async throws {
    try await PhotoRun.with(kind) { run in
      let picture = try PhotoFiles.small.get()
      run.setPicture(picture)
      run.glasses.agent.faults.photo = .swallow
      for _ in 0..<4 {
        let start = run.clock.now
        #expect(try run.captureToItsEnd() == .failure)
        let length = run.clock.now - start
        #expect(length >= .seconds(10) && length <= .milliseconds(10_200))
      }
      try run.expectNextIsTaken(picture)
    }
  }

  @Test(
    "PHOTO-1, PHOTO-2: replies later than the deadline are discarded, and never refuse or spoil a later capture",
    arguments: PhotoRun.Kind.allCases)
  func late(kind: PhotoRun.Kind) async throws {
    try await PhotoRun.with(kind) { run in
      run.setPicture(try PhotoFiles.small.get())
      run.glasses.agent.faults.photo = .delay(.seconds(35))
      for _ in 0..<4 { #expect(try run.captureToItsEnd() == .failure) }
      try run.expectNextIsTaken(try PhotoFiles.other.get())
      let count = run.outcomes.values.count
      #expect(count == 5)
      run.clock.advance(by: .seconds(60))
      #expect(run.outcomes.values.count == count)
    }
  }

  @Test(
    "PHOTO-4: repeated, reordered, delayed and differently cut chunks change no byte of a photo",
    arguments: PhotoRun.Kind.allCases, [64, 1000, 65_535])
  func harmless(kind: PhotoRun.Kind, chunkPayload: Int) async throws {
    try await PhotoRun.with(kind, chunkPayload: chunkPayload) { run in
      let link = run.glasses.link
      for picture in [try PhotoFiles.small.get(), try PhotoFiles.other.get()] {
        link.apply(.duplicate, to: .chunk, .every(2), on: .photo)
        link.apply(.reorder(behind: 2), to: .chunk, .every(3), on: .photo)
        link.apply(.delay(.milliseconds(20)), to: .chunk, .every(5), on: .photo)
        run.setPicture(picture)
        let before = run.outcomes.values.count
        run.capture()
        run.clock.advance(by: .seconds(2))
        // What waits for later chunks, of which there are none, goes on.
        link.clear()
        run.clock.advance(by: .seconds(1))
        #expect(run.outcomes.values.dropFirst(before) == [.photo(try Data(contentsOf: picture))])
      }
    }
  }

  @Test(
    "PHOTO-1, PHOTO-2, PHOTO-4: lost or corrupt chunks give a typed error by the deadline, never wrong bytes",
    arguments: PhotoRun.Kind.allCases, [LinkConditioner.Action.drop, .corrupt])
  func damaged(kind: PhotoRun.Kind, action: LinkConditioner.Action) async throws {
    try await PhotoRun.with(kind) { run in
      let picture = try PhotoFiles.small.get()
      run.setPicture(picture)
      for chunk in [0, 3, 7] {
        run.glasses.link.apply(action, to: .chunk, .next(chunk), on: .photo)
        #expect(try run.captureToItsEnd() == .failure, "chunk \(chunk)")
        try run.expectNextIsTaken(picture)
      }
    }
  }

  @Test("PHOTO-1: a photo that comes slowly is waited for as long as it moves, also behind one that lost a chunk")
  func slow() async throws {
    try await PhotoRun.with(.standalone) { run in
      let picture = try PhotoFiles.other.get()
      run.setPicture(picture)
      run.glasses.link.apply(.drop, to: .chunk, .next(2), on: .photo)
      #expect(try run.captureToItsEnd() == .failure)
      let bytes = try Data(contentsOf: picture)
      // For 25 s.
      run.glasses.link.limit(.bitsPerSecond(Int64(bytes.count) * 8 / 25))
      let start = run.clock.now
      #expect(try run.captureToItsEnd(within: .seconds(60)) == .photo(bytes))
      #expect(run.clock.now - start > .seconds(15))
    }
  }

  @Test("PHOTO-1: a link that breaks in the middle of a photo ends it once", arguments: PhotoRun.Kind.allCases)
  func linkCut(kind: PhotoRun.Kind) async throws {
    try await PhotoRun.with(kind) { run in
      run.setPicture(try PhotoFiles.other.get())
      run.glasses.link.apply(.delay(.seconds(2)), to: .chunk, .every(2), on: .photo)
      run.capture()
      run.clock.advance(by: .seconds(1))
      #expect(run.outcomes.values.isEmpty)
      run.glasses.link.cut()
      run.clock.advance(by: .seconds(30))
      #expect(run.outcomes.values == [.failure])
    }
  }

  @Test(
    "PHOTO-1, PHOTO-2: a stop in the middle of a photo ends it once, before the stop is told, and the next is taken",
    arguments: PhotoRun.Kind.allCases)
  func stopped(kind: PhotoRun.Kind) async throws {
    try await PhotoRun.with(kind) { run in
      let picture = try PhotoFiles.other.get()
      run.setPicture(picture)
      run.glasses.link.apply(.delay(.seconds(2)), to: .chunk, .every(2), on: .photo)
      run.capture()
      run.clock.advance(by: .seconds(1))
      run.stop()
      run.clock.advance(by: .seconds(30))
      #expect(run.outcomes.values == [.failure])
      try await run.start()
      try run.expectNextIsTaken(picture)
    }
  }

  @Test(
    "PHOTO-1, PHOTO-2: a pause in the middle of a photo leaves it one end, and the next is taken after it",
    arguments: PhotoRun.Kind.allCases)
  func paused(kind: PhotoRun.Kind) async throws {
    try await PhotoRun.with(kind) { run in
      let picture = try PhotoFiles.other.get()
      run.setPicture(picture)
      run.glasses.link.apply(.delay(.milliseconds(500)), to: .chunk, .every(2), on: .photo)
      run.capture()
      run.clock.advance(by: .milliseconds(100))
      run.glasses.services.captouch.tap()
      run.clock.advance(by: .seconds(15))
      #expect(run.outcomes.values == [.photo(try Data(contentsOf: picture))])
      run.glasses.services.captouch.tap()
      run.clock.advance(by: .seconds(1))
      try run.expectNextIsTaken(picture)
    }
  }

  @Test(
    "PHOTO-1, PHOTO-2: of a hundred captures with faults at random each ends once, and every whole one has its bytes",
    arguments: PhotoRun.Kind.allCases)
  func hundred(kind: PhotoRun.Kind) async throws {
    let seed: UInt64 = 51
    try await PhotoRun.with(kind, seed: seed) { run in
      var random = SeededGenerator(seed: seed)
      let pictures = [try PhotoFiles.small.get(), try PhotoFiles.other.get()]
      let contents = try pictures.map { try Data(contentsOf: $0) }
      var taken = 0
      for number in 0..<100 {
        run.glasses.link.clear()
        run.glasses.agent.faults.photo = nil
        run.setPicture(pictures[number % 2])
        var isHarmless = false
        switch Int.random(in: 0..<8, using: &random) {
        case 0: run.glasses.agent.faults.photo = .swallow
        case 1: run.glasses.agent.faults.photo = .failure(.photoFailed)
        case 2: run.glasses.agent.faults.photo = .delay(.seconds(Int.random(in: 11...40, using: &random)))
        case 3: run.glasses.link.apply(.drop, to: .chunk, .next(Int.random(in: 0..<8, using: &random)), on: .photo)
        case 4: run.glasses.link.apply(.corrupt, to: .chunk, .next(Int.random(in: 0..<8, using: &random)), on: .photo)
        case 5: run.setPicture(URL(fileURLWithPath: "/nowhere/photo.jpg"))
        default: isHarmless = true
        }
        let outcome = try run.captureToItsEnd()
        // A chunk of a photo before this one, which its sender still has, may have taken the fault.
        if outcome.isPhoto { #expect(outcome == .photo(contents[number % 2])) }
        if isHarmless { #expect(outcome.isPhoto, "capture \(number), seed \(seed)") }
        taken += outcome.isPhoto ? 1 : 0
      }
      #expect(run.outcomes.values.count == 100)
      #expect((10...60).contains(taken))
    }
  }

  @Test("PHOTO-4: format, size and orientation of a photo are stated", arguments: PhotoRun.Kind.allCases)
  func details(kind: PhotoRun.Kind) async throws {
    try await PhotoRun.with(kind) { run in
      run.setPicture(try PhotoFiles.small.get())
      try run.captureToItsEnd()
      run.setPicture(try PhotoFiles.turned.get())
      try run.captureToItsEnd()
      let details = run.details.values.compactMap { $0 }
      #expect(details.map(\.format) == [.jpeg, .jpeg])
      #expect(details.map(\.width) == [320, 320] && details.map(\.height) == [240, 240])
      #expect(details.map(\.orientation) == [1, 6])
    }
  }

  @Test("PHOTO-4: a HEIC of the camera's picture states itself as such")
  func heic() async throws {
    try await PhotoRun.with(.inStream) { run in
      #expect(run.camera.stream.capturePhoto(format: .heic))
      run.clock.advance(by: .seconds(2))
      let details = try #require(run.details.values.first ?? nil)
      #expect(details.format == .heic)
      #expect(details.width == 1080 && details.height == 1920 && details.orientation == 1)
    }
  }

  @Test(
    "PHOTO-3: a capture while streaming makes no gap of over two frame intervals in the video",
    arguments: [true, false])
  func videoGoesOn(encodesLive: Bool) async throws {
    try await withGlassesByHand(encodesLive: encodesLive) { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let configuration = StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 24)
      let watched = try await startedStream(in: session, configuration, clock)
      for format in [PhotoCaptureFormat.jpeg, .heic, .jpeg] {
        clock.advance(by: .milliseconds(510))
        #expect(watched.stream.capturePhoto(format: format))
      }
      clock.advance(by: .seconds(1))
      #expect(watched.photos.values.count == 3)
      let stamps = watched.frames.values.map { CMTimeGetSeconds($0.presentation) }
      let longest = zip(stamps, stamps.dropFirst()).map { $1 - $0 }.max() ?? .infinity
      #expect(longest <= 2.0 / 24 + 0.001)
      #expect(stamps.count >= 24 * 2)
    }
  }
}
