// Any bytes as a still image: JPEG and PNG are decoded, the orientation is read, and stating one must be read back.
// HEIC goes to libheif whole, and nothing of it is read here; only what tells formats apart is.

import PortableMedia
import Units

@testable import MediaEngine

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzStills(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  let found = bytes.withUnsafeBytes { ExifOrientation.read(jpeg: $0) }
  if bytes.starts(with: [0xff, 0xd8]), bytes.count > 4, let last = bytes.last,
    let wanted = StillOrientation(rawValue: UInt16(last & 7) + 1), wanted != .up
  {
    let stated = JPEGOrientation.stating(wanted, in: bytes)
    guard stated.withUnsafeBytes({ ExifOrientation.read(jpeg: $0) }) == wanted else {
      fatalError("an orientation that was stated is not read")
    }
  }
  let format = StillDecoder.format(of: bytes)
  guard format != .heic else { return 0 }
  guard let still = try? StillDecoder.decode(bytes) else { return 0 }
  guard still.format == format, still.format == .png || still.orientation == found,
    1...StillLimits.maximumSide ~= still.picture.pixelWidth, 1...StillLimits.maximumSide ~= still.picture.pixelHeight
  else { fatalError("not what its bytes say") }
  if still.picture.pixelWidth * still.picture.pixelHeight < 4096 {
    guard let again = try? StillDecoder.decode((try? PNGCoder.encode(still.picture)) ?? []),
      again.picture.pixelWidth == still.picture.pixelWidth, again.picture.pixelHeight == still.picture.pixelHeight
    else { fatalError("a picture does not survive PNG") }
  }
  return 0
}
