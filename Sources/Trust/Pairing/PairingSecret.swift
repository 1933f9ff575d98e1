import COpenSSL

/// 128 random bits that a pairing shows once and that die with it.
///
/// It prints nothing of itself, compares in constant time, and its bytes are wiped when the last copy goes.
package struct PairingSecret: Sendable {
  package static let byteCount = 16

  private let storage: Storage

  /// From the system's random numbers.
  package init() {
    var system = SystemRandomNumberGenerator()
    storage = Storage((0..<Self.byteCount).map { _ in UInt8.random(in: .min ... .max, using: &system) })
  }

  /// Nil unless these are 16 bytes.
  package init?(bytes: [UInt8]) {
    guard bytes.count == Self.byteCount else { return nil }
    storage = Storage(bytes)
  }

  /// Takes what `revealed` shows; nil for anything else.
  package init?(text: String) {
    guard let bytes = Base32.bytes(text, count: Self.byteCount) else { return nil }
    storage = Storage(bytes)
  }

  /// The secret itself: 26 characters of base32, for the one place that shows it.
  package func revealed() -> String { storage.withBytes { Base32.text(Array($0)) } }

  func withBytes<Value>(_ use: (UnsafeBufferPointer<UInt8>) -> Value) -> Value { storage.withBytes(use) }

  // Sendable: immutable from its making to its end.
  private final class Storage: @unchecked Sendable {
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    init(_ bytes: [UInt8]) {
      self.bytes = .allocate(capacity: bytes.count)
      _ = self.bytes.initialize(from: bytes)
    }

    deinit {
      OPENSSL_cleanse(bytes.baseAddress, bytes.count)
      bytes.deallocate()
    }

    func withBytes<Value>(_ use: (UnsafeBufferPointer<UInt8>) -> Value) -> Value { use(UnsafeBufferPointer(bytes)) }
  }
}

extension PairingSecret: Equatable {
  package static func == (a: PairingSecret, b: PairingSecret) -> Bool {
    a.withBytes { a in b.withBytes { b in CRYPTO_memcmp(a.baseAddress, b.baseAddress, byteCount) == 0 } }
  }
}

extension PairingSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "(secret)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
