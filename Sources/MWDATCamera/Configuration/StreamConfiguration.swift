/// What an app asks of a stream. A value: nothing in it changes when the link can't carry what was asked.
public struct StreamConfiguration: Sendable {
  /// Decoded pictures or compressed ones.
  public let videoCodec: VideoCodec
  /// The form of the sound that comes along (`Stream.audioFramePublisher`); nil for none, which never touches the
  /// microphone. Sound needs the microphone's permission beside the camera's: without either, a start ends in
  /// `.permissionDenied`, pictures included. Glasses that give no sound end it in `.audioStreamingError`.
  public let audioCodec: AudioCodec?
  /// The size of pictures at best; a narrow link may give smaller ones for a while.
  public let resolution: StreamingResolution
  /// Pictures a second: 2, 7, 15, 24 or 30. Another value is kept here, and the nearest of these is streamed, of two the
  /// higher.
  public let frameRate: UInt

  public init(videoCodec: VideoCodec, audioCodec: AudioCodec?, resolution: StreamingResolution, frameRate: UInt) {
    self.videoCodec = videoCodec
    self.audioCodec = audioCodec
    self.resolution = resolution
    self.frameRate = frameRate
  }

  /// A stream without sound.
  public init(videoCodec: VideoCodec, resolution: StreamingResolution, frameRate: UInt) {
    self.init(videoCodec: videoCodec, audioCodec: nil, resolution: resolution, frameRate: frameRate)
  }

  /// Decoded pictures of medium size, 30 a second, without sound.
  public init() {
    self.init(videoCodec: .raw, audioCodec: nil, resolution: .medium, frameRate: 30)
  }
}
