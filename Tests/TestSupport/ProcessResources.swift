import Foundation
import LinkProtocol
import LinkTransport
import Units

/// What this process holds of the system: threads by name and open descriptors. Leak checks compare two of them.
package struct ProcessResources: Sendable, CustomStringConvertible {
  package let threads: [String]
  package let descriptors: [String]

  package static func now() -> ProcessResources {
    let files = FileManager.default
    let tasks = (try? files.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
    let names = tasks.compactMap { try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8) }
    let numbers = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    // The listing's own descriptor is gone by now, so it has no destination.
    let targets = numbers.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)") }
    return ProcessResources(
      threads: names.map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }.sorted(), descriptors: targets.sorted())
  }

  /// Threads whose name begins so. Other tests of the process have threads too, so a leak check names its own.
  package func threads(named prefix: String) -> [String] {
    // The kernel keeps 15 bytes of a name.
    let kept = String(decoding: prefix.utf8.prefix(15), as: UTF8.self)
    return threads.filter { $0.hasPrefix(kept) }
  }

  /// Beginnings of the names of the threads that sessions, cameras and glasses have. Other tests of the process have
  /// some of their own.
  private static let ours = [
    "gw-", "session", "stream", "camera", "photo", "capture", "encode", "replay", "decode", "frames", "record",
    "walker",
  ]

  /// Threads of sessions, cameras and glasses.
  package var streamThreads: [String] { Self.ours.flatMap { threads(named: $0) } }

  /// No more threads of sessions, cameras and glasses, and no more descriptors.
  package func holdsNoMoreOfStreams(than other: ProcessResources) -> Bool {
    Self.ours.allSatisfy { threads(named: $0).count <= other.threads(named: $0).count }
      && descriptors.count <= other.descriptors.count
  }

  package var description: String {
    "\(threads.count) threads: \(threads.joined(separator: ", ")); \(descriptors.count) descriptors"
  }

  /// Looks again until the resources meet the condition or the deadline has come; returns the last look.
  package static func settled(
    within limit: Duration = .seconds(10), until condition: @Sendable (ProcessResources) -> Bool
  ) async -> ProcessResources {
    let timekeeper = SystemTimekeeper.shared
    let lane = timekeeper.makeLane("resource check")
    defer { lane.end() }
    let deadline = timekeeper.now + limit
    var resources = now()
    // The kernel tells nobody of the end of a detached thread, so this is the one place that has to look repeatedly.
    while !condition(resources), timekeeper.now < deadline {
      await timekeeper.sleep(until: timekeeper.now + .milliseconds(10), on: lane)
      resources = now()
    }
    return resources
  }
}
