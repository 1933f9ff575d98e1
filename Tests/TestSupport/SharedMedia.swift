import Foundation
import Testing

/// Real recordings for tests that want more than generated pictures. They are not part of the repository.
package enum SharedMedia {
  /// `GLASSWING_MEDIA`, or `../shared/media` beside the repository; nil when there is neither.
  package static let folder: URL? = {
    let repository = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let candidates = [
      ProcessInfo.processInfo.environment["GLASSWING_MEDIA"].map { URL(fileURLWithPath: $0) },
      repository.deletingLastPathComponent().appendingPathComponent("shared/media"),
    ]
    return candidates.compactMap { $0 }.first {
      FileManager.default.fileExists(atPath: $0.appendingPathComponent("bigbuckbunny.mp4").path)
    }
  }()

  /// What a skipped test prints.
  package static let whySkipped: Comment =
    "no real recordings here: set GLASSWING_MEDIA to a folder with bigbuckbunny.mp4, bikes.mp4, carphone_pristine.mp4"
}
