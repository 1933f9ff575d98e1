import CFFmpeg
import Glibc

/// An AVFormatContext that writes into a `MuxerTarget`. Used by one thread at a time; freed with its owner, without a
/// trailer unless `writeTrailer` was called.
final class OutputContext {
  /// What the callbacks of C are given: a protocol's value has no address.
  private final class Door {
    let target: any MuxerTarget

    init(_ target: any MuxerTarget) { self.target = target }
  }

  private let door: Door
  private let context: UnsafeMutablePointer<AVFormatContext>
  private let io: UnsafeMutablePointer<AVIOContext>

  /// Bytes gathered before they are handed to the system.
  private static let bufferSize = 65536

  init(format: String, target: any MuxerTarget) throws(MediaError) {
    door = Door(target)
    let buffer = try LibAV.allocated("av_malloc", while: .opening, av_malloc(Self.bufferSize))
    // The context is freed before `door` is released, so the callbacks' reference needs no count.
    let opaque = Unmanaged.passUnretained(door).toOpaque()
    let io = avio_alloc_context(
      buffer.assumingMemoryBound(to: UInt8.self), Int32(Self.bufferSize), 1, opaque, nil,
      { opaque, bytes, count in OutputContext.write(opaque, bytes, count) },
      target.isSeekable ? { opaque, offset, whence in OutputContext.seek(opaque, offset, whence) } : nil)
    guard let io else {
      av_free(buffer)
      throw MediaError(.outOfMemory, while: .opening, "avio_alloc_context returned nothing")
    }
    var context: UnsafeMutablePointer<AVFormatContext>?
    let code = avformat_alloc_output_context2(&context, nil, format, nil)
    guard code >= 0, let context else {
      Self.free(io)
      throw LibAV.error(
        "avformat_alloc_output_context2", code, while: .opening, cause: .libraryFailure, lines: LibAVLog.Lines())
    }
    self.io = io
    self.context = context
    context.pointee.pb = io
    context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
    // Every fragment goes to the system as soon as it is complete, else a kill takes what the buffer holds.
    context.pointee.flush_packets = 1
    // FLAC in MP4 has been written by a specification of its own since 2016, which this version calls experimental.
    context.pointee.strict_std_compliance = FF_COMPLIANCE_EXPERIMENTAL
  }

  deinit {
    avformat_free_context(context)
    Self.free(io)
  }

  /// Adds a track and returns it, to be filled in before `writeHeader`.
  func addStream() throws(MediaError) -> UnsafeMutablePointer<AVStream> {
    try LibAV.allocated("avformat_new_stream", while: .opening, avformat_new_stream(context, nil))
  }

  func writeHeader(options: [String: String]) throws(MediaError) {
    var dictionary: OpaquePointer?
    defer { av_dict_free(&dictionary) }
    for (key, value) in options { av_dict_set(&dictionary, key, value, 0) }
    try check("avformat_write_header") { avformat_write_header(context, &dictionary) }
    try handOver("avformat_write_header")
  }

  /// Writes a packet, or with nil ends the fragment so far and hands it to the system.
  func write(_ packet: Packet?) throws(MediaError) {
    try check("av_write_frame") { av_write_frame(context, packet?.pointer) }
    try handOver("av_write_frame")
  }

  /// Has the next fragment of MP4 or MOV begin at its first packet's own time. The muxer else has it begin where the
  /// one before it ended, by the length that was said of its last packet. To be called between two fragments.
  func keepNextTime() throws(MediaError) {
    try LibAV.check("av_opt_set", while: .writing) {
      av_opt_set(context.pointee.priv_data, "movflags", "+frag_discont", 0)
    }
  }

  /// Leaves a hole of so many bytes.
  func skip(bytes: Int64) throws(MediaError) {
    try LibAV.check("avio_seek", while: .writing) { avio_skip(io, bytes) < 0 ? glasswing_averror(EIO) : 0 }
  }

  func writeTrailer() throws(MediaError) {
    try check("av_write_trailer") { av_write_trailer(context) }
    try handOver("av_write_trailer")
  }

  /// Hands what is gathered to the system. Muxers gather a fragment in memory of their own and give it away whole, so
  /// the file ends between two of them now.
  private func handOver(_ function: String) throws(MediaError) {
    try check(function) {
      avio_flush(io)
      return 0
    }
    door.target.markWhole()
  }

  /// Cuts the file back to its last whole part when the body fails. A failure of the file is kept by the I/O context,
  /// also when the call that met it has returned well.
  private func check(_ function: String, _ body: () -> Int32) throws(MediaError) {
    do {
      try LibAV.check(function, while: .writing, cause: .writingFailed) {
        let code = body()
        return code >= 0 && io.pointee.error < 0 ? io.pointee.error : code
      }
    } catch {
      door.target.cutToWhole()
      throw error.about(path: door.target.path)
    }
  }

  private static func free(_ io: UnsafeMutablePointer<AVIOContext>) {
    av_freep(&io.pointee.buffer)
    var io: UnsafeMutablePointer<AVIOContext>? = io
    avio_context_free(&io)
  }

  private static func write(_ opaque: UnsafeMutableRawPointer?, _ bytes: UnsafeMutablePointer<UInt8>?, _ count: Int32)
    -> Int32
  {
    guard let opaque, let bytes else { return glasswing_averror(EINVAL) }
    let target = Unmanaged<Door>.fromOpaque(opaque).takeUnretainedValue().target
    let code = target.write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return code == 0 ? count : glasswing_averror(code)
  }

  private static func seek(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let opaque, whence == SEEK_SET || whence == SEEK_CUR || whence == SEEK_END else {
      // AVSEEK_SIZE among them: muxers live without it.
      return Int64(glasswing_averror(ENOSYS))
    }
    return Unmanaged<Door>.fromOpaque(opaque).takeUnretainedValue().target.seek(to: offset, from: whence)
  }
}
