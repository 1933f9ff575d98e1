import Foundation
import Glibc

/// Which file a path names, through links of either kind.
private enum NamedFile: Equatable {
  case there(device: dev_t, number: ino_t)
  /// None yet; where it would be.
  case missing(String)

  init(_ path: String) {
    var status = stat()
    if stat(path, &status) == 0 {
      self = .there(device: status.st_dev, number: status.st_ino)
    } else {
      let url = URL(filePath: path).standardizedFileURL
      let folder = url.deletingLastPathComponent().resolvingSymlinksInPath()
      self = .missing(folder.appending(path: url.lastPathComponent).path)
    }
  }
}

extension Arguments {
  /// - Throws: where one file is named twice, and so would be written twice at once, or written over while it is read.
  func checkFiles() throws(CommandFailure) {
    // "-" is standard output there.
    let sound = givenText(.audioOut)
    let pictures = givenText(.videoOut).flatMap { $0 == "-" ? nil : $0 }
    if let sound, let pictures, NamedFile(sound) == NamedFile(pictures) {
      throw CommandFailure(
        subject: pictures, "--audio-out and --video-out can't both write to it",
        next: "name another file after one of them")
    }
    guard let feed = givenText(.feed) else { return }
    for (option, path) in [(Option.output, givenText(.output)), (.audioOut, sound), (.videoOut, pictures)] {
      guard let path, NamedFile(path) == NamedFile(feed) else { continue }
      let flag = OptionTable.spec(option).flag
      throw CommandFailure(
        subject: path, "\(flag) would write over what --feed plays", next: "name another file after \(flag)")
    }
  }
}
