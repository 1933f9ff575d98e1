import CFFmpeg
import Units

/// Interleaved sound from one rate to another by libswresample, whose filter is centred: output begins with the first
/// input frame's time. Used by one thread at a time; freed with its owner.
///
/// Unchecked Sendable: it lives in its owner's mutex and nowhere else.
final class RateConverter: @unchecked Sendable {
  /// Frames at a time that the end is made of.
  private static let padding = 64

  let channels: Int
  private let context: OpaquePointer

  init(_ from: Int, _ to: Int, _ channels: Int) throws(MediaError) {
    self.channels = channels
    var layout = AVChannelLayout()
    av_channel_layout_default(&layout, Int32(channels))
    var outputLayout = layout
    var context: OpaquePointer?
    try LibAV.check("swr_alloc_set_opts2", while: .opening) {
      swr_alloc_set_opts2(
        &context, &outputLayout, AV_SAMPLE_FMT_FLT, Int32(to), &layout, AV_SAMPLE_FMT_FLT, Int32(from), 0, nil)
    }
    self.context = try LibAV.allocated("swr_alloc_set_opts2", while: .opening, context)
    do {
      try LibAV.check("swr_init", while: .opening, cause: .audioFormatNotSupported) { swr_init(context) }
    } catch {
      swr_free(&context)
      throw error
    }
  }

  deinit {
    var context: OpaquePointer? = context
    swr_free(&context)
  }

  func convert(_ samples: [Float]) throws(MediaError) -> [Float] {
    try samples.withUnsafeBytes { bytes in
      Result { () throws(MediaError) in
        var input = bytes.bindMemory(to: UInt8.self).baseAddress
        return try run(&input, frames: samples.count / channels)
      }
    }.get()
  }

  /// So many samples of what the filter holds back; it begins anew after it. The last frame stands for what follows it.
  /// (The library's own end yields a frame more or less, and nothing for the shortest runs.)
  func flush(repeating frame: [Float], samples wanted: Int) throws(MediaError) -> [Float] {
    let padding = (0..<Self.padding).flatMap { _ in frame }
    var rest: [Float] = []
    while rest.count < wanted, !padding.isEmpty { rest += try convert(padding) }
    if rest.count > wanted { rest.removeLast(rest.count - wanted) }
    swr_close(context)
    try LibAV.check("swr_init", while: .converting) { swr_init(context) }
    return rest
  }

  var delay: Duration { .nanoseconds(swr_get_delay(context, 1_000_000_000)) }

  private func run(
    _ input: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, frames: Int
  ) throws(MediaError) -> [Float] {
    // Says how many may come, which is never too few.
    let room = try LibAV.check("swr_get_out_samples", while: .converting) {
      swr_get_out_samples(context, Int32(clamping: frames))
    }
    var failure: MediaError?
    let output = [Float](unsafeUninitializedCapacity: Int(room) * channels) { buffer, count in
      let result = Result { () throws(MediaError) in
        try LibAV.check("swr_convert", while: .converting) {
          var output = UnsafeMutableRawPointer(buffer.baseAddress)?.assumingMemoryBound(to: UInt8.self)
          return swr_convert(context, &output, room, input, Int32(clamping: frames))
        }
      }
      switch result {
      case .success(let frames): count = Int(frames) * channels
      case .failure(let error): failure = error
      }
    }
    if let failure { throw failure }
    return output
  }
}
