import COpenSSL

/// The rules for calling OpenSSL.
///
/// Its functions leave what went wrong in a queue of the thread. Whatever is left there makes a later call, of another
/// connection on the same thread, look failed; so each entry from outside begins with `clearErrors`, and who fails takes
/// the queue along.
enum OpenSSL {
  /// OpenSSL stays usable until the process is gone. By itself it takes its tables down when `exit` is called, under
  /// threads that are still in it.
  private static let isReady = OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) == 1

  static func clearErrors() {
    _ = isReady
    ERR_clear_error()
  }

  /// What OpenSSL says went wrong first, the rest with it; the queue is empty afterwards.
  static func takeError() -> OpenSSLFailure {
    let code = ERR_get_error()
    ERR_clear_error()
    guard code != 0 else { return OpenSSLFailure(reason: 0, text: "no reason given") }
    let text = ERR_reason_error_string(code).map { String(cString: $0) } ?? "reason \(ERR_GET_REASON(code))"
    return OpenSSLFailure(reason: ERR_GET_REASON(code), text: text)
  }

  /// The bytes that one of the `i2d` functions writes; nil when it fails.
  static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
    let length = encode(nil)
    guard length > 0 else { return nil }
    var written: Int32 = 0
    let bytes = [UInt8](unsafeUninitializedCapacity: Int(length)) { buffer, count in
      var position = buffer.baseAddress
      written = encode(&position)
      count = written == length ? Int(length) : 0
    }
    return written == length ? bytes : nil
  }

  /// What one of the `d2i` functions reads of all the bytes; nil when they are malformed or too many.
  static func decoded(
    _ bytes: [UInt8], free: (OpaquePointer) -> Void,
    _ decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> OpaquePointer?
  ) -> OpaquePointer? {
    bytes.withUnsafeBufferPointer { buffer in
      var position = buffer.baseAddress
      guard let value = decode(&position, buffer.count) else { return nil }
      guard let start = buffer.baseAddress, position == start + buffer.count else {
        free(value)
        return nil
      }
      return value
    }
  }

  /// All that one of the `PEM_write_bio` functions writes; nil when it fails.
  static func text(_ write: (OpaquePointer) -> Int32) -> [UInt8]? {
    guard let memory = BIO_new(BIO_s_mem()) else { return nil }
    defer { BIO_free(memory) }
    return write(memory) == 1 ? drained(memory) : nil
  }

  /// All that waits in a memory BIO.
  static func drained(_ memory: OpaquePointer) -> [UInt8] {
    let waiting = BIO_ctrl_pending(memory)
    guard waiting > 0 else { return [] }
    return [UInt8](unsafeUninitializedCapacity: waiting) { buffer, count in
      var read = 0
      count = BIO_read_ex(memory, buffer.baseAddress, waiting, &read) == 1 ? read : 0
    }
  }

  /// What one of the `PEM_read_bio` functions finds in a text. Its callback for a password must have none: OpenSSL's own
  /// asks at the terminal.
  static func parsed(_ text: [UInt8], _ read: (OpaquePointer) -> OpaquePointer?) -> OpaquePointer? {
    guard let length = Int32(exactly: text.count), let memory = BIO_new_mem_buf(text, length) else { return nil }
    defer { BIO_free(memory) }
    return read(memory)
  }

  static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
      var size: UInt32 = 0
      let isDone = EVP_Digest(bytes, bytes.count, buffer.baseAddress, &size, EVP_sha256(), nil) == 1
      count = isDone ? Int(size) : 0
    }
  }

  /// Equal in a time that tells nothing of where they differ; lengths are no secret.
  static func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool { a.count == b.count && CRYPTO_memcmp(a, b, a.count) == 0 }
}

/// OpenSSL's own word for what went wrong, for errors that say no more.
package struct OpenSSLFailure: Hashable, Sendable {
  package let reason: Int32
  package let text: String
}
