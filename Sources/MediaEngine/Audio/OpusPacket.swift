/// Opus packets as bytes (RFC 6716, 3).
package enum OpusPacket {
  /// Two packets of a frame each as one packet of two frames; nil where the two don't go together.
  package static func joined(_ first: [UInt8], _ second: [UInt8]) -> [UInt8]? {
    // The configuration and the channels must be the same; the lower two bits say how many frames there are: one (3.1).
    guard let toc = first.first, toc == second.first, toc & 3 == 0 else { return nil }
    let length = first.count - 1
    guard length <= longestFrame, second.count - 1 <= longestFrame else { return nil }
    // Two frames of different lengths (3.2.4): the first one's length (3.2.1), then both.
    let coded =
      length < 252 ? [UInt8(length)] : [UInt8(252 + (length & 3)), UInt8((length - 252 - (length & 3)) / 4)]
    return [toc | 2] + coded + first.dropFirst() + second.dropFirst()
  }

  private static let longestFrame = 1275
}
