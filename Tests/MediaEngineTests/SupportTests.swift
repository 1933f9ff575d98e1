import Foundation
import TestSupport
import Testing

@testable import MediaEngine

@Suite struct SupportTests {
  @Test(
    "SHA-256 gives the standard's digests",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func digest(_ text: String, _ hex: String) throws {
    let bytes = Array(text.utf8)
    #expect(try sha256(bytes).map { String(format: "%02x", $0) }.joined() == hex)
    var parts = try SHA256()
    for byte in bytes { withUnsafeBytes(of: byte) { parts.update($0) } }
    #expect(parts.finish() == (try sha256(bytes)))
  }

  @Test("an error says the file, what is wrong with it, and the library's words")
  func errorText() {
    let library = MediaError.LibraryFailure(function: "avformat_open_input", code: -1, text: "moov atom not found")
    let error = MediaError(.truncatedFile, while: .opening, "no index", library: library, path: "a.mp4")
    #expect(
      error.description == "a.mp4: the file is cut off (no index): moov atom not found"
    )
    #expect(MediaError(.emptyFile, while: .opening).about(path: "b").description == "b: the file is empty")
    #expect(error.about(path: "b").path == "a.mp4")
  }

  @Test("a library's log goes into the error of the call that caused it")
  func log() throws {
    let path = try MediaFactory.path(.truncated)
    let error = #expect(throws: MediaError.self) { try InputContext(path: path) }
    #expect(error?.library?.text.contains("moov atom not found") == true)
  }
}
