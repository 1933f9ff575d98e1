/// Parameter sets of one video track, at addresses that last as long as this object.
final class ParameterSets: Sendable {
  enum Codec { case hevc, h264 }

  let codec: Codec
  /// Bytes of the length before each NAL unit of a sample.
  let lengthSize: Int
  let width: Int
  let height: Int
  /// The content of `hvcC` or `avcC`.
  let record: [UInt8]
  private let memory: BlockMemory
  private let ranges: [Range<Int>]

  /// - Throws: ``MediaStatusError`` unless every kind of set that the codec needs is there and the first sequence
  ///   parameter set is readable.
  init(codec: Codec, units: [[UInt8]], lengthSize: Int, record given: [UInt8]? = nil) throws(MediaStatusError) {
    guard [1, 2, 4].contains(lengthSize), Self.isComplete(units, codec) else {
      throw MediaStatusError(status: kCMFormatDescriptionError_InvalidParameter)
    }
    self.codec = codec
    self.lengthSize = lengthSize
    do {
      switch codec {
      case .hevc:
        let record = HEVCConfigurationRecord(parameterSets: units, lengthSize: lengthSize)
        let sequence = try record.sequence()
        (width, height) = (sequence.width, sequence.height)
        self.record = try given ?? record.serialized()
      case .h264:
        let record = AVCConfigurationRecord(parameterSets: units, lengthSize: lengthSize)
        let sequence = try record.sequence()
        (width, height) = (sequence.width, sequence.height)
        self.record = try given ?? record.serialized()
      }
    } catch {
      throw MediaStatusError(status: kCMFormatDescriptionError_InvalidParameter)
    }
    guard let memory = BlockMemory(byteCount: units.reduce(0) { $0 + $1.count }) else {
      throw MediaStatusError(status: kCMFormatDescriptionError_AllocationFailed)
    }
    var offset = 0
    var ranges: [Range<Int>] = []
    for unit in units {
      unit.withUnsafeBytes { bytes in
        if let base = bytes.baseAddress { (memory.base + offset).copyMemory(from: base, byteCount: bytes.count) }
      }
      ranges.append(offset..<offset + unit.count)
      offset += unit.count
    }
    self.memory = memory
    self.ranges = ranges
  }

  /// Reads the record that a file keeps for its track.
  convenience init(codec: Codec, record: [UInt8]) throws(MediaStatusError) {
    let units: [[UInt8]]
    let lengthSize: Int
    do {
      switch codec {
      case .hevc:
        let parsed = try HEVCConfigurationRecord(parsing: record)
        (units, lengthSize) = (parsed.parameterSets, parsed.lengthSize)
      case .h264:
        let parsed = try AVCConfigurationRecord(parsing: record)
        (units, lengthSize) = (parsed.parameterSets, parsed.lengthSize)
      }
    } catch {
      throw MediaStatusError(status: kCMFormatDescriptionError_InvalidParameter)
    }
    try self.init(codec: codec, units: units, lengthSize: lengthSize, record: record)
  }

  private static func isComplete(_ units: [[UInt8]], _ codec: Codec) -> Bool {
    switch codec {
    case .hevc:
      let types = units.map(NALUnitType.hevc)
      return [NALUnitType.hevcVideo, NALUnitType.hevcSequence, NALUnitType.hevcPicture].allSatisfy(types.contains)
    case .h264:
      let types = units.map(NALUnitType.h264)
      return [NALUnitType.h264Sequence, NALUnitType.h264Picture].allSatisfy(types.contains)
    }
  }

  var count: Int { ranges.count }

  subscript(index: Int) -> UnsafeBufferPointer<UInt8> {
    let range = ranges[index]
    return UnsafeBufferPointer(
      start: (memory.base + range.lowerBound).assumingMemoryBound(to: UInt8.self), count: range.count)
  }

  /// Copies of all sets.
  var units: [[UInt8]] { ranges.indices.map { Array(self[$0]) } }
}
