import LinkProtocol
import TestSupport
import Testing

/// Records byte by byte; docs/protocol.md shows the same.
@Suite struct StreamRecordTests {
  private static let token = StreamToken(Array(0x10...0x1f))

  private static let fixtures: [(StreamRecord, [UInt8])] = [
    (.begin(.none, received: 0), [1] + Array(repeating: 0, count: 24)),
    (.begin(token ?? .none, received: 5), [1] + Array(0x10...0x1f) + [0, 0, 0, 0, 0, 0, 0, 5]),
    (.begun(token ?? .none, received: 1 << 40), [2] + Array(0x10...0x1f) + [0, 0, 1, 0, 0, 0, 0, 0]),
    (.refused(.unknownStream), [3, 1]),
    (.refused(.lost), [3, 2]),
    (.received(4_294_967_296), [5, 0, 0, 0, 1, 0, 0, 0, 0]),
    (.end, [6]),
  ]

  /// What a reader makes of portions, with bytes of the stream joined.
  private static func read(_ portions: [[UInt8]]) -> [String] {
    var reader = StreamRecordReader()
    var items: [String] = []
    var run: [UInt8] = []
    for portion in portions {
      var position = 0
      do {
        while let item = try reader.next(in: portion, from: &position) {
          switch item {
          case .bytes(let range): run += portion[range]
          case .record(let record):
            if !run.isEmpty { items.append("\(run)") }
            run = []
            items.append("\(record)")
          }
        }
      } catch {
        return items + ["\(run)", "\(error)"]
      }
    }
    return items + ["\(run)"]
  }

  @Test("Each record has the bytes of the document, and reads back")
  func records() throws {
    for (record, bytes) in Self.fixtures {
      #expect(record.encoded == bytes)
      #expect(Self.read([bytes]) == ["\(record)", "[]"])
    }
    #expect(StreamRecord.data(length: 258).encoded == [4, 1, 2])
    #expect(Self.read([[4, 0, 2, 7, 8, 4, 0, 1, 9, 6]]) == ["[7, 8, 9]", "\(StreamRecord.end)", "[]"])
  }

  @Test("A record means the same however it arrives, and none that is cut or changed traps")
  func damage() {
    let stream = Self.fixtures.flatMap(\.1) + [4, 0, 5, 1, 2, 3, 4, 5] + StreamRecord.received(7).encoded
    DecoderVerifier.verifyStream(stream, decode: Self.read)
  }

  @Test("Unknown kinds and empty runs are errors; a refusal of a newer server reads as one without a reason")
  func refusals() {
    #expect(Self.read([[0]]).last?.contains("kind of record has the value 0") == true)
    #expect(Self.read([[7]]).last?.contains("kind of record has the value 7") == true)
    #expect(Self.read([[4, 0, 0]]).last?.contains("length has the value 0") == true)
    #expect(Self.read([[3, 99]]) == ["\(StreamRecord.refused(.other))", "[]"])
    #expect(StreamToken([1, 2]) == nil)
  }
}
