import CHEIF
import MediaEngine

/// The library's context and its HEVC encoder, freed with the last reference.
final class HEIFEncoder {
  /// The slower presets take three times as long for files about a tenth smaller.
  private static let preset = "ultrafast"

  private let context: OpaquePointer
  private let encoder: OpaquePointer

  init(percent: Int32) throws(MediaError) {
    guard let context = heif_context_alloc() else { throw MediaError(.outOfMemory, while: .encoding) }
    var encoder: OpaquePointer?
    let result = heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder)
    guard result.code == heif_error_Ok, let encoder else {
      heif_context_free(context)
      throw MediaError(.codecNotSupported("HEVC"), while: .encoding, "libheif has no HEVC encoder")
    }
    self.context = context
    self.encoder = encoder
    try check(heif_encoder_set_lossy_quality(encoder, percent), "heif_encoder_set_lossy_quality")
    try check(heif_encoder_set_parameter_string(encoder, "preset", Self.preset), "heif_encoder_set_parameter_string")
    // x265 3.5 takes memory for this filter, and gives it back only where the filter is on: 120 KB for a picture of 12
    // megapixels. It costs no time that can be measured. Of no concern to another encoder, so nothing is checked.
    _ = heif_encoder_set_parameter_string(encoder, "x265:sao", "1")
  }

  deinit {
    heif_encoder_release(encoder)
    heif_context_free(context)
  }

  /// The bytes of a HEIC file with the image in it.
  func encode(_ image: HEIFImage, orientation: UInt8) throws(MediaError) -> [UInt8] {
    guard let options = heif_encoding_options_alloc() else { throw MediaError(.outOfMemory, while: .encoding) }
    defer { heif_encoding_options_free(options) }
    // The library's values are Exif's.
    options.pointee.image_orientation = heif_orientation(UInt32((1...8).contains(orientation) ? orientation : 1))
    // Otherwise the nclx box, and with it the range of the samples, is left out.
    options.pointee.macOS_compatibility_workaround_no_nclx_profile = 0
    var handle: OpaquePointer?
    try check(
      heif_context_encode_image(context, image.pointer, encoder, options, &handle), "heif_context_encode_image")
    heif_image_handle_release(handle)
    return try write()
  }

  private func write() throws(MediaError) -> [UInt8] {
    var writer = heif_writer()
    writer.writer_api_version = 1
    writer.write = { _, data, count, userData in
      let bytes = userData?.assumingMemoryBound(to: [UInt8].self)
      if let data { bytes?.pointee.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count)) }
      return heif_error(code: heif_error_Ok, subcode: heif_suberror_Unspecified, message: nil)
    }
    var bytes: [UInt8] = []
    let result = withUnsafeMutablePointer(to: &bytes) { heif_context_write(context, &writer, $0) }
    try check(result, "heif_context_write")
    return bytes
  }
}
