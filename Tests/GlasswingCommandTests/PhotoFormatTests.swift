import MWDATCamera
import Testing

@testable import GlasswingCommand

@Suite("The format of a photo")
struct PhotoFormatTests {
  @Test(
    "is what was asked for, else what the name says, else JPEG",
    arguments: [
      (nil, "a.jpg", PhotoCaptureFormat.jpeg), (nil, "a.HEIC", .heic), (nil, "a", .jpeg), ("heic", "a", .heic),
      ("jpeg", "a.jpeg", .jpeg), ("heic", "a.photo", .heic),
    ] as [(String?, String, PhotoCaptureFormat)])
  func isChosen(asked: String?, path: String, expected: PhotoCaptureFormat) throws {
    #expect(try PhotoCommand.format(asked: asked, path: path) == expected)
  }

  @Test("is refused where the name says another", arguments: [(nil, "a.png"), ("heic", "a.jpg"), ("jpeg", "a.heif")])
  func isRefused(asked: String?, path: String) {
    #expect(throws: CommandFailure.self) { try PhotoCommand.format(asked: asked, path: path) }
  }
}
