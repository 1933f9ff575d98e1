import CFFmpeg
import Units

/// An opened media file and the one track of it that is read. Used by one thread at a time.
///
/// Opening is bounded by what FFmpeg may read and analyse, since there is no clock here: regular files only, no other file
/// or address that a playlist in it may name.
final class InputContext {
  /// Which track is read.
  enum Kind {
    case picture, sound
  }

  let path: String
  let kind: Kind
  let context: UnsafeMutablePointer<AVFormatContext>
  let stream: UnsafeMutablePointer<AVStream>

  /// Bytes and microseconds of media that are looked at to find out what the tracks are: FFmpeg's default for the one,
  /// far less than it for the other.
  private static let probedBytes: Int64 = 5_000_000
  private static let probedDuration: Int64 = 1_000_000
  /// Readers that are no media files: text art, and lists that name other files or addresses.
  private static let refusedFormats: Set<String> = [
    "tty", "concat", "hls", "hls,applehttp", "dash", "imf", "sdp", "rtsp", "webm_dash_manifest", "ffmetadata", "image2",
  ]

  init(path: String, reading kind: Kind = .picture) throws(MediaError) {
    try FileCheck.checkReadable(path)
    self.path = path
    self.kind = kind
    context = try Self.open(path)
    do {
      stream = try Self.track(kind, of: context)
    } catch {
      Self.close(context)
      throw error.about(path: path)
    }
  }

  deinit { Self.close(context) }

  var timeBase: AVRational { stream.pointee.time_base }

  /// Codec, size and all else that a decoder has to know.
  func parameters() throws(MediaError) -> UnsafeMutablePointer<AVCodecParameters> {
    guard let parameters = stream.pointee.codecpar else {
      throw MediaError(.libraryFailure, while: .opening, "a stream without parameters", path: path)
    }
    return parameters
  }

  /// The next packet of the track. False at the end, which a cut file reaches early. Throws `.noDecodablePicture` or
  /// `.noDecodableAudio` for one that is encrypted (ISO/IEC 23001-7).
  func read(_ packet: Packet) throws(MediaError) -> Bool {
    while true {
      packet.clear()
      let outcome: LibAV.Outcome
      do {
        outcome = try LibAV.outcome("av_read_frame", while: .reading) { av_read_frame(context, packet.pointer) }
      } catch {
        // A damaged tail: what came before it was good.
        if error.library?.code == glasswing_averror_invaliddata { return false }
        throw error.about(path: path)
      }
      switch outcome {
      case .value:
        guard packet.pointer.pointee.stream_index == stream.pointee.index else { continue }
        // A decoder would make noise of it rather than fail.
        guard av_packet_get_side_data(packet.pointer, AV_PKT_DATA_ENCRYPTION_INFO, nil) == nil else {
          let cause: MediaError.Cause = kind == .picture ? .noDecodablePicture : .noDecodableAudio
          throw MediaError(cause, while: .reading, "the track is encrypted", path: path)
        }
        return true
      case .again: continue
      case .ended: return false
      }
    }
  }

  /// Goes back to the first packet. False where the container can't.
  func rewind() -> Bool {
    let start = stream.pointee.start_time == glasswing_av_nopts ? 0 : stream.pointee.start_time
    let (code, _) = LibAVLog.collecting {
      avformat_seek_file(context, stream.pointee.index, Int64.min, start, start, AVSEEK_FLAG_BACKWARD)
    }
    return code >= 0
  }

  /// A time of the track in nanoseconds; nil for none.
  func nanoseconds(_ time: Int64) -> Int64? {
    guard time != glasswing_av_nopts else { return nil }
    return av_rescale_q(time, timeBase, AVRational(num: 1, den: 1_000_000_000))
  }

