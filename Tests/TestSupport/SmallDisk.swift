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

  deinit {
    _ = try? CommandLineTool.run("umount", ["-l", folder])
    try? FileManager.default.removeItem(atPath: folder)
  }
}
