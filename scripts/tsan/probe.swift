// Whether the sanitizer can be believed here: `probe locked` has no race and must be silent, `probe race` has one, in
// code that uses a mutex for everything else, and must not be.

import Glibc
import Synchronization

final class Shared: Sendable {
  let guarded = Mutex<[Int]>([])
  // Written by two threads; in `race` by both outside the lock.
  nonisolated(unsafe) var count = 0
}

final class Job: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

func start(_ body: @escaping @Sendable () -> Void) -> pthread_t {
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { job in
      guard let job else { return nil }
      Unmanaged<Job>.fromOpaque(job).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Job(body)).toOpaque())
  return thread
}

@main
enum Probe {
  static func main() {
    let races = CommandLine.arguments.last == "race"
    let shared = Shared()
    let threads = (0..<3).map { _ in
      start {
        for round in 0..<300 {
          shared.guarded.withLock { values in
            values.append(round)
            // Long enough that the others come while it is held: they meet in the kernel.
            for _ in 0..<50 { sched_yield() }
            if !races { shared.count += 1 }
          }
          if round % 3 == 0 { _ = shared.guarded.withLockIfAvailable { $0.removeLast() } }
          if races { shared.count += 1 }
        }
      }
    }
    for thread in threads { pthread_join(thread, nil) }
  }
}
