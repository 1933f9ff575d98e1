import Foundation
@testable import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@Suite struct VideoFileReaderTests {
  @Test(
    "pictures come in order of presentation, each once",
    arguments: [
      (MediaFactory.Kind.h264, 25), (.hevc, 25), (.bFrames, 50), (.hevcBFrames, 50), (.sixtyFrames, 60), (.vp9, 25),
      (.transportStream, 25),
    ])
  func order(_ kind: MediaFactory.Kind, _ count: Int) throws {
    let pictures = try read(kind, loops: false, atMost: 1000)
    #expect(pictures.count == count)
    for (number, picture) in pictures.enumerated() {
      #expect(picture.index == number)
      #expect(abs(luma(picture.picture) - MediaFactory.luma(ofPicture: number)) <= 2, "picture \(number)")
    }
  }

  @Test(
    "a loop begins anew one duration after the last picture, with rising stamps",
    arguments: [MediaFactory.Kind.h264, .bFrames, .hevcBFrames, .vp9, .transportStream])
  func loops(_ kind: MediaFactory.Kind) throws {
    let once = try read(kind, loops: false, atMost: 1000)
    let pictures = try read(kind, loops: true, atMost: once.count * 3)
    #expect(pictures.count == once.count * 3)
    let length = try #require(once.last).stamp + .milliseconds(40)
    for (number, picture) in pictures.enumerated() {
      let round = number / once.count
      #expect(picture.loop == round)
      #expect(abs(luma(picture.picture) - MediaFactory.luma(ofPicture: number % once.count)) <= 2)
      let expected = once[number % once.count].stamp + length * round
      #expect(abs((picture.stamp - expected).milliseconds) < 1.1, "picture \(number)")
    }
  }

  @Test("stamps of a variable rate are the file's own")
  func variableRate() throws {
    let stamps = try read(.variableRate, loops: false, atMost: 100).map(\.stamp.milliseconds)
    let expected = (0..<20).map { Double($0 + 2 * ($0 / 2)) * 40 }
    #expect(stamps.count == expected.count)
    for (stamp, wanted) in zip(stamps, expected) { #expect(abs(stamp - wanted) < 0.1) }
  }

  @Test(
    "a display matrix turns the picture upright",
    arguments: [
      (MediaFactory.Kind.rotated90, PixelSize(width: 120, height: 160), Corner.upperRight),
      (.rotated180, PixelSize(width: 160, height: 120), .lowerRight),
      (.rotated270, PixelSize(width: 120, height: 160), .lowerLeft),
    ])
  func rotation(_ kind: MediaFactory.Kind, _ size: PixelSize, _ corner: Corner) throws {
    let reader = try VideoFileReader(path: MediaFactory.path(kind), loops: false)
    #expect(reader.description.video.size == size)
    let picture = try #require(try reader.next()).picture
    #expect(Corner.allCases.filter { $0.isWhite(in: picture) } == [corner])
  }

  @Test("a picture of odd sides is read whole")
  func oddSize() throws {
    let reader = try VideoFileReader(path: MediaFactory.path(.oddSize), loops: false)
    #expect(reader.description.video.size == PixelSize(width: 161, height: 121))
    let picture = try #require(try reader.next()).picture
    #expect(Corner.allCases.filter { $0.isWhite(in: picture) } == [.upperLeft])
  }

  @Test("pixels that are not square are made so")
  func widePixels() throws {
    let reader = try VideoFileReader(path: MediaFactory.path(.widePixels), loops: false)
    #expect(reader.description.video.codedSize == PixelSize(width: 160, height: 120))
    #expect(reader.description.video.size == PixelSize(width: 320, height: 120))
  }

  @Test("sound is reported and not read")
  func audio() throws {
    let reader = try VideoFileReader(path: MediaFactory.path(.withAudio), loops: false)
    #expect(reader.description.audio == [.init(codec: "aac", sampleRate: 48000, channels: 2)])
    #expect(try read(.withAudio, loops: false, atMost: 1000).count == 25)
  }

  @Test("a file cut behind its index plays what is there")
  func truncatedTail() throws {
    let pictures = try read(.truncatedTail, loops: false, atMost: 1000)
    #expect((20..<50).contains(pictures.count))
  }

  @Test(
    "what can't be played is refused at opening, with the file and what is wrong",
    arguments: [
      (MediaFactory.Kind.audioOnly, MediaError.Cause.noVideoTrack, "there is no video track"),
      (.empty, .emptyFile, "the file is empty"),
      (.truncated, .truncatedFile, "it ends before its index"),
      (.textNamedMP4, .notMedia, "not a media file"),
      (.undecodable, .noDecodablePicture, "no picture can be decoded"),
    ])
  func refused(_ kind: MediaFactory.Kind, _ cause: MediaError.Cause, _ words: String) throws {
    let path = try MediaFactory.path(kind)
    let began = ContinuousClock.now
    let error = #expect(throws: MediaError.self) { try VideoFileReader(path: path, loops: true) }
    #expect(ContinuousClock.now - began < .seconds(2))
    #expect(error?.cause == cause)
    #expect(error?.path == path)
    let text = try #require(error).description
    #expect(text.contains(words), "\(text)")
    #expect(text.contains(path))
  }

  @Test("a missing file, a folder and a device are named as such")
  func notFiles() throws {
    let missing = try MediaFactory.newPath("mp4")
    for (path, cause) in [
      (missing, MediaError.Cause.fileNotFound), ("/", .notARegularFile), ("/dev/zero", .notARegularFile),
    ] {
      let error = #expect(throws: MediaError.self) { try VideoFileReader(path: path, loops: true) }
      #expect(error?.cause == cause)
    }
  }

  @Test("a playlist that names other files is refused")
  func playlist() throws {
    let path = try MediaFactory.newPath("mp4")
    let target = try MediaFactory.path(.h264)
    try Data("ffconcat version 1.0\nfile '\(target)'\n".utf8).write(to: URL(fileURLWithPath: path))
    let error = #expect(throws: MediaError.self) { try VideoFileReader(path: path, loops: true) }
    #expect(error?.cause == .notMedia)
  }

  @Test("stamps that lie centuries apart stay at the end of time instead of trapping, in every loop")
  func centuries() throws {
    let path = try MediaFactory.newPath("mkv")
    let settings = ["-c:v", "libx264", "-preset", "ultrafast", "-tune", "zerolatency", "-fps_mode", "passthrough"]
    try CommandLineTool.run(
      "ffmpeg",
      ["-v", "error", "-f", "lavfi", "-i", "color=black:s=64x64:r=25:d=0.12", "-vf", "setpts=N*4.5e9/TB"] + settings
        + [path])
    let reader = try VideoFileReader(path: path, loops: true)
    let stamps = try (0..<9).map { _ in try #require(try reader.next()).stamp }
    #expect(stamps[0] == .zero && stamps[1] > .seconds(4_000_000_000))
    #expect(stamps == stamps.sorted() && stamps.last == .nanoseconds(Int64.max))
  }

  private func read(_ kind: MediaFactory.Kind, loops: Bool, atMost limit: Int) throws -> [FilePicture] {
    let reader = try VideoFileReader(path: MediaFactory.path(kind), loops: loops)
    var pictures: [FilePicture] = []
    while pictures.count < limit, let picture = try reader.next() { pictures.append(picture) }
    return pictures
  }
}
