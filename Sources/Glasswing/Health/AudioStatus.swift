import LinkProtocol
import MWDATCamera

/// What the glasses send as sound, and what listeners have of it.
public struct AudioStatus: Codable, Hashable, Sendable {
  /// How sound travels.
  public enum Codec: String, Codable, Hashable, Sendable, CaseIterable {
    /// 32-bit samples, as they are.
    case pcm
    /// Opus (RFC 6716), where the link is narrow.
    case opus
  }

  /// Where sound comes from.
  public enum Source: String, Codable, Hashable, Sendable, CaseIterable {
    /// The glasses did not say, or something that this version doesn't know.
    case unknown
    /// A microphone.
    case microphone
    /// The sound of what the camera shows, where that is a feed.
    case cameraFeed
    /// A file of its own.
    case file
    /// A tone that is made.
    case tone
    /// Nothing.
    case silence
    /// Samples that a test gives.
    case injected
  }

  /// Samples a second of each channel of `AudioFrame.pcmBuffer`: always what was asked for.
  public let sampleRate: Int
  /// Channels of `AudioFrame.pcmBuffer`: always what was asked for.
  public let channels: Int
  /// How sound travels now.
  public let codec: Codec
  /// Samples a second on the link; where these are others, sound is resampled on arrival.
  public let linkSampleRate: Int
  /// Where it comes from.
  public let source: Source
  /// The microphone is muted: frames go on, with silence.
  public let isMuted: Bool
}

extension MWDATCamera.Stream {
  /// What the glasses send as sound, as they said last; nil before they did, and for a stream without sound. Any thread.
  public var audioStatus: AudioStatus? { linkAudioStatus.map { AudioStatus($0) } }

  /// The present listeners of `audioFramePublisher`, as `frameListeners` has those for pictures. Any thread.
  public var audioListeners: [FrameListenerStatistics] {
    audioListenerCounts.map {
      FrameListenerStatistics(number: $0.number, delivered: $0.counts.delivered, dropped: $0.counts.dropped)
    }
  }
}

extension AudioStatus {
  init(_ status: LinkAudioStatus) {
    sampleRate = Int(status.delivered.sampleRate)
    channels = Int(status.delivered.channels)
    codec =
      switch status.onLink.codec {
      case .pcmFloat32: .pcm
      case .opus: .opus
      }
    linkSampleRate = Int(status.onLink.sampleRate)
    source = Source(status.source)
    isMuted = status.isMuted
  }
}

extension AudioStatus.Source {
  fileprivate init(_ source: AudioSourceKind) {
    self =
      switch source {
      case .unknown: .unknown
      case .microphone: .microphone
      case .feed: .cameraFeed
      case .file: .file
      case .tone: .tone
      case .silence: .silence
      case .injected: .injected
      }
  }
}

extension AudioStatus: CustomStringConvertible {
  /// `16000 Hz, 1 channel, from cameraFeed, opus at 48000 Hz`
  public var description: String {
    "\(sampleRate) Hz, \(channels) channel\(channels == 1 ? "" : "s"), from \(source)\(isMuted ? " (muted)" : ""), "
      + "\(codec) at \(linkSampleRate) Hz"
  }
}
