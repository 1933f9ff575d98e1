import CFFmpeg

/// SHA-256 (FIPS 180-4) of bytes that come in parts, by libavutil.
package struct SHA256: ~Copyable {
  /// Bytes of a digest.
  package static let byteCount = 32

  private let state: OpaquePointer

  /// Throws `.outOfMemory` alone.
  package init() throws(MediaError) {
    state = try LibAV.allocated("av_sha_alloc", while: .encoding, av_sha_alloc())
    _ = av_sha_init(state, 256)
  }

  deinit { av_free(UnsafeMutableRawPointer(state)) }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    av_sha_update(state, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count)
  }

  /// The digest of all that came, 32 bytes. The last use.
  package consuming func finish() -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.byteCount) { buffer, count in
      guard let base = buffer.baseAddress else { return }
      av_sha_final(state, base)
      count = Self.byteCount
    }
  }
}

/// The SHA-256 digest of bytes, 32 bytes. Throws `.outOfMemory` alone.
package func sha256(_ bytes: [UInt8]) throws(MediaError) -> [UInt8] {
  var digest = try SHA256()
  bytes.withUnsafeBytes { digest.update($0) }
  return digest.finish()
}
