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
    let path = fileURL.feedPath
    let reason = await FileCheck.problem { () throws(SourceError) in
      _ = try FeedDescription.file(path: path).makeSource()
    }
    if let reason {
      throw .notPlayable(path: path, reason: reason)
    }
    setCameraFeed(fileURL: fileURL)
  }
}
