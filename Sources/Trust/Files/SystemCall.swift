import Glibc

/// Calls of the system whose results are values.
enum SystemCall {
  static func message(_ code: Int32) -> String { String(cString: strerror(code)) }

  /// Writes all; the system's error number, or 0.
  static func writeAll(_ descriptor: Int32, _ bytes: [UInt8]) -> Int32 {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      guard count >= 0 || errno == EINTR else { return errno }
      rest = rest.dropFirst(max(0, count))
    }
    return 0
  }

  /// Reads to the end, but no more than one byte beyond the limit; the system's error number, or the bytes.
  static func readAll(_ descriptor: Int32, atMost limit: Int) -> Result<[UInt8], PrivateFileError.Cause> {
    var bytes: [UInt8] = []
    var portion = [UInt8](repeating: 0, count: 4096)
    while bytes.count <= limit {
      let count = read(descriptor, &portion, portion.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { return .failure(.system(call: "read", code: errno)) }
      if count == 0 { return .success(bytes) }
      bytes += portion[..<count]
    }
    return .failure(.tooLong(limit: limit))
  }
}

extension PrivateFileError.Cause: Error {}
