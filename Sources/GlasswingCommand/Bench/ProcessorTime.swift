import Glibc
import Units

/// What this process has used of the processor.
enum ProcessorTime {
  /// User and system time of all threads so far.
  static var now: Duration {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let time = { (value: timeval) in Duration.seconds(value.tv_sec) + .microseconds(value.tv_usec) }
    return time(usage.ru_utime) + time(usage.ru_stime)
  }
}
