import CFFmpeg
import Units

/// HEVC with its times, in a container that needs no going back: NUT (FFmpeg's open container), for pipes.
///
/// Used by one thread at a time. Parameter sets stand in front of each sync unit as well, so a picture size may change on
/// the way, and a reader that comes late can begin at any sync unit.
package final class NUTWriter {
  private let output: OutputContext
  private let packet: Packet
  private var stamps: StampSequence

  /// Ticks of a second: those of MPEG-2 systems.
  private static let timescale: Int64 = 90_000

  /// Writes the header. The first unit's time becomes 0.
  ///
  /// Throws `.writingFailed`, `.outOfMemory`.
  package init(
    target: any MuxerTarget, configuration: HEVCConfiguration, frameInterval: Duration
  ) throws(MediaError) {
    output = try OutputContext(format: "nut", target: target)
    packet = try Packet()
    stamps = StampSequence(timescale: Self.timescale, frameInterval: frameInterval, origin: nil)
    let stream = try output.addStream()
    let parameters = try LibAV.allocated("avformat_new_stream", while: .opening, stream.pointee.codecpar)
    try Self.setExtradata(parameters, configuration.parameterSets)
    parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
    parameters.pointee.codec_id = AV_CODEC_ID_HEVC
    parameters.pointee.width = Int32(configuration.size.width)
    parameters.pointee.height = Int32(configuration.size.height)
    stream.pointee.time_base = AVRational(num: 1, den: Int32(Self.timescale))
    try output.writeHeader(options: [:])
  }

  /// Adds an access unit of a stream without B-frames, as `AnnexB.bytes` makes it; it is handed to the target at once.
  ///
  /// - Parameter presentation: when the picture is shown; nil if unknown. One that does not rise moves behind the last.
  ///
  /// Throws `.writingFailed`; every later call then throws too.
  package func append(_ bytes: [UInt8], isSync: Bool, presentation: Instant?) throws(MediaError) {
    let target = try packet.reserve(bytes.count, while: .writing)
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { target.copyMemory(from: base, byteCount: source.count) }
    }
    let tick = stamps.next(presentation)
    packet.pointer.pointee.pts = tick
    packet.pointer.pointee.dts = tick
    packet.pointer.pointee.flags = isSync ? AV_PKT_FLAG_KEY : 0
    try output.write(packet)
  }

  /// Ends the stream. Nothing is added afterwards.
  package func finish() throws(MediaError) { try output.writeTrailer() }

  private static func setExtradata(
    _ parameters: UnsafeMutablePointer<AVCodecParameters>, _ sets: [[UInt8]]
  ) throws(MediaError) {
    var bytes: [UInt8] = []
    for set in sets {
      bytes += AnnexB.startCode
      bytes += set
    }
    let size = bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)
    let extradata = try LibAV.allocated("av_mallocz", while: .opening, av_mallocz(size))
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { extradata.copyMemory(from: base, byteCount: source.count) }
    }
    parameters.pointee.extradata = extradata.assumingMemoryBound(to: UInt8.self)
    parameters.pointee.extradata_size = Int32(bytes.count)
  }
}
