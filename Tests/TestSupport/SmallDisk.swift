import Foundation
import Glibc

/// A disk that is soon full: 64 KiB of memory, mounted for as long as this is held.
package final class SmallDisk {
  package static let isAvailable: Bool = geteuid() == 0 && (try? SmallDisk()) != nil

  package let folder: String

  package init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "small-disk-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    do {
      _ = try CommandLineTool.run("mount", ["-t", "tmpfs", "-o", "size=64k", "glasswing-test", folder])
    } catch {
      try? FileManager.default.removeItem(atPath: folder)
      throw error
    }
  }

  /// Leaves no room on it.
  package func fill() throws {
    let path = folder + "/filler"
    try Data().write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    let page = Data(count: 4096)
    // A page more than there is room for.
    for _ in 0...16 { try? file.write(contentsOf: page) }
  }

  deinit {
    _ = try? CommandLineTool.run("umount", ["-l", folder])
    try? FileManager.default.removeItem(atPath: folder)
  }
}
