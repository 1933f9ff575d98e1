import Foundation
import GlassesAgent
import LinkTransport
import MWDATMockDevice

extension MockCameraKit {
  /// As `setCameraFeed(fileURL:)`, but opens the file first and decodes its beginning. A feed that can't be played is
  /// told here, in words, and the camera goes on seeing what it saw.
  ///
  /// Returns within a second for a local file. Not affected by cancellation.
  ///
  /// - Throws: what is wrong with the file.
  public func setCameraFeed(validating fileURL: URL) async throws(CameraFeedError) {
    let path = fileURL.isFileURL ? fileURL.path : fileURL.absoluteString
    if let reason = await FeedCheck.problem(with: .file(path: path)) {
      throw .notPlayable(path: path, reason: reason)
    }
    setCameraFeed(fileURL: fileURL)
  }
}

private enum FeedCheck {
  /// Opening a file blocks, so it happens on a thread of its own and not on one of Swift's few.
  static func problem(with feed: FeedDescription) async -> String? {
    let lane = SystemTimekeeper.shared.makeLane("gw-feed-check")
    defer { lane.end() }
    return await withCheckedContinuation { continuation in
      lane.run {
        do throws(SourceError) {
          _ = try feed.makeSource()
          continuation.resume(returning: nil)
        } catch {
          continuation.resume(returning: error.text)
        }
      }
    }
  }
}
