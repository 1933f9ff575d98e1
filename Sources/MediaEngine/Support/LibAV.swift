import CFFmpeg

/// The one place where FFmpeg's return codes become results or errors.
enum LibAV {
  /// What a call returned that did not fail.
  enum Outcome {
    /// The call's value, 0 or more.
    case value(Int32)
    /// The call needs more input, or wants its output taken, before it can go on.
    case again
    /// The end of the file or the stream.
    case ended
  }

  /// Runs a call whose end and would-block codes are results; any other negative code is thrown.
  ///
  /// - Parameters:
  ///   - function: the C function's name, for the error.
  ///   - cause: the error's cause, where the code alone does not tell it.
  ///   - log: what the call logged, also when it succeeded.
  static func outcome(
    _ function: String, while stage: MediaError.Stage, cause: MediaError.Cause = .libraryFailure,
    log: (LibAVLog.Lines) -> Void = { _ in }, _ body: () -> Int32
  ) throws(MediaError) -> Outcome {
    let (code, lines) = LibAVLog.collecting(body)
    log(lines)
    switch code {
    case 0...: return .value(code)
    case glasswing_averror(EAGAIN): return .again
    case glasswing_averror_eof: return .ended
    case let failure: throw error(function, failure, while: stage, cause: cause, lines: lines)
    }
  }

  /// Runs a call for which every negative code is a failure.
  @discardableResult
  static func check(
    _ function: String, while stage: MediaError.Stage, cause: MediaError.Cause = .libraryFailure,
    _ body: () -> Int32
  ) throws(MediaError) -> Int32 {
    let (code, lines) = LibAVLog.collecting(body)
    guard code < 0 else { return code }
    throw error(function, code, while: stage, cause: cause, lines: lines)
  }

  /// What an allocating call returned, or an error when it returned nothing.
  static func allocated<Value>(
    _ function: String, while stage: MediaError.Stage, _ value: Value?
  ) throws(MediaError) -> Value {
    LibAVLog.install()
    guard let value else {
      throw MediaError(.outOfMemory, while: stage, "\(function) returned nothing")
    }
    return value
  }

  /// The words FFmpeg has for a code.
  static func text(of code: Int32) -> String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(AV_ERROR_MAX_STRING_SIZE)) { buffer -> String in
      guard let base = buffer.baseAddress else { return "" }
      base.initialize(repeating: 0, count: buffer.count)
      av_strerror(code, base, buffer.count)
      return String(cString: base)
    }
  }

  static func error(
    _ function: String, _ code: Int32, while stage: MediaError.Stage, cause: MediaError.Cause, lines: LibAVLog.Lines
  ) -> MediaError {
    let text = lines.isEmpty ? text(of: code) : "\(text(of: code)): \(lines.text)"
    let library = MediaError.LibraryFailure(function: function, code: code, text: text)
    let found: MediaError.Cause =
      switch code {
      case glasswing_averror(ENOMEM): .outOfMemory
      case glasswing_averror(ENOSPC), glasswing_averror(EDQUOT): .storageFull
      default: cause
      }
    return MediaError(found, while: stage, library: library)
  }
}