  private static func open(_ path: String) throws(MediaError) -> UnsafeMutablePointer<AVFormatContext> {
    var options: OpaquePointer?
    defer { av_dict_free(&options) }
    av_dict_set(&options, "protocol_whitelist", "file", 0)
    av_dict_set(&options, "probesize", "\(probedBytes)", 0)
    av_dict_set(&options, "analyzeduration", "\(probedDuration)", 0)
    let format = try format(of: path)
    var context: UnsafeMutablePointer<AVFormatContext>?
    do {
      try LibAV.check("avformat_open_input", while: .opening) {
        avformat_open_input(&context, "file:" + path, format, &options)
      }
    } catch {
      guard error.library?.code == glasswing_averror_invaliddata else { throw error.about(path: path) }
      let (cause, detail) = FileCheck.explainUnreadable(path)
      throw MediaError(cause, while: .opening, detail, library: error.library, path: path)
    }
    guard let context else { throw MediaError(.libraryFailure, while: .opening, "no context", path: path) }
    do {
      try LibAV.check("avformat_find_stream_info", while: .opening, cause: .notMedia) {
        avformat_find_stream_info(context, nil)
      }
    } catch {
      close(context)
      throw error.about(path: path)
    }
    return context
  }

  /// The reader for a file, by its bytes and not by its name. Refused ones are refused before they open anything.
  private static func format(of path: String) throws(MediaError) -> UnsafePointer<AVInputFormat> {
    var io: UnsafeMutablePointer<AVIOContext>?
    defer { avio_closep(&io) }
    var format: UnsafePointer<AVInputFormat>?
    do {
      try LibAV.check("avio_open", while: .opening, cause: .fileNotReadable) {
        avio_open(&io, "file:" + path, AVIO_FLAG_READ)
      }
      try LibAV.check("av_probe_input_buffer2", while: .opening, cause: .notMedia) {
        av_probe_input_buffer2(io, &format, nil, nil, 0, UInt32(probedBytes))
      }
    } catch {
      throw error.about(path: path)
    }
    guard let format, let name = format.pointee.name else { throw MediaError(.notMedia, while: .opening, path: path) }
    guard !refusedFormats.contains(String(cString: name)) else {
      throw MediaError(.notMedia, while: .opening, "a file for '\(String(cString: name))'", path: path)
    }
    return format
  }

  /// Goes to the last packet at or before a time of the track from which a decoder can begin. False where the container
  /// can't.
  func seek(to time: Int64) -> Bool {
    let (code, _) = LibAVLog.collecting {
      avformat_seek_file(context, stream.pointee.index, Int64.min, time, time, AVSEEK_FLAG_BACKWARD)
    }
    return code >= 0
  }

  /// Whether there are pictures. A cover picture is none.
  var hasPictures: Bool { Self.tracks(context).contains { Self.isPictureTrack($0) } }

  /// The best track of its kind, all others switched off.
  private static func track(
    _ kind: Kind, of context: UnsafeMutablePointer<AVFormatContext>
  ) throws(MediaError) -> UnsafeMutablePointer<AVStream> {
    let type = kind == .picture ? AVMEDIA_TYPE_VIDEO : AVMEDIA_TYPE_AUDIO
    let tracks = tracks(context)
    let index = Int(av_find_best_stream(context, type, -1, -1, nil, 0))
    guard tracks.indices.contains(index), let stream = tracks[index], kind == .sound || isPictureTrack(stream) else {
      switch kind {
      case .picture:
        let hasAudio = tracks.contains { $0?.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_AUDIO }
        throw MediaError(.noVideoTrack, while: .opening, hasAudio ? "audio only" : "")
      case .sound:
        throw MediaError(.noAudioTrack, while: .opening, tracks.contains { isPictureTrack($0) } ? "silent video" : "")
      }
    }
    for track in tracks where track != stream { track?.pointee.discard = AVDISCARD_ALL }
    return stream
  }

  private static func tracks(
    _ context: UnsafeMutablePointer<AVFormatContext>
  ) -> UnsafeBufferPointer<UnsafeMutablePointer<AVStream>?> {
    UnsafeBufferPointer(start: context.pointee.streams, count: Int(context.pointee.nb_streams))
  }

  private static func isPictureTrack(_ stream: UnsafeMutablePointer<AVStream>?) -> Bool {
    stream?.pointee.codecpar?.pointee.codec_type == AVMEDIA_TYPE_VIDEO
      && (stream?.pointee.disposition ?? 0) & AV_DISPOSITION_ATTACHED_PIC == 0
  }

  private static func close(_ context: UnsafeMutablePointer<AVFormatContext>) {
    var context: UnsafeMutablePointer<AVFormatContext>? = context
    avformat_close_input(&context)
  }
}
