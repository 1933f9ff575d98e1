// Feeds any bytes to the readers of parameter sets and configuration records. They may refuse, and must neither trap nor
// read outside, and what they accept must be in range and survive being written and read again.

import PortableMedia

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let choice = bytes.first else { return 0 }
  let input = Array(bytes.dropFirst())
  switch choice % 6 {
  case 0: if let set = try? HEVCSequenceParameterSet(unit: input) { check(set.width, set.height) }
  case 1: if let set = try? H264SequenceParameterSet(unit: input) { check(set.width, set.height) }
  case 2:
    guard let record = try? HEVCConfigurationRecord(parsing: input), let written = try? record.serialized() else {
      break
    }
    // Writing groups units by type, so the order may change once, and then no more.
    guard let again = try? HEVCConfigurationRecord(parsing: written) else { fatalError("hvcC can't be read back") }
    guard again.parameterSets.count == record.parameterSets.count, again.lengthSize == record.lengthSize,
      (try? again.serialized()) == written
    else { fatalError("hvcC changed") }
  case 3:
    guard let record = try? AVCConfigurationRecord(parsing: input), let written = try? record.serialized() else {
      break
    }
    guard let again = try? AVCConfigurationRecord(parsing: written), again == record else { fatalError("avcC changed") }
  case 4: describe(input, isHEVC: true)
  default: describe(input, isHEVC: false)
  }
  return 0
}

private func check(_ width: Int, _ height: Int) {
  guard (1...65_536).contains(width), (1...131_072).contains(height) else { fatalError("size out of range") }
}

/// The sets, each behind its length in a byte, as a format description, and out of it again.
private func describe(_ input: [UInt8], isHEVC: Bool) {
  var sets: [[UInt8]] = []
  var rest = input.dropFirst()
  while let length = rest.popFirst() {
    sets.append(Array(rest.prefix(Int(length))))
    rest = rest.dropFirst(Int(length))
  }
  guard let headerLength = input.first.map(Int32.init), !sets.isEmpty else { return }
  let description = CMFormatDescription?.made(sets, headerLength: headerLength, isHEVC: isHEVC)
  guard let description else { return }
  let size = CMVideoFormatDescriptionGetDimensions(description)
  check(Int(size.width), Int(size.height))
  for index in -1...sets.count {
    var pointer: UnsafePointer<UInt8>?
    var (length, count) = (0, 0)
    let call =
      isHEVC
      ? CMVideoFormatDescriptionGetHEVCParameterSetAtIndex : CMVideoFormatDescriptionGetH264ParameterSetAtIndex
    let status = call(description, index, &pointer, &length, &count, nil)
    guard count == sets.count, (status == noErr) == sets.indices.contains(index) else { fatalError("\(status)") }
    guard status == noErr else { continue }
    guard Array(UnsafeBufferPointer(start: pointer, count: length)) == sets[index] else { fatalError("a set changed") }
  }
}

extension CMFormatDescription? {
  fileprivate static func made(_ sets: [[UInt8]], headerLength: Int32, isHEVC: Bool) -> CMFormatDescription? {
    var made: CMFormatDescription?
    let bytes: [UInt8] = Array(sets.joined()) + [0]
    bytes.withUnsafeBufferPointer { bytes in
      guard var next = bytes.baseAddress else { return }
      var pointers: [UnsafePointer<UInt8>] = []
      for set in sets {
        pointers.append(next)
        next += set.count
      }
      let sizes = sets.map(\.count)
      if isHEVC {
        CMVideoFormatDescriptionCreateFromHEVCParameterSets(
          allocator: nil, parameterSetCount: sets.count, parameterSetPointers: pointers, parameterSetSizes: sizes,
          nalUnitHeaderLength: headerLength, extensions: nil, formatDescriptionOut: &made)
      } else {
        CMVideoFormatDescriptionCreateFromH264ParameterSets(
          allocator: nil, parameterSetCount: sets.count, parameterSetPointers: pointers, parameterSetSizes: sizes,
          nalUnitHeaderLength: headerLength, formatDescriptionOut: &made)
      }
    }
    return made
  }
}
