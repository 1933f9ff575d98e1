import Foundation
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite(.enabled(if: SharedMedia.folder != nil, SharedMedia.whySkipped))
struct RecordingsTests {
  // carphone is 176x144 with pixels of 12:11.
  @Test(
    "real recordings are read whole, twice over, with rising stamps",
    arguments: [("bigbuckbunny.mp4", 1280, 720), ("bikes.mp4", 640, 272), ("carphone_pristine.mp4", 192, 144)])
  func recordings(_ name: String, _ width: Int, _ height: Int) throws {
    let folder = try #require(SharedMedia.folder)
    let path = folder.appendingPathComponent(name).path
    let count = try MediaInspector.pictureCount(path)
    let reader = try VideoFileReader(path: path, loops: true)
    #expect(reader.description.video.size == PixelSize(width: width, height: height))
    var last: FilePicture?
    for number in 0..<2 * count {
      let picture = try #require(try reader.next())
      #expect(picture.index == number % count)
      #expect(picture.loop == number / count)
      if let last {
        let gap = picture.stamp - last.stamp
        #expect(abs((gap - last.duration).milliseconds) < 1.1, "picture \(number)")
      }
      last = picture
    }
    #expect(reader.undecodablePackets == 0)
  }
}
