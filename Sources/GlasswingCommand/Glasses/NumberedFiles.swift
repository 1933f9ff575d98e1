import Foundation
import Glibc

/// Names for the files that a demo makes: `photo-001.jpg`, the first number that is free.
struct NumberedFiles: Sendable {
  private static let most = 999

  let folder: String

  func check() throws(CommandFailure) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
      throw CommandFailure(subject: folder, "there is no such folder", next: "name another after --folder")
    }
    guard access(folder, W_OK | X_OK) == 0 else {
      throw CommandFailure(subject: folder, "files can't be made there", next: "name another after --folder")
    }
  }

  /// Claims the next name.
  func next(_ stem: String, _ ending: String) throws(CommandFailure) -> ClaimedFile {
    for number in 1...Self.most {
      let digits = String(number)
      let padded = String(repeating: "0", count: 3 - digits.count) + digits
      let name = "\(stem)-\(padded).\(ending)"
      let path = folder == "." ? name : URL(filePath: folder).appending(path: name).path
      guard !FileManager.default.fileExists(atPath: path) else { continue }
      return try ClaimedFile.claim(path, overwrites: false)
    }
    throw CommandFailure(subject: folder, "has \(Self.most) files named \(stem)", next: "name another after --folder")
  }
}
