import GlassesAgent
import LinkTransport
import MediaEngine

/// Opens files before they are used.
enum FileCheck {
  /// What opening fails with, in words; nil for a file that opens. Opening blocks, so it happens on a thread of its own and
  /// not on one of Swift's few.
  static func problem(_ open: @escaping @Sendable () throws -> Void) async -> String? {
    let lane = SystemTimekeeper.shared.makeLane("gw-file-check")
    defer { lane.end() }
    return await withCheckedContinuation { continuation in
      lane.run {
        do {
          try open()
          continuation.resume(returning: nil)
        } catch let error as SourceError {
          continuation.resume(returning: error.text)
        } catch {
          continuation.resume(returning: "\(error)")
        }
      }
    }
  }
}
