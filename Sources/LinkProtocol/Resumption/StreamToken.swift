/// Names a resumable stream: 16 random bytes that only its two ends know.
package struct StreamToken: Hashable, Sendable {
  package static let length = 16
  /// Asks for a new stream.
  package static let none = StreamToken(bytes: Array(repeating: 0, count: length))

  package let bytes: [UInt8]

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// Nil unless there are exactly 16 bytes.
  package init?(_ bytes: [UInt8]) {
    guard bytes.count == Self.length else { return nil }
    self.bytes = bytes
  }

  /// From a generator that nobody can predict, unless a test gives another.
  package init(from generator: inout some RandomNumberGenerator) {
    bytes = (0..<Self.length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }
}
