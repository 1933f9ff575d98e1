import Foundation
import Units

/// Why the texts of a feed name none.
package struct FeedTextError: Error, Hashable, Sendable {
  package let what: String
  package let nextStep: String
}

/// What a person writes for a feed: `pattern`, a file, or `-` for raw I420 on standard input.
package enum FeedText: Hashable, Sendable {
  case pattern
  case file(path: String)
  case raw(RawFormat)

  /// - Parameters:
  ///   - size: as `504x896`; of raw pictures.
  ///   - rate: pictures a second; of raw pictures.
  package init(_ text: String, size: String?, rate: String?) throws(FeedTextError) {
    if text == "-" {
      self = .raw(try Self.raw(size, rate))
      return
    }
    guard size == nil, rate == nil else {
      throw FeedTextError(
        what: "a size and a rate are of raw pictures on standard input", nextStep: "write --feed -, or leave them out")
    }
    if text == "pattern" {
      self = .pattern
      return
    }
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: text, isDirectory: &isFolder), !isFolder.boolValue else {
      throw FeedTextError(
        what: isFolder.boolValue ? "\(text) is a folder" : "there is no file \(text)",
        nextStep: "name a video file, pattern, or - for standard input")
    }
    self = .file(path: text)
  }

  private static func raw(_ size: String?, _ rate: String?) throws(FeedTextError) -> RawFormat {
    guard let size, let rate else {
      throw FeedTextError(
        what: "raw pictures don't say their size and rate", nextStep: "add --feed-size 504x896 --feed-rate 24")
    }
    let sides = size.split(separator: "x", omittingEmptySubsequences: false).map { Int($0) }
    guard sides.count == 2, let width = sides[0], let height = sides[1],
      let format = RawFormat(size: PixelSize(width: width, height: height), frameRate: Double(rate) ?? 0)
    else {
      throw FeedTextError(
        what: "\(size) at \(rate) is no size and rate of pictures",
        nextStep: "even sides up to \(RawFormat.longestSide), and up to \(Int(RawFormat.highestRate)) pictures a second"
      )
    }
    return format
  }
}
