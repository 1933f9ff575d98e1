import CFFmpeg
import Units

extension InputContext {
  /// What the file holds, by what its container and the first packets say.
  func description() throws(MediaError) -> MediaFileDescription {
    let parameters = try parameters().pointee
    let coded = PixelSize(width: Int(parameters.width), height: Int(parameters.height))
    let rotation = rotation()
    let square = Self.squareSize(coded, pixelAspect: pixelAspect())
    let size = rotation.swapsSides ? PixelSize(width: square.height, height: square.width) : square
    let rate = av_q2d(stream.pointee.avg_frame_rate)
    let video = MediaFileDescription.VideoTrack(
      codec: String(cString: avcodec_get_name(parameters.codec_id)), codedSize: coded, size: size, rotation: rotation,
      frameRate: rate.isFinite && rate > 0 ? rate : nil)
    let duration = context.pointee.duration
    return MediaFileDescription(
      container: context.pointee.iformat?.pointee.name.map { String(cString: $0) } ?? "", video: video,
      audio: audioTracks(),
      duration: duration == glasswing_av_nopts ? nil : .nanoseconds(duration.multipliedSaturating(by: 1000)))
  }

  /// Width of a pixel by its height, as the track states it; 1 where it states nothing, or nothing believable. A ratio
  /// within a hundredth of 1 is what is left of a size that was rounded, and no reason to scale.
  func pixelAspect() -> Double {
    let ratio = av_q2d(av_guess_sample_aspect_ratio(context, stream, nil))
    return ratio.isFinite && 0.125...8 ~= ratio && abs(ratio - 1) > 0.01 ? ratio : 1
  }

  /// The size with square pixels: the height stays, the width becomes even.
  static func squareSize(_ size: PixelSize, pixelAspect: Double) -> PixelSize {
    guard pixelAspect != 1 else { return size }
    let pairs = (Double(size.width) * pixelAspect / 2).rounded()
    return PixelSize(width: 2 * Int(min(max(pairs, 1), 8192)), height: size.height)
  }

  /// The turn that the track's display matrix asks for (ISO/IEC 14496-12, 8.3.2). The matrix turns counter-clockwise.
  func rotation() -> QuarterTurns {
    var size = 0
    guard let bytes = av_stream_get_side_data(stream, AV_PKT_DATA_DISPLAYMATRIX, &size),
      size >= 9 * MemoryLayout<Int32>.size
    else { return .none }
    let counterClockwise = bytes.withMemoryRebound(to: Int32.self, capacity: 9) { av_display_rotation_get($0) }
    return QuarterTurns(nearestTo: -counterClockwise)
  }

  private func audioTracks() -> [MediaFileDescription.AudioTrack] {
    UnsafeBufferPointer(start: context.pointee.streams, count: Int(context.pointee.nb_streams)).compactMap { track in
      guard let parameters = track?.pointee.codecpar?.pointee, parameters.codec_type == AVMEDIA_TYPE_AUDIO else {
        return nil
      }
      return MediaFileDescription.AudioTrack(
        codec: String(cString: avcodec_get_name(parameters.codec_id)), sampleRate: Int(parameters.sample_rate),
        channels: Int(parameters.ch_layout.nb_channels))
    }
  }
}
