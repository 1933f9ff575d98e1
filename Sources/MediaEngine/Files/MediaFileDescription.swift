import Units

/// What a media file holds.
package struct MediaFileDescription: Hashable, Sendable {
  /// The picture track that is read.
  package struct VideoTrack: Hashable, Sendable {
    /// FFmpeg's short name of the codec, such as "h264".
    package var codec: String
    /// Size of the coded picture.
    package var codedSize: PixelSize
    /// Size of the picture as it is meant to be seen: square pixels, upright.
    package var size: PixelSize
    package var rotation: QuarterTurns
    /// Pictures a second on average; nil where the file doesn't say.
    package var frameRate: Double?
  }

  /// A sound track. Not read, but known of.
  package struct AudioTrack: Hashable, Sendable {
    package var codec: String
    package var sampleRate: Int
    package var channels: Int
  }

  /// FFmpeg's name of the container, such as "mov,mp4,m4a,3gp,3g2,mj2".
  package var container: String
  package var video: VideoTrack
  package var audio: [AudioTrack]
  /// As the container states it; nil where it does not.
  package var duration: Duration?
}
