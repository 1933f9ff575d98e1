import Testing

/// Feeds a decoder the same bytes in every way in which a link can bring them, and bytes that no honest peer sends.
///
/// One line per decoder; whatever traps ends the test process, which is the point.
package enum DecoderVerifier {
  /// Longest input of which every bit is flipped; of a longer one, bits evenly spread.
  package static let flipLimit = 4096

  /// A decoder of a stream: what comes out must not depend on how the bytes were cut.
  ///
  /// - Parameters:
  ///   - limit: how many cuts and how many changed bits are tried, for a decoder that takes its time.
  ///   - decode: gives the portions to a fresh decoder, one after the other, and returns all that came out.
  package static func verifyStream<Output: Equatable>(
    _ bytes: [UInt8], limit: Int = flipLimit, sourceLocation: SourceLocation = #_sourceLocation,
    decode: ([[UInt8]]) -> Output
  ) {
    let whole = decode([bytes])
    #expect(decode(bytes.map { [$0] }) == whole, "byte by byte", sourceLocation: sourceLocation)
    for size in [2, 3, 7, 15, 16, 17, 1000] where size < bytes.count {
      #expect(decode(portions(of: bytes, size: size)) == whole, "in \(size)s", sourceLocation: sourceLocation)
    }
    for cut in spread(1, bytes.count, limit: limit) {
      let halves = [Array(bytes[..<cut]), Array(bytes[cut...])]
      #expect(decode(halves) == whole, "cut at \(cut)", sourceLocation: sourceLocation)
      // Truncated: nothing to compare with, but it must come back.
      _ = decode([halves[0]])
    }
    for damaged in flipped(bytes, limit: limit) {
      // Damage must give the same wherever the portions end.
      let result = decode([damaged])
      #expect(decode(portions(of: damaged, size: 5)) == result, sourceLocation: sourceLocation)
    }
  }

  /// A decoder of one whole value: it takes exactly the bytes that the value has.
  ///
  /// - Parameter reencode: if given, what decodes from damaged bytes must encode to bytes that decode alike.
  package static func verifyValue<Value: Equatable>(
    _ bytes: [UInt8], _ expected: Value, sourceLocation: SourceLocation = #_sourceLocation,
    reencode: ((Value) -> [UInt8])? = nil, decode: ([UInt8]) throws -> Value
  ) {
    #expect(throws: Never.self, sourceLocation: sourceLocation) {
      let value = try decode(bytes)
      #expect(value == expected, sourceLocation: sourceLocation)
    }
    for length in bytes.indices {
      #expect(throws: (any Error).self, "truncated to \(length)", sourceLocation: sourceLocation) {
        try decode(Array(bytes[..<length]))
      }
    }
    #expect(throws: (any Error).self, "a byte too many", sourceLocation: sourceLocation) {
      try decode(bytes + [0])
    }
    for damaged in flipped(bytes) {
      guard let value = try? decode(damaged), let reencode else { continue }
      #expect((try? decode(reencode(value))) == value, sourceLocation: sourceLocation)
    }
  }

  /// Bytes that no honest sender makes: cut off at each offset, and with each bit changed; of long ones as many as
  /// `limit` of both kinds, evenly spread.
  ///
  /// For a decoder that may take damaged bytes for good ones: it must come back, with a value in range or an error.
  package static func damaged(_ bytes: [UInt8], limit: Int = flipLimit) -> some Sequence<[UInt8]> {
    let cuts = spread(0, bytes.count, limit: limit).lazy.map { Array(bytes[..<$0]) }
    return [AnySequence(cuts), AnySequence(flipped(bytes, limit: limit))].lazy.joined()
  }

  /// The bytes cut into pieces of one size.
  package static func portions(of bytes: [UInt8], size: Int) -> [[UInt8]] {
    stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }
  }

  /// The bytes with one bit changed, for each bit, or for some thousands of them.
  package static func flipped(_ bytes: [UInt8], limit: Int = flipLimit) -> some Sequence<[UInt8]> {
    spread(0, bytes.count * 8, limit: limit).lazy.map { bit in
      var damaged = bytes
      damaged[bit / 8] ^= 1 << (bit % 8)
      return damaged
    }
  }

  private static func spread(_ start: Int, _ end: Int, limit: Int = flipLimit) -> StrideTo<Int> {
    // A step that is odd, so that it meets every bit of a byte.
    stride(from: start, to: end, by: max(1, (end - start) / max(limit, 1)) | 1)
  }
}
