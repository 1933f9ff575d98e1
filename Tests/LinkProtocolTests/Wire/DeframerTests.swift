import LinkProtocol
import TestSupport
import Testing

@Suite("Deframer")
struct DeframerTests {
  private enum Outcome: Equatable {
    case payloads([String: [UInt8]])
    case failed(LinkProtocolError)
  }

  /// All payload, put where it says it belongs, however the portions fell.
  private func deframe(_ portions: [[UInt8]]) -> Outcome {
    var deframer = Deframer()
    var payloads: [String: [UInt8]] = [:]
    do throws(LinkProtocolError) {
      for portion in portions {
        var position = 0
        while let piece = try deframer.next(in: portion, from: &position) {
          let key = "\(piece.channel) \(piece.sequence) \(piece.total)"
          let known = payloads[key, default: []]
          guard piece.offset <= 4096, known.count <= 4096 else { continue }
          let padding = [UInt8](repeating: 0, count: max(0, piece.offset - known.count))
          payloads[key] = known + padding + portion[piece.range]
        }
        #expect(position == portion.count)
      }
      return .payloads(payloads)
    } catch {
      return .failed(error)
    }
  }

  private func chunk(
    _ channel: UInt8, sequence: UInt32 = 0, offset: UInt32 = 0, total: UInt32, payload: [UInt8]
  ) -> [UInt8] {
    var bytes: [UInt8] = []
    ChunkHeader(
      channel: channel, payloadLength: UInt16(payload.count), sequence: sequence, offset: offset, total: total
    ).append(to: &bytes)
    return bytes + payload
  }

  @Test("gives the same for any portions, and withstands all damage")
  func verified() {
    let bytes =
      chunk(0, total: 3, payload: [1, 2, 3])
      + chunk(2, sequence: .max, total: 40, payload: Array(0..<30))
      + chunk(9, sequence: 4, total: 1, payload: [7])
      + chunk(2, sequence: .max, offset: 30, total: 40, payload: Array(30..<40))
    DecoderVerifier.verifyStream(bytes, decode: deframe)
    #expect(
      deframe([bytes])
        == .payloads(["0 0 3": [1, 2, 3], "2 \(UInt32.max) 40": Array(0..<40), "9 4 1": [7]]))
  }

  @Test("reads the documented chunks of an access unit")
  func documented() {
    let first: [UInt8] = [2, 0, 0, 16, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 27] + Array(1...16)
    let second: [UInt8] = [2, 1, 0, 11, 0, 0, 0, 5, 0, 0, 0, 16, 0, 0, 0, 27] + Array(17...27)
    #expect(deframe([first + second]) == .payloads(["2 5 27": Array(1...27)]))
  }

  @Test("refuses a header that contradicts itself")
  func badHeaders() {
    func refuses(_ header: [UInt8], _ cause: LinkProtocolError.Cause) {
      #expect(deframe([header]) == .failed(LinkProtocolError(cause, stage: .framing)))
    }
    refuses([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], .emptyChunk)
    refuses([0, 2, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], .reservedFlags(2))
    refuses([0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], .lastFlagWrong)
    refuses([0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2], .lastFlagWrong)
    refuses(
      [0, 1, 0, 2, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
      .chunkOutsideUnit(offset: .max, length: 2, total: .max))
  }
}

@Suite("Serial numbers")
struct SerialNumberTests {
  @Test("are ordered around the wrap")
  func order() {
    let last = SerialNumber(.max)
    #expect(last.precedes(SerialNumber(0)))
    #expect(!SerialNumber(0).precedes(last))
    #expect(last.distance(to: SerialNumber(2)) == 3)
    #expect(last.advanced(by: 1) == SerialNumber(0))
    #expect(!last.precedes(last))
    // Half the circle apart: undefined by RFC 1982, neither here.
    #expect(!SerialNumber(0).precedes(SerialNumber(1 << 31)))
    #expect(!SerialNumber(1 << 31).precedes(SerialNumber(0)))
    #expect(SerialNumber(0).precedes(SerialNumber(1 << 31 - 1)))
  }
}
