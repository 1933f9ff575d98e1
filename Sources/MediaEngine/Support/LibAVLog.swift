import CFFmpeg
import Glibc

/// FFmpeg's log, kept off the host process's standard error.
///
/// FFmpeg has one log callback for the whole process. Ours collects lines of level error and above, and what else tells of
/// damage, for the call that the logging thread is in, and drops all others. FFmpeg logs on the calling thread here, since every codec context
/// of the engine runs with one thread.
enum LibAVLog {
  /// Lines of one call. Needs no memory while there are none, which is nearly always.
  struct Lines {
    /// More than this of one call repeats itself.
    private static let limit = 4

    private(set) var lines: [String] = []

    var isEmpty: Bool { lines.isEmpty }

    /// All lines, in order, as one.
    var text: String { lines.joined(separator: "; ") }

    fileprivate mutating func append(_ line: String) {
      guard !line.isEmpty, lines.count < Self.limit, line != lines.last else { return }
      lines.append(line)
    }
  }

  /// Puts the callback in place; cheap after the first call. Whatever uses FFmpeg through `LibAV` has done so.
  static func install() { _ = installed }

  /// Runs `body` and returns what FFmpeg logged in it on this thread.
  static func collecting<Result>(_ body: () -> Result) -> (Result, Lines) {
    install()
    var lines = Lines()
    let result = withUnsafeMutablePointer(to: &lines) { slot in
      let outer = pthread_getspecific(key)
      pthread_setspecific(key, slot)
      defer { pthread_setspecific(key, outer) }
      return body()
    }
    return (result, lines)
  }

  /// The thread's slot for the lines of the call it is in, which stand on its stack.
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    pthread_key_create(&key, nil)
    return key
  }()

  private static let installed: Void = {
    av_log_set_level(AV_LOG_ERROR)
    av_log_set_callback { context, level, format, arguments in
      // The level's upper bytes carry a colour.
      guard let format, level & 0xff <= AV_LOG_ERROR || LibAVLog.isComplaint(format), let arguments,
        let slot = pthread_getspecific(LibAVLog.key)
      else { return }
      let capacity = 512
      let line = withUnsafeTemporaryAllocation(of: CChar.self, capacity: capacity) { buffer -> String in
        guard let base = buffer.baseAddress else { return "" }
        var startsLine: Int32 = 0
        base.initialize(repeating: 0, count: capacity)
        av_log_format_line(context, level, format, arguments, base, Int32(capacity), &startsLine)
        return String(cString: base)
      }
      slot.assumingMemoryBound(to: Lines.self).pointee.append(withoutLineEnd(line))
    }
  }()

  /// The H.264 decoder says at level debug that a reference is lost, and then goes on with another picture in its place.
  private static func isComplaint(_ format: UnsafePointer<CChar>) -> Bool { strncmp(format, "Frame num gap", 13) == 0 }

  private static func withoutLineEnd(_ line: String) -> String {
    String(line.drop { $0 == " " }.split(whereSeparator: \.isNewline).first ?? "")
  }
}
