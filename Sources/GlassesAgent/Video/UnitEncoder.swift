import LinkProtocol
import MediaEncoding
import MediaEngine
import PortableMedia
import Units

/// Scales pictures to a stream's size and encodes them.
final class UnitEncoder: Sendable {
  private let encoder: HEVCEncoder
  private let scaler: PictureScaler

  /// - Parameter rate: pictures a second to expect.
  init(
    size: PixelSize, rate: Double, bitrate: Bitrate, keyframeInterval: Duration, writesPictureHashes: Bool
  ) throws(PipelineFailure) {
    do throws(MediaError) {
      scaler = PictureScaler(size: size)
      encoder = try HEVCEncoder(
        HEVCEncoder.Configuration(
          size: size, frameRate: rate, bitrate: bitrate, keyframeInterval: keyframeInterval,
          writesPictureHashes: writesPictureHashes))
    } catch {
      throw .encoder(error)
    }
  }

  var targetBitrate: Bitrate {
    get { encoder.targetBitrate }
    set { encoder.targetBitrate = newValue }
  }

  func encode(_ picture: CVPixelBuffer, forcesSync: Bool) throws(PipelineFailure) -> EncodedPicture {
    do throws(MediaError) {
      return try encoder.encode(try scaler.fit(picture), forcesSync: forcesSync)
    } catch {
      throw .encoder(error)
    }
  }
}
