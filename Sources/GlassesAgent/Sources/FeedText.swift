import Foundation
import Units

/// Why the texts of a feed name none.
package struct FeedTextError: Error, Hashable, Sendable {
  package let what: String
  package let nextStep: String
}

extension FeedDescription {
  /// What a person writes for a feed: `pattern`, or a file.
  package init(text: String) throws(FeedTextError) {
    if text == "pattern" {
      self = .pattern
    } else {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: text, isDirectory: &isFolder), !isFolder.boolValue else {
        throw FeedTextError(
          what: isFolder.boolValue ? "\(text) is a folder" : "there is no file \(text)",
          nextStep: "name a video file, or pattern")
      }
      self = .file(path: text)
    }
  }
}
