// A row of access units, each behind its length in two bytes, as a damaged or dishonest stream would bring them: what
// says where their parts lie must not read outside and must agree with itself, and the decoder must give a picture or
// an error for each, and be usable after it.

import PortableMedia
import Units

@testable import MediaEngine

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAccessUnits(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard let mode = input.first else { return 0 }
  let units = units(in: input.dropFirst())
  let coding: VideoCoding = mode & 1 == 0 ? .hevc : .h264
  for unit in units { check(unit, coding) }
  // Decoding costs a thousand times as much as the rest, so it isn't always done.
  if mode & 2 == 0 { decode(units, coding, hashes: mode & 4 != 0, planar: mode & 8 != 0) }
  return 0
}

private func units(in bytes: ArraySlice<UInt8>) -> [[UInt8]] {
  var units: [[UInt8]] = []
  var rest = bytes
  while rest.count > 2, units.count < 32 {
    let length = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
    units.append(Array(rest.dropFirst(2).prefix(length)))
    rest = rest.dropFirst(2 + length)
  }
  return units
}

/// The readers of lengths have to agree on what is whole, and on where the parameter sets lie.
private func check(_ unit: [UInt8], _ coding: VideoCoding) {
  unit.withUnsafeBytes { bytes in
    let isWhole = LengthPrefixedUnits(bytes: bytes).isWellFormed
    let outline = try? AccessUnitOutline(bytes, coding: coding, while: .decoding)
    guard isWhole == (outline != nil) else { fatalError("whole and readable are not the same") }
    if let outline, outline.isSync, !outline.hasPicture { fatalError("a sync unit without a picture") }
    guard coding == .hevc, let layout = AccessUnitLayout(unit) else { return }
    guard isWhole, let outline, outline.hasPicture, unit.indices.contains(layout.pictureStart),
      outline.isSync || !layout.isRandomAccess
    else { fatalError("the layout lies") }
    let leading = outline.parameterSets.filter { $0.lowerBound < layout.pictureStart }
    guard layout.parameterSets == leading else { fatalError("\(layout.parameterSets) and \(leading)") }
    if let configuration = try? HEVCConfiguration(parameterSets: layout.parameterSets.map { Array(unit[$0]) }) {
      guard configuration.size.width > 0, configuration.size.height > 0 else { fatalError("no size") }
    }
  }
}

private func decode(_ units: [[UInt8]], _ coding: VideoCoding, hashes: Bool, planar: Bool) {
  guard let decoder = try? VideoDecoder(codec: coding, verifiesPictureHashes: hashes) else {
    fatalError("no decoder")
  }
  var sets: [[UInt8]] = []
  for unit in units {
    unit.withUnsafeBytes { bytes in
      if let outline = try? AccessUnitOutline(bytes, coding: coding, while: .decoding), !outline.hasPicture {
        sets = outline.parameterSets.map { Array(bytes[$0]) }
      }
      let picture = try? decoder.decode(bytes, parameterSets: sets, output: planar ? .planar : .biPlanar)
      if let picture { touch(picture) }
    }
  }
  for picture in (try? decoder.drain()) ?? [] { touch(picture) }
}

/// The last byte of each plane is there.
private func touch(_ picture: CVPixelBuffer) {
  guard picture.pixelWidth > 0, picture.pixelHeight > 0 else { fatalError("an empty picture") }
  for index in 0..<picture.memoryPlaneCount {
    guard let plane = picture.plane(index) else { fatalError("a plane is missing") }
    _ = plane.base.load(fromByteOffset: plane.bytesPerRow * (plane.height - 1) + plane.width - 1, as: UInt8.self)
  }
}
