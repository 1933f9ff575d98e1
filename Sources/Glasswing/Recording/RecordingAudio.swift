import Foundation
import MWDATCamera
import MediaEngine
import Units

/// What a recording keeps sound in.
public enum RecordingAudio: String, Codable, Hashable, Sendable, CaseIterable {
  /// What the container's players know best: AAC in MP4 and MOV, Opus in Matroska, floating point in WAV, FLAC in FLAC.
  case automatic
  /// No sound.
  case none
  /// AAC-LC: MP4, MOV, Matroska. Rates below 32 kHz are coded at a multiple of themselves.
  case aac
  /// Opus (RFC 6716): MP4, Matroska.
  case opus
  /// Samples as they came, 32-bit floating point: MOV, Matroska, WAV.
  case pcm
  /// Without loss, 24 bits a sample (RFC 9639): MP4, Matroska, FLAC.
  case flac
}

/// The form of sound that a recording is to have a place for.
public struct RecordingAudioFormat: Codable, Hashable, Sendable {
  /// Frames of a second; a frame is one sample of each channel.
  public var sampleRate: Int
  /// One or two.
  public var channels: Int

  /// A form; one that no file can have costs the sound, not the recording.
  public init(sampleRate: Int, channels: Int) {
    self.sampleRate = sampleRate
    self.channels = channels
  }

  var recorded: PCMFormat { PCMFormat(sampleRate: sampleRate, channels: channels) }
}

extension RecordingContainer {
  /// Whether it holds sound alone.
  public var isAudioOnly: Bool { audioFile != nil }

  /// What it can keep sound in, in the order of `RecordingAudio`.
  public var audio: [RecordingAudio] {
    RecordingAudio.allCases.filter { audio in
      do throws(RecorderError) {
        _ = try audioCodec(for: audio)
        return true
      } catch {
        return false
      }
    }
  }

  var muxer: FragmentedMuxer.Container? {
    switch self {
    case .mp4: .mp4
    case .mov: .mov
    case .mkv: .mkv
    case .wav, .flac: nil
    }
  }

  var audioFile: AudioFileWriter.Container? {
    switch self {
    case .wav: .wav
    case .flac: .flac
    case .mp4, .mov, .mkv: nil
    }
  }

  /// How sound is coded; nil for none.
  ///
  /// - Throws: `unsupportedAudio`.
  func audioCodec(for audio: RecordingAudio) throws(RecorderError) -> AudioEncoder.Codec? {
    let codec: AudioEncoder.Codec
    switch (audio, self) {
    case (.none, .mp4), (.none, .mov), (.none, .mkv): return nil
    case (.automatic, .wav): codec = .pcmFloat
    case (.automatic, .flac): codec = .flac
    case (.automatic, _): return muxer?.usualAudio
    case (.aac, _): codec = .aac
    case (.opus, _): codec = .opus
    case (.pcm, _): codec = .pcmFloat
    case (.flac, _): codec = .flac
    case (.none, .wav), (.none, .flac): throw .unsupportedAudio(audio: audio.rawValue, container: rawValue)
    }
    let isTaken =
      switch self {
      case .mp4, .mov, .mkv: muxer?.takes(codec) ?? false
      case .wav: codec == .pcmFloat
      case .flac: codec == .flac
      }
    guard isTaken else { throw .unsupportedAudio(audio: audio.rawValue, container: rawValue) }
    return codec
  }
}

extension AudioCodec {
  /// The form of the sound that a stream with it delivers.
  var recordedFormat: PCMFormat {
    switch self {
    case .pcm(let rate, let channels):
      PCMFormat(sampleRate: Int(rate.rawValue), channels: Int(clamping: channels))
    }
  }
}

/// Sound on its way to the file.
struct RecordingAudioBlock: Sendable {
  var format: PCMFormat
  /// Interleaved.
  var samples: [Float]
  /// Of the first frame; nil where it follows what came before.
  var presentation: Instant?

  var frames: Int { samples.count / max(1, format.channels) }
  var duration: Duration { format.duration(frames: frames) }
  var bytes: Int { samples.count * MemoryLayout<Float>.stride }

  /// - Throws: `unreadableSample` for a buffer that is no sound of one or two channels.
  init(_ buffer: AVAudioPCMBuffer, at presentation: CMTime) throws(RecorderError) {
    let rate = buffer.format.sampleRate
    format = PCMFormat(
      sampleRate: rate.isFinite && 1...768_000 ~= rate ? Int(rate.rounded()) : 0,
      channels: Int(buffer.format.channelCount))
    guard 1...2 ~= format.channels, format.sampleRate >= 4000, let samples = buffer.interleavedSamples else {
      throw .unreadableSample(reason: "sound in the form \(format)")
    }
    self.samples = samples
    self.presentation = RecordingUnit.instant(presentation)
  }

  init(format: PCMFormat, samples: [Float], presentation: Instant?) {
    self.format = format
    self.samples = samples
    self.presentation = presentation
  }

  /// What of it is at or after a moment; nil for nothing.
  func from(_ moment: Instant) -> RecordingAudioBlock? {
    guard let presentation, presentation < moment else { return self }
    // Up to the next whole frame: none may begin before the moment.
    let early = format.frames(in: moment - presentation)
    let isShort = presentation + format.duration(frames: early) < moment
    let dropped = isShort ? early + 1 : early
    guard dropped < frames else { return nil }
    return RecordingAudioBlock(
      format: format, samples: Array(samples.dropFirst(dropped * format.channels)),
      presentation: presentation + format.duration(frames: dropped))
  }
}
