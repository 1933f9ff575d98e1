import CTurboJPEG

enum JPEGDecoder {
  static func decode(_ bytes: [UInt8]) throws(MediaError) -> StillImage {
    let decompressor = try TurboJPEG(.decompress)
    var width: Int32 = 0
    var height: Int32 = 0
    var subsampling: Int32 = 0
    var colourspace: Int32 = 0
    try decompressor.check("tjDecompressHeader3", while: .decoding, cause: .damagedPicture) {
      tjDecompressHeader3(
        decompressor.handle, bytes, UInt(bytes.count), &width, &height, &subsampling, &colourspace)
    }
    // Tables alone, as at the beginning of a file that is cut off, are no failure to TurboJPEG.
    guard width > 0, height > 0 else {
      throw MediaError(.damagedPicture, while: .decoding, "it ends before its picture")
    }
    let picture = try StillDecoder.buffer(width: Int(width), height: Int(height))
    let plane = try PlaneBytes.bgra(picture)
    // Scans are limited: a small file of thousands of progressive scans would take minutes.
    let flags = Int32(TJFLAG_LIMITSCANS | TJFLAG_STOPONWARNING)
    try decompressor.check("tjDecompress2", while: .decoding, cause: .damagedPicture) {
      tjDecompress2(
        decompressor.handle, bytes, UInt(bytes.count), plane.base, width, plane.stride, height,
        Int32(TJPF_BGRA.rawValue), flags)
    }
    let orientation = bytes.withUnsafeBytes { ExifOrientation.read(jpeg: $0) }
    return StillImage(picture: picture, orientation: orientation, format: .jpeg)
  }
}
