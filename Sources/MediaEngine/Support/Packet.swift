import CFFmpeg

/// One AVPacket, freed with its owner. Used by one thread at a time.
final class Packet {
  let pointer: UnsafeMutablePointer<AVPacket>

  init() throws(MediaError) {
    pointer = try LibAV.allocated("av_packet_alloc", while: .opening, av_packet_alloc())
  }

  deinit {
    var packet: UnsafeMutablePointer<AVPacket>? = pointer
    av_packet_free(&packet)
  }

  /// Lets go of the bytes and resets all fields.
  func clear() { av_packet_unref(pointer) }

  /// Room for `count` bytes to write into, with FFmpeg's cleared padding behind them. The last bytes' memory is used
  /// again when nobody else refers to it.
  func reserve(_ count: Int, while stage: MediaError.Stage) throws(MediaError) -> UnsafeMutableRawPointer {
    let padding = Int(AV_INPUT_BUFFER_PADDING_SIZE)
    guard count >= 0, count < Int(Int32.max) - padding else {
      throw MediaError(.malformedData, while: stage, "\(count) bytes are more than a packet may hold")
    }
    if let buffer = pointer.pointee.buf, buffer.pointee.size >= count + padding, av_buffer_is_writable(buffer) == 1 {
      pointer.pointee.data = buffer.pointee.data
      pointer.pointee.size = Int32(count)
    } else {
      clear()
      // Some room to spare, so that units of like size share one block.
      try LibAV.check("av_new_packet", while: stage) { av_new_packet(pointer, Int32(count.addingSpare)) }
      pointer.pointee.size = Int32(count)
    }
    guard let data = pointer.pointee.data else {
      throw MediaError(.outOfMemory, while: stage, "a packet without memory")
    }
    (data + count).initialize(repeating: 0, count: padding)
    return UnsafeMutableRawPointer(data)
  }
}

extension Int {
  /// A quarter more, kept within what a packet may hold.
  fileprivate var addingSpare: Int {
    let most = Int(Int32.max) - Int(AV_INPUT_BUFFER_PADDING_SIZE)
    return self > most / 4 * 3 ? self : self + self / 4
  }
}
