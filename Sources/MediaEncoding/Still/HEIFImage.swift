import CHEIF
import MediaEngine
import PortableMedia

/// A picture in the library's memory, freed with the last reference.
final class HEIFImage {
  let pointer: OpaquePointer

  init(_ picture: CVPixelBuffer) throws(MediaError) {
    var image: OpaquePointer?
    try check(
      heif_image_create(
        Int32(picture.pixelWidth), Int32(picture.pixelHeight), heif_colorspace_YCbCr, heif_chroma_420, &image),
      "heif_image_create")
    guard let image else { throw MediaError(.outOfMemory, while: .encoding) }
    pointer = image
    try copyPlanes(of: picture)
    try setColours(isFull: Self.isFullRange(picture.pixelFormat), is709: picture.is709)
  }

  deinit { heif_image_release(pointer) }

  private static func isFullRange(_ format: OSType) -> Bool {
    format == kCVPixelFormatType_420YpCbCr8BiPlanarFullRange || format == kCVPixelFormatType_420YpCbCr8PlanarFullRange
  }

  private func copyPlanes(of picture: CVPixelBuffer) throws(MediaError) {
    let unsupported = MediaError(.pixelFormatNotSupported, while: .encoding, "y420, 420v and 420f are")
    switch picture.pixelFormat {
    case kCVPixelFormatType_420YpCbCr8Planar, kCVPixelFormatType_420YpCbCr8PlanarFullRange:
      for (index, channel) in [heif_channel_Y, heif_channel_Cb, heif_channel_Cr].enumerated() {
        guard let source = picture.plane(index) else { throw unsupported }
        try copy(source, to: channel)
      }
    case kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange:
      guard let luma = picture.plane(0), let chroma = picture.plane(1) else { throw unsupported }
      try copy(luma, to: heif_channel_Y)
      try copy(chroma, to: heif_channel_Cb, step: 2, offset: 0)
      try copy(chroma, to: heif_channel_Cr, step: 2, offset: 1)
    default: throw unsupported
    }
  }

  /// Every `step`th byte of each row, from `offset` on.
  private func copy(_ source: CVPixelBuffer.PlaneView, to channel: heif_channel, step: Int = 1, offset: Int = 0)
    throws(MediaError)
  {
    try check(
      heif_image_add_plane(pointer, channel, Int32(source.width), Int32(source.height), 8), "heif_image_add_plane")
    var stride: Int32 = 0
    guard let target = heif_image_get_plane(pointer, channel, &stride), Int(stride) >= source.width else {
      throw MediaError(.outOfMemory, while: .encoding)
    }
    for row in 0..<source.height {
      let from = source.base.assumingMemoryBound(to: UInt8.self) + row * source.bytesPerRow + offset
      let to = target + row * Int(stride)
      if step == 1 {
        to.update(from: from, count: source.width)
      } else {
        for column in 0..<source.width { to[column] = from[column * step] }
      }
    }
  }

  /// Says which range and matrix the samples have. Without it the library takes them for full range, and black turns grey.
  private func setColours(isFull: Bool, is709: Bool) throws(MediaError) {
    guard let profile = heif_nclx_color_profile_alloc() else { throw MediaError(.outOfMemory, while: .encoding) }
    defer { heif_nclx_color_profile_free(profile) }
    profile.pointee.full_range_flag = isFull ? 1 : 0
    profile.pointee.matrix_coefficients =
      is709 ? heif_matrix_coefficients_ITU_R_BT_709_5 : heif_matrix_coefficients_ITU_R_BT_601_6
    // As for sRGB.
    profile.pointee.color_primaries = heif_color_primaries_ITU_R_BT_709_5
    profile.pointee.transfer_characteristics = heif_transfer_characteristic_IEC_61966_2_1
    try check(heif_image_set_nclx_color_profile(pointer, profile), "heif_image_set_nclx_color_profile")
  }
}

func check(_ error: heif_error, _ function: String) throws(MediaError) {
  guard error.code != heif_error_Ok else { return }
  let text = error.message.map { String(cString: $0) } ?? ""
  throw MediaError(
    .libraryFailure, while: .encoding,
    library: .init(function: function, code: Int32(bitPattern: error.code.rawValue), text: text))
}
