import CFFmpeg

/// One AVFrame, freed with its owner.
///
/// Unchecked Sendable: whoever fills it is the only one to know it; once it backs a pixel buffer it is only read.
final class Frame: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<AVFrame>

  init() throws(MediaError) {
    pointer = try LibAV.allocated("av_frame_alloc", while: .opening, av_frame_alloc())
  }

  deinit {
    var frame: UnsafeMutablePointer<AVFrame>? = pointer
    av_frame_free(&frame)
  }

  /// Lets go of the picture.
  func clear() { av_frame_unref(pointer) }

  var width: Int { Int(pointer.pointee.width) }
  var height: Int { Int(pointer.pointee.height) }
  var pixelFormat: AVPixelFormat { AVPixelFormat(pointer.pointee.format) }
}
