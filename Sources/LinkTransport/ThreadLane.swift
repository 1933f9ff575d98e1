import Glibc
import LinkProtocol
import Units

/// A lane with a thread of its own, started by the first work and gone when it has been idle for a while, so that a
/// listener that hears nothing costs no thread.
///
/// `@unchecked Sendable`: all stored variables are guarded by `mutex`.
final class ThreadLane: Lane, @unchecked Sendable {
  private struct Work {
    let run: @Sendable () -> Void
  }

  let name: String
  private let timekeeper: SystemTimekeeper
  private let idleLimit: Duration
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var ready = FIFO<Work>()
  private var waiting = DeadlineHeap<LaneTimer>()
  private var hasThread = false
  /// The thread stands in `wait`; a signal to one that runs would be a system call for nothing.
  private var isWaiting = false
  /// Due and ready work take turns, so that neither can keep the other from running.
  private var lastWasDue = false
  private var hasEnded = false

  init(name: String, timekeeper: SystemTimekeeper, idleLimit: Duration) {
    self.name = name
    self.timekeeper = timekeeper
    self.idleLimit = idleLimit
    pthread_mutex_init(mutex, nil)
    // Deadlines are on the monotonic clock; the default would follow the wall clock's jumps.
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_cond_init(wake, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(wake)
    pthread_mutex_destroy(mutex)
    wake.deallocate()
    mutex.deallocate()
  }

  func run(_ work: @escaping @Sendable () -> Void) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !hasEnded else { return }
    ready.append(Work(run: work))
    wakeThread()
  }

  func run(at deadline: Instant, _ work: @escaping @Sendable () -> Void) -> LaneTimer {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    guard !hasEnded else { return LaneTimer() }
    let timer = LaneTimer(work)
    let isEarliest = waiting.earliest.map { deadline < $0 } ?? true
    waiting.insert(timer, at: deadline)
    // A thread that waits for an earlier deadline need not hear of a later one.
    if isEarliest || !hasThread { wakeThread() }
    return timer
  }

  func end() {
    pthread_mutex_lock(mutex)
    hasEnded = true
    // Dropped outside the lock: releasing a closure may release objects whose deinit comes back here.
    let droppedReady = ready
    let droppedWaiting = waiting.remove { _ in true }
    ready = FIFO()
    if isWaiting { pthread_cond_signal(wake) }
    pthread_mutex_unlock(mutex)
    // Also where somebody still has the timer.
    for timer in droppedWaiting { timer.cancel() }
    withExtendedLifetime(droppedReady) {}
  }

  /// With the mutex held.
  private func wakeThread() {
    guard !hasThread else {
      if isWaiting { pthread_cond_signal(wake) }
      return
    }
    var thread = pthread_t()
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    let argument = Unmanaged.passRetained(self)
    let result = pthread_create(
      &thread, &attributes,
      { argument in
        guard let argument else { return nil }
        let lane = Unmanaged<ThreadLane>.fromOpaque(argument).takeRetainedValue()
        lane.nameThread()
        lane.loop()
        return nil
      }, argument.toOpaque())
    pthread_attr_destroy(&attributes)
    if result == 0 {
      hasThread = true
    } else {
      // No thread to be had now (EAGAIN): the work stays queued, and the next call tries again.
      argument.release()
    }
  }

  private func nameThread() {
    // By /proc, since Glibc's module map hides pthread_setname_np (a GNU extension). The kernel keeps 15 bytes.
    let descriptor = open("/proc/thread-self/comm", O_WRONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    let bytes = Array(name.utf8.prefix(15))
    _ = write(descriptor, bytes, bytes.count)
    close(descriptor)
  }

  private func loop() {
    while let work = nextWork() { work.run() }
  }

  /// Waits for the next work; nil when the thread has nothing left to live for.
  private func nextWork() -> Work? {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var idleEnd: Instant?
    while !hasEnded {
      // Spent ones at the front only: they would be waited for. Those further back cost a few bytes until then.
      while waiting.popFirst(where: \.isSpent) != nil {}
      if let work = takeReadyOrDue() { return work }
      // The clock is read only when there is nothing to do at once.
      let now = timekeeper.now
      let end = idleEnd ?? now + idleLimit
      idleEnd = end
      if waiting.isEmpty, now >= end { break }
      wait(until: waiting.earliest ?? end)
    }
    hasThread = false
    return nil
  }

  /// With the mutex held.
  private func takeReadyOrDue() -> Work? {
    if lastWasDue || waiting.isEmpty, let work = ready.popFirst() {
      lastWasDue = false
      return work
    }
    if !waiting.isEmpty {
      let now = timekeeper.now
      while let due = waiting.popDue(at: now) {
        guard let work = due.take() else { continue }
        lastWasDue = true
        return Work(run: work)
      }
    }
    lastWasDue = false
    return ready.popFirst()
  }

  /// With the mutex held; returns on a signal, at the deadline, or for no reason.
  private func wait(until deadline: Instant) {
    let nanoseconds = max(0, deadline.nanoseconds)
    var time = timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    isWaiting = true
    pthread_cond_timedwait(wake, mutex, &time)
    isWaiting = false
  }
}
