import CHEIF
import CYUV

/// HEIC images, by libheif.
enum HEICDecoder {
  /// The primary image. libheif applies the file's rotation and mirroring, so it is upright.
  static func decode(_ bytes: [UInt8]) throws(MediaError) -> StillImage {
    let context = try Handle("heif_context_alloc", heif_context_alloc(), free: heif_context_free)
    heif_context_set_maximum_image_size_limit(context.pointer, Int32(StillLimits.maximumSide))
    // The context refers to the bytes while the closure runs, and no longer.
    let result = bytes.withUnsafeBytes { bytes -> Result<StillImage, MediaError> in
      do throws(MediaError) {
        try check("heif_context_read_from_memory_without_copy") {
          heif_context_read_from_memory_without_copy(context.pointer, bytes.baseAddress, bytes.count, nil)
        }
        return .success(try primaryImage(context))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }

  private static func primaryImage(_ context: Handle) throws(MediaError) -> StillImage {
    var found: OpaquePointer?
    try check("heif_context_get_primary_image_handle") {
      heif_context_get_primary_image_handle(context.pointer, &found)
    }
    let primary = try Handle("heif_context_get_primary_image_handle", found, free: heif_image_handle_release)
    let width = Int(heif_image_handle_get_width(primary.pointer))
    let height = Int(heif_image_handle_get_height(primary.pointer))
    try StillLimits.check(width: width, height: height, while: .decoding)
    var decoded: OpaquePointer?
    try check("heif_decode_image") {
      heif_decode_image(primary.pointer, &decoded, heif_colorspace_RGB, heif_chroma_interleaved_RGBA, nil)
    }
    let image = try Handle("heif_decode_image", decoded, free: heif_image_release)
    return try still(image)
  }

  private static func still(_ image: Handle) throws(MediaError) -> StillImage {
    let width = heif_image_get_width(image.pointer, heif_channel_interleaved)
    let height = heif_image_get_height(image.pointer, heif_channel_interleaved)
    var stride: Int32 = 0
    guard let rgba = heif_image_get_plane_readonly(image.pointer, heif_channel_interleaved, &stride) else {
      throw MediaError(.libraryFailure, while: .decoding, "heif_image_get_plane_readonly returned nothing")
    }
    let picture = try StillDecoder.buffer(width: Int(width), height: Int(height))
    let target = try PlaneBytes.bgra(picture)
    try checkYUV("ABGRToARGB", ABGRToARGB(rgba, stride, target.base, target.stride, width, height))
    return StillImage(picture: picture, orientation: .up, format: .heic)
  }

  private static func check(_ function: String, _ body: () -> heif_error) throws(MediaError) {
    let error = body()
    guard error.code != heif_error_Ok else { return }
    let text = error.message.map { String(cString: $0) } ?? ""
    let cause: MediaError.Cause = error.code == heif_error_Memory_allocation_error ? .sizeNotSupported : .damagedPicture
    let code = Int32(bitPattern: error.code.rawValue)
    throw MediaError(cause, while: .decoding, library: .init(function: function, code: code, text: text))
  }

  /// One object of libheif's, freed with its owner. Used by one thread at a time.
  private final class Handle {
    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    init(_ function: String, _ pointer: OpaquePointer?, free: @escaping (OpaquePointer?) -> Void) throws(MediaError) {
      guard let pointer else { throw MediaError(.outOfMemory, while: .decoding, "\(function) returned nothing") }
      self.pointer = pointer
      self.free = free
    }

    deinit { free(pointer) }
  }
}
