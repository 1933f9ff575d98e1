import Foundation
import LinkProtocol
import MediaEngine
import PortableMedia
import Synchronization
import TestSupport
import Testing
import Units

@testable import GlassesAgent

/// MOCK-1
@Suite("File source")
struct FileSourceTests {
  /// Of a picture's middle.
  private func luma(_ picture: CVPixelBuffer) throws -> Int {
    let plane = try #require(picture.plane(0))
    let line = plane.base.assumingMemoryBound(to: UInt8.self) + plane.height / 2 * plane.bytesPerRow
    return Int(line[plane.width / 2])
  }

  @Test(
    "gives the picture that is due, round after round, with times that rise",
    arguments: [(MediaFactory.Kind.h264, 25), (.hevc, 25), (.bFrames, 50), (.hevcBFrames, 50), (.transportStream, 25)])
  func plays(kind: MediaFactory.Kind, count: Int) throws {
    let source = try FileSource(path: try MediaFactory.path(kind))
    #expect(source.nativeSize == PixelSize(width: 160, height: 120))
    #expect(abs(source.frameRate - 25) < 0.01)
    for index in 0..<(2 * count + 10) {
      // In the middle of its time, so that a stamp rounded by the container does not matter.
      let picture = try source.picture(at: .milliseconds(40 * index + 20))
      #expect(picture.index == Int64(index))
      #expect(abs((picture.time - .milliseconds(40 * index)).milliseconds) <= 2)
      #expect(abs(try luma(picture.buffer) - MediaFactory.luma(ofPicture: index % count)) <= 2, "picture \(index)")
      let round: Duration = .milliseconds(40 * count) * (index / count)
      #expect(abs((picture.roundBegan - round).milliseconds) <= 2)
    }
  }

  @Test("says when the next picture is due, also where they are unevenly spaced")
  func nextTimes() throws {
    let source = try FileSource(path: try MediaFactory.path(.variableRate))
    // 0, 1, 4, 5, 8, 9, … in units of 40 ms.
    for (asked, expected) in [(0, 0), (1, 40), (40, 40), (41, 160), (161, 200), (201, 320), (700, 800)] {
      let time = try source.nextPictureTime(from: .milliseconds(asked))
      #expect(abs((time - .milliseconds(expected)).milliseconds) <= 1, "from \(asked) ms: \(time)")
      #expect(try source.picture(at: time).time == time)
    }
  }

  @Test("pictures skipped are not lost from the count, and a photo is the picture given last")
  func skips() throws {
    let source = try FileSource(path: try MediaFactory.path(.sixtyFrames))
    let picture = try source.picture(at: .milliseconds(505))
    #expect(picture.index == 30)
    _ = try source.nextPictureTime(from: .milliseconds(900))
    #expect(abs(try luma(try source.still()) - MediaFactory.luma(ofPicture: 30)) <= 2)
  }

  @Test(
    "pictures come upright and with square pixels",
    arguments: [
      (MediaFactory.Kind.rotated90, 120, 160), (.rotated180, 160, 120), (.rotated270, 120, 160),
      (.widePixels, 320, 120),
    ])
  func upright(kind: MediaFactory.Kind, width: Int, height: Int) throws {
    let source = try FileSource(path: try MediaFactory.path(kind))
    #expect(source.nativeSize == PixelSize(width: width, height: height))
    let picture = try source.picture(at: .zero)
    #expect(picture.buffer.pixelWidth == width && picture.buffer.pixelHeight == height)
  }

  @Test(
    "what can't be played is an error with the file's name and what is wrong with it",
    arguments: [
      (MediaFactory.Kind.audioOnly, MediaError.Cause.noVideoTrack), (.empty, .emptyFile),
      (.truncated, .truncatedFile), (.textNamedMP4, .notMedia),
    ])
  func wrongFiles(kind: MediaFactory.Kind, cause: MediaError.Cause) throws {
    let path = try MediaFactory.path(kind)
    let rig = PipelineRig { (size, rate) throws(SourceError) in
      try FeedDescription.file(path: path).makeSource(size: size, frameRate: rate)
    }
    rig.pipeline.start()
    rig.clock.settle()
    guard case .source(.file(let error)) = rig.failures.first else {
      Issue.record("\(rig.failures)")
      return
    }
    #expect(error.cause == cause)
    #expect(rig.failures.map(\.text).allSatisfy { $0.hasPrefix(path) })
    #expect(rig.units.isEmpty)
  }

