import MWDATCamera
import MediaEngine
import Synchronization

/// Decodes HEVC sample buffers, such as the frames of an `.hvc1` stream, into pixel buffers.
///
/// One sample in, its picture out, on the calling thread; any thread, calls take turns. It never gives out a picture that
/// it knows to be damaged: after a loss it throws until the next sync sample. Pictures come from a pool; one that is kept
/// stays valid.
public final class HEVCDecoder: Sendable {
  private struct State {
    var format: CMFormatDescription?
    var parameterSets: [[UInt8]] = []
  }

  private let decoder: VideoDecoder
  private let state = Mutex(State())

  /// - Throws: `unavailable` when the system's libraries have no HEVC decoder.
  public init() throws(HEVCDecoderError) {
    do throws(MediaError) {
      decoder = try VideoDecoder(codec: .hevc)
    } catch {
      throw .unavailable(reason: error.description)
    }
  }

  /// Decodes a sample: NAL units behind 4-byte lengths, parameter sets in its format description or in front of a sync
  /// picture.
  ///
  /// - Returns: the picture, in `420v`, or `420f` where the stream says that it has full range; nil when the decoder has to
  ///   see more samples first, which happens in streams with B-frames alone.
  /// - Throws: `notCompressedVideo`, `malformed`, `damaged`, `needsSync`.
  public func decode(_ sampleBuffer: CMSampleBuffer) throws(HEVCDecoderError) -> CVPixelBuffer? {
    guard let data = CMSampleBufferGetDataBuffer(sampleBuffer),
      let format = CMSampleBufferGetFormatDescription(sampleBuffer),
      CMFormatDescriptionGetMediaSubType(format) == kCMVideoCodecType_HEVC
    else { throw .notCompressedVideo }
    let parameterSets = state.withLock { state in
      if state.format !== format {
        state.format = format
        state.parameterSets = format.parameterSetUnits
      }
      return state.parameterSets
    }
    let result = data.withContiguousStorage { bytes in
      Result { () throws(MediaError) in try decoder.decode(bytes, parameterSets: parameterSets) }
    }
    do throws(MediaError) {
      return try result.get()
    } catch {
      throw HEVCDecoderError(error)
    }
  }

  /// As `decode`, with the picture in a sample buffer that has the sample's times.
  public func decodeToSampleBuffer(_ sampleBuffer: CMSampleBuffer) throws(HEVCDecoderError) -> CMSampleBuffer? {
    guard let picture = try decode(sampleBuffer) else { return nil }
    do throws(MediaStatusError) {
      return try CMSampleBuffer(
        imageBuffer: picture, formatDescription: CMFormatDescription(imageBuffer: picture),
        sampleTiming: CMSampleTimingInfo(
          duration: CMSampleBufferGetDuration(sampleBuffer),
          presentationTimeStamp: CMSampleBufferGetPresentationTimeStamp(sampleBuffer), decodeTimeStamp: .invalid))
    } catch {
      throw .malformed(reason: "\(error)")
    }
  }

  /// Forgets everything that was decoded; the next sample has to be a sync sample.
  public func reset() { decoder.reset() }
}

/// Why a sample gave no picture. The decoder is usable after each.
public enum HEVCDecoderError: GlasswingError {
  /// There is no HEVC decoder on this system.
  case unavailable(reason: String)
  /// The sample holds no HEVC: it is decoded already, or of another codec.
  case notCompressedVideo
  /// The sample's bytes or parameter sets aren't well-formed.
  case malformed(reason: String)
  /// The picture, or one that it refers to, is damaged or was lost.
  case damaged(reason: String)
  /// After damage, and at the beginning, only a sync sample can be decoded.
  case needsSync

  init(_ error: MediaError) {
    switch error.cause {
    case .syncUnitNeeded, .firstUnitNotSync: self = .needsSync
    case .damagedPicture, .noDecodablePicture: self = .damaged(reason: error.description)
    case .codecNotSupported, .outOfMemory, .libraryFailure: self = .unavailable(reason: error.description)
    case .fileNotFound, .fileNotReadable, .notARegularFile, .emptyFile, .notMedia, .truncatedFile, .noVideoTrack,
      .noAudioTrack, .noDecodableAudio, .damagedAudio, .audioFormatNotSupported,
      .fileNotWritable, .storageFull, .writingFailed, .parameterSetsChanged, .finished, .malformedData,
      .parameterSetsMissing, .pixelFormatNotSupported, .sizeNotSupported:
      self = .malformed(reason: error.description)
    }
  }

  public var name: String {
    switch self {
    case .unavailable: "decoder.unavailable"
    case .notCompressedVideo: "decoder.notCompressedVideo"
    case .malformed: "decoder.malformed"
    case .damaged: "decoder.damaged"
    case .needsSync: "decoder.needsSync"
    }
  }

  public var code: Int {
    switch self {
    case .unavailable: 1101
    case .notCompressedVideo: 1102
    case .malformed: 1103
    case .damaged: 1104
    case .needsSync: 1105
    }
  }

  public var stage: ErrorStage {
    switch self {
    case .unavailable: .open
    case .notCompressedVideo: .input
    case .malformed, .damaged, .needsSync: .decode
    }
  }

  public var severity: ErrorSeverity {
    switch self {
    case .unavailable: .terminal
    case .notCompressedVideo, .malformed, .damaged, .needsSync: .recoverable
    }
  }

  public var advice: ErrorAdvice {
    switch self {
    case .unavailable: .userAction
    case .notCompressedVideo: .configuration
    case .malformed, .damaged, .needsSync: .wait
    }
  }

  public var message: String {
    switch self {
    case .unavailable(let reason): "this system can't decode HEVC: \(reason)"
    case .notCompressedVideo: "the sample holds no HEVC; ask the stream for .hvc1"
    case .malformed(let reason): "the sample is malformed: \(reason)"
    case .damaged(let reason): "the picture is damaged: \(reason)"
    case .needsSync: "only a sync sample can be decoded now; request a keyframe"
    }
  }
}
