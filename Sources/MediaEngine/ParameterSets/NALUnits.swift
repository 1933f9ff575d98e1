/// NAL units of one access unit, each behind its length in 4 bytes, big-endian (ISO/IEC 14496-15, 4.3).
///
/// A view: valid as long as the bytes under it. Iterating yields the offsets of well-formed units and stops at the first
/// length that points outside; `isWellFormed` tells beforehand.
struct LengthPrefixedUnits: Sequence {
  /// Bytes of a length. Also those of the longer start code of Annex B, which is why one can take the other's place.
  static let prefixLength = 4

  let bytes: UnsafeRawBufferPointer

  /// True when lengths and units fill the bytes exactly, there is at least one unit, and none is empty.
  var isWellFormed: Bool {
    var end = 0
    for unit in self { end = unit.upperBound }
    return end == bytes.count && end > 0
  }

  func makeIterator() -> Iterator { Iterator(bytes: bytes) }

  struct Iterator: IteratorProtocol {
    let bytes: UnsafeRawBufferPointer
    private var position = 0

    fileprivate init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    /// Offsets of the next unit, without its length.
    mutating func next() -> Range<Int>? {
      guard bytes.count - position > LengthPrefixedUnits.prefixLength else { return nil }
      let length = Int(UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
      let start = position + LengthPrefixedUnits.prefixLength
      guard length > 0, length <= bytes.count - start else { return nil }
      position = start + length
      return start..<position
    }
  }
}

/// What an access unit consists of, as far as decoder and muxer need to know.
struct AccessUnitOutline {
  /// Parameter sets that ride in the unit, in order.
  var parameterSets: [Range<Int>] = []
  /// True when its picture decodes without any other.
  var isSync = false
  /// True when there is any slice at all.
  var hasPicture = false

  /// Throws `.malformedData` when lengths and units don't fit.
  init(_ bytes: UnsafeRawBufferPointer, coding: VideoCoding, while stage: MediaError.Stage) throws(MediaError) {
    let units = LengthPrefixedUnits(bytes: bytes)
    var end = 0
    for unit in units {
      end = unit.upperBound
      let type = coding.unitType(firstByte: bytes[unit.lowerBound])
      if coding.isParameterSet(type: type) {
        parameterSets.append(unit)
      } else if coding.isSlice(type: type) {
        hasPicture = true
        if coding.isSync(type: type) { isSync = true }
      }
    }
    guard end == bytes.count, end > 0 else {
      throw MediaError(
        .malformedData, while: stage, "a NAL unit's length at byte \(end) of \(bytes.count) does not fit")
    }
  }
}
