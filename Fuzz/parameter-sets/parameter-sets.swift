// Feeds any bytes to the readers of parameter sets and configuration records. They may refuse, and must neither trap nor
// read outside, and what they accept must be in range and survive being written and read again.

import PortableMedia

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let choice = bytes.first else { return 0 }
  let input = Array(bytes.dropFirst())
  switch choice % 4 {
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
  default:
    guard let record = try? AVCConfigurationRecord(parsing: input), let written = try? record.serialized() else {
      break
    }
    guard let again = try? AVCConfigurationRecord(parsing: written), again == record else { fatalError("avcC changed") }
  }
  return 0
}

private func check(_ width: Int, _ height: Int) {
  guard (1...65_536).contains(width), (1...131_072).contains(height) else { fatalError("size out of range") }
}
