import Foundation

/// Paths as people typed them: what lies in the present folder is named from there.
enum ShownPath {
  /// The text with the present folder's path taken out wherever a path begins with it.
  static func shorten(_ text: String, in folder: String = FileManager.default.currentDirectoryPath) -> String {
    guard folder.count > 1 else { return text }
    var shortened = ""
    var rest = text[...]
    while let range = rest.range(of: folder + "/") {
      // Only where a path begins: /media/a must not be found inside /mnt/media/a.
      let isBeginning = rest[..<range.lowerBound].last.map { $0 == " " || $0 == "\"" || $0 == "(" } ?? shortened.isEmpty
      shortened += rest[..<(isBeginning ? range.lowerBound : range.upperBound)]
      rest = rest[range.upperBound...]
    }
    return shortened + rest
  }
}
