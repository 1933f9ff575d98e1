import CFFmpeg

/// One AVFrame, freed with its owner. Used by one thread at a time until it is handed on as a read-only picture.
final class Frame {
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
