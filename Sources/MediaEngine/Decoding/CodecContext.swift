import CFFmpeg

/// An opened decoder of libavcodec with one thread: frame threads would hold back a picture each, and more threads cost
/// more processor time for pictures of this size. Used by one thread at a time.
final class CodecContext {
  let pointer: UnsafeMutablePointer<AVCodecContext>
  /// What the last `send` and `receive` logged at level error. libavcodec says there, and only there, that a picture's
  /// references are missing.
  private(set) var complaints: String?

  /// Opens a decoder.
  ///
  /// - Parameters:
  ///   - name: the decoder to take where there is one of that name.
  ///   - parameters: the stream's parameters from a demuxer.
  ///   - configure: called before opening.
  init(
    decoder id: AVCodecID, preferring name: String? = nil, parameters: UnsafePointer<AVCodecParameters>? = nil,
    configure: (inout AVCodecContext) -> Void = { _ in }
  ) throws(MediaError) {
    LibAVLog.install()
    let codecName = String(cString: avcodec_get_name(id))
    guard let codec = name.flatMap({ avcodec_find_decoder_by_name($0) }) ?? avcodec_find_decoder(id) else {
      throw MediaError(.codecNotSupported(codecName), while: .opening)
    }
    pointer = try LibAV.allocated("avcodec_alloc_context3", while: .opening, avcodec_alloc_context3(codec))
    pointer.pointee.thread_count = 1
    if let parameters {
      try LibAV.check("avcodec_parameters_to_context", while: .opening) {
        avcodec_parameters_to_context(pointer, parameters)
      }
    }
    configure(&pointer.pointee)
    try LibAV.check("avcodec_open2", while: .opening, cause: .codecNotSupported(codecName)) {
      avcodec_open2(pointer, codec, nil)
    }
  }

  deinit {
    var context: UnsafeMutablePointer<AVCodecContext>? = pointer
    avcodec_free_context(&context)
  }

  /// Gives the decoder a packet, or nil for the end. False when it wants its pictures taken first.
  func send(_ packet: Packet?) throws(MediaError) -> Bool {
    complaints = nil
    let outcome = try LibAV.outcome(
      "avcodec_send_packet", while: .decoding, cause: .damagedPicture, log: { note($0) }
    ) { avcodec_send_packet(pointer, packet?.pointer) }
    switch outcome {
    case .value, .ended: return true
    case .again: return false
    }
  }

  /// Takes the next picture. False when there is none before more packets come, or at the end.
  func receive(_ frame: Frame) throws(MediaError) -> Bool {
    let outcome = try LibAV.outcome(
      "avcodec_receive_frame", while: .decoding, cause: .damagedPicture, log: { note($0) }
    ) { avcodec_receive_frame(pointer, frame.pointer) }
    switch outcome {
    case .value: return true
    case .again, .ended: return false
    }
  }

  /// Forgets all packets and pictures; the next packet may be from elsewhere.
  func flush() { avcodec_flush_buffers(pointer) }

  private func note(_ lines: LibAVLog.Lines) {
    guard !lines.isEmpty else { return }
    complaints = complaints.map { "\($0); \(lines.text)" } ?? lines.text
  }
}