  @Test("a file that is not there is named")
  func missingFile() {
    #expect { try FileSource(path: "/nowhere/film.mp4") } throws: { error in
      guard case .file(let media) = error as? SourceError else { return false }
      return media.cause == .fileNotFound && media.path == "/nowhere/film.mp4"
    }
  }

  @Test(
    "streams any file at its own rate or the requested one, scaled and padded to the size asked for",
    arguments: [
      (MediaFactory.Kind.h264, 25.0), (.hevc, 25), (.longGOP, 25), (.bFrames, 25), (.rotated90, 25), (.oddSize, 25),
      (.sixtyFrames, 30), (.variableRate, 20 / 1.52), (.withAudio, 25), (.vp9, 25), (.truncatedTail, 25),
    ])
  func streams(kind: MediaFactory.Kind, rate: Double) throws {
    let path = try MediaFactory.path(kind)
    let size = PixelSize(width: 144, height: 256)
    let rig = PipelineRig(size: size, frameRate: 30) { (size, rate) throws(SourceError) in
      try FeedDescription.file(path: path).makeSource(size: size, frameRate: rate)
    }
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(6))
    #expect(rig.failures.isEmpty)
    #expect(abs(Double(rig.units.count) - 6 * rate) <= max(6 * rate * 0.03, 1), "\(rig.units.count)")
    let decoder = try VideoDecoder(codec: .hevc)
    for unit in rig.units {
      let picture = try #require(try unit.payload.withUnsafeBytes { try decoder.decode($0, output: .planar) })
      #expect(picture.pixelWidth == size.width && picture.pixelHeight == size.height)
    }
  }

  @Test(
    "streams real recordings",
    .enabled(if: SharedMedia.folder != nil, SharedMedia.whySkipped),
    arguments: [("bigbuckbunny.mp4", 24.0), ("bikes.mp4", 24), ("carphone_pristine.mp4", 24)])
  func realRecordings(name: String, rate: Double) throws {
    let path = try #require(SharedMedia.folder).appendingPathComponent(name).path
    let rig = PipelineRig(size: PixelSize(width: 360, height: 640), frameRate: 24) { (size, rate) throws(SourceError) in
      try FeedDescription.file(path: path).makeSource(size: size, frameRate: rate)
    }
    rig.pipeline.start()
    // Beyond the end of the shorter ones, so that they begin again.
    rig.clock.advance(by: .seconds(8))
    #expect(rig.failures.isEmpty)
    #expect(abs(Double(rig.units.count) - 8 * rate) <= 8 * rate * 0.03)
    let gaps = zip(rig.stamps, rig.stamps.dropFirst()).map { $1 - $0 }
    #expect(gaps.allSatisfy { $0 > 0 && $0 <= 2 / rate })
  }

  @Test("a wide picture in a tall stream keeps its shape between black bars")
  func pads() throws {
    let path = try MediaFactory.path(.h264)
    let size = PixelSize(width: 144, height: 256)
    let rig = PipelineRig(size: size, frameRate: 30) { (size, rate) throws(SourceError) in
      try FeedDescription.file(path: path).makeSource(size: size, frameRate: rate)
    }
    rig.pipeline.start()
    rig.clock.advance(by: .milliseconds(810))
    let decoder = try VideoDecoder(codec: .hevc)
    var last: CVPixelBuffer?
    for unit in rig.units { last = try unit.payload.withUnsafeBytes { try decoder.decode($0, output: .planar) } }
    let picture = try #require(last)
    let plane = try #require(picture.plane(0))
    func luma(row: Int) -> Int {
      Int((plane.base + row * plane.bytesPerRow).assumingMemoryBound(to: UInt8.self)[size.width / 2])
    }
    // 160x120 becomes 144x108, from row 74 to row 181.
    for row in [0, 40, 70, 185, 220, 255] { #expect(abs(luma(row: row) - 16) <= 6, "row \(row)") }
    for row in [80, 128, 175] { #expect(abs(luma(row: row) - MediaFactory.luma(ofPicture: 20)) <= 6, "row \(row)") }
  }

  @Test("replayed for simulated time, a file's round goes on for as long as it is asked to")
  func replays() throws {
    let path = try MediaFactory.path(.h264)
    let opened = Mutex(0)
    let rig = PipelineRig(size: PixelSize(width: 144, height: 256), frameRate: 30, replays: true) {
      (size, rate) throws(SourceError) in
      opened.withLock { $0 += 1 }
      return try FeedDescription.file(path: path).makeSource(size: size, frameRate: rate)
    }
    rig.pipeline.start()
    rig.clock.advance(by: .seconds(120))
    #expect(opened.withLock { $0 } == 1)
    #expect(rig.units.count == 120 * 25 + 1)
    #expect(rig.units[0].payload == rig.units[25].payload)
  }
}
