import Foundation
import Testing

@testable import Glasswing

@Suite("ERR-1, ERR-4: errors of the recorder")
struct ErrorTests {
  private static let all: [RecorderError] = [
    .unknownContainer(path: "a"), .fileExists(path: "a"), .folderMissing(path: "a"),
    .notWritable(path: "a", reason: "b"), .diskFull(path: "a"), .writeFailed(path: "a", reason: "b"),
    .needsCompressedVideo(found: "c"), .unreadableSample(reason: "d"), .notRecording, .nothingRecorded(path: "a"),
    .stalled(path: "a"),
  ]

  @Test("Names and numbers are one to a case, and the sentence is the localised one")
  func identities() {
    #expect(Set(Self.all.map(\.name)).count == Self.all.count)
    #expect(Self.all.map(\.code) == Array(1001...1011), "numbers never change")
    for error in Self.all {
      #expect(error.localizedDescription == error.message)
      #expect("\(error)".hasPrefix(error.name.split(separator: ".")[1]), "it prints its case name")
    }
  }

  @Test("Each survives being stored as JSON", arguments: all)
  func stored(_ error: RecorderError) throws {
    let data = try JSONEncoder().encode(error)
    #expect(try JSONDecoder().decode(RecorderError.self, from: data) == error)
  }
}
