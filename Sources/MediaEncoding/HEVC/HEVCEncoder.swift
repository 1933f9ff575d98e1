import MediaEngine
import PortableMedia
import Synchronization
import Units

/// Encodes pictures to HEVC (ITU-T H.265, main profile, 8 bit), one access unit for each, without delay.
///
/// A sync unit (an IDR picture with its VPS, SPS and PPS) comes first, whenever it is forced, and as often as the
/// configuration asks. Between them each picture refers to the one before it only.
///
/// Any thread, one call at a time: a second caller waits. A change of size or frame rate is a new encoder (opening and
/// closing cost 2 to 3 ms each). The encoder's memory and threads go with `close()`, or with the last reference.
package final class HEVCEncoder: Sendable {
  package struct Configuration: Hashable, Sendable {
    /// Even, from `smallestEdge` to `largestEdge`.
    package var size: PixelSize
    /// Pictures a second; what the rate control shares the bit rate among.
    package var frameRate: Double
    package var bitrate: Bitrate
    /// From one sync unit to the next, counted in pictures; nil: only the first and those asked for.
    package var keyframeInterval: Duration?
    /// Adds the MD5 of each picture as a decoded picture hash SEI (H.265, D.2.19), by which a decoder can prove that
    /// it has the picture. About 15 kbit/s and 1 ms a picture.
    package var writesPictureHashes: Bool

    package init(
      size: PixelSize, frameRate: Double, bitrate: Bitrate, keyframeInterval: Duration? = nil,
      writesPictureHashes: Bool = false
    ) {
      self.size = size
      self.frameRate = frameRate
      self.bitrate = bitrate
      self.keyframeInterval = keyframeInterval
      self.writesPictureHashes = writesPictureHashes
    }

    /// From 1 to 240, whatever was asked for.
    var usableFrameRate: Double { frameRate.isFinite ? min(max(frameRate, 1), 240) : 30 }
  }

  /// Two coding tree units of the fastest preset; below it x265 refuses.
  package static let smallestEdge = 64
  /// The longest edge of level 6.2 (H.265, A.4.1) is 8444; this is 8K.
  package static let largestEdge = 8192

  private struct State: ~Copyable {
    var session: X265Session?
    var control: FrameRateControl
    var difference = FrameDifference()
    var picturesSinceSync: Int?
  }

  package let configuration: Configuration
  /// Pictures from one sync unit to the next; 0 for no periodic ones.
  private let picturesPerSync: Int
  private let target: Atomic<Int64>
  private let state: Mutex<State>

  package init(_ configuration: Configuration) throws(MediaError) {
    let size = configuration.size
    let edges = Self.smallestEdge...Self.largestEdge
    guard edges.contains(size.width), edges.contains(size.height), size.width % 2 == 0, size.height % 2 == 0 else {
      throw MediaError(.sizeNotSupported, while: .encoding, "\(size.width)x\(size.height)")
    }
    self.configuration = configuration
    let interval = (configuration.keyframeInterval?.seconds ?? 0) * configuration.usableFrameRate
    picturesPerSync = Int(min(max(interval, 0), 1e6).rounded())
    target = Atomic(configuration.bitrate.bitsPerSecond)
    let control = FrameRateControl(
      bitrate: configuration.bitrate, frameRate: configuration.usableFrameRate, pixels: size.width * size.height)
    state = Mutex(State(session: try X265Session(configuration), control: control, picturesSinceSync: nil))
  }

  /// Takes effect with the next picture. Any thread, without waiting.
  package var targetBitrate: Bitrate {
    get { Bitrate(bitsPerSecond: target.load(ordering: .relaxed)) }
    set { target.store(newValue.bitsPerSecond, ordering: .relaxed) }
  }

  /// Encodes the next picture.
  ///
  /// - Parameters:
  ///   - picture: planar 4:2:0 (`y420`) of the configured size; only read, and only during the call.
  ///   - forcesSync: makes it a sync unit.
  /// - Throws: `.pixelFormatNotSupported`, `.sizeNotSupported`, `.finished` after `close()`, or `.libraryFailure`.
  package func encode(_ picture: CVPixelBuffer, forcesSync: Bool = false) throws(MediaError) -> EncodedPicture {
    guard picture.pixelFormat == kCVPixelFormatType_420YpCbCr8Planar else {
      throw MediaError(.pixelFormatNotSupported, while: .encoding, "y420 is")
    }
    guard picture.pixelWidth == configuration.size.width, picture.pixelHeight == configuration.size.height,
      let luma = picture.plane(0), let cb = picture.plane(1), let cr = picture.plane(2)
    else {
      throw MediaError(.sizeNotSupported, while: .encoding, "the picture is not of the encoder's size")
    }
    return try state.withLock { (state) throws(MediaError) -> EncodedPicture in
      guard state.session != nil else { throw MediaError(.finished, while: .encoding) }
      state.control.setBitrate(targetBitrate)
      let isCut = state.difference.isCut(luma)
      let isSync = forcesSync || isSyncDue(after: state.picturesSinceSync)
      let quantizer = state.control.quantizer(for: isSync ? .sync : isCut ? .cut : .predicted)
      let planes = X265Session.Planes(luma: luma, cb: cb, cr: cr)
      guard let encoded = try state.session?.encode(planes, quantizer: quantizer, isSync: isSync) else {
        throw MediaError(.finished, while: .encoding)
      }
      state.control.encoded(bytes: encoded.payload.count)
      state.picturesSinceSync = encoded.isSync ? 0 : (state.picturesSinceSync ?? 0) + 1
      return encoded
    }
  }

  /// Frees memory and threads now. Idempotent; a call to `encode` that runs is waited for, later ones throw.
  package func close() { state.withLock { $0.session = nil } }

  private func isSyncDue(after pictures: Int?) -> Bool {
    guard let pictures else { return true }
    return picturesPerSync > 0 && pictures + 1 >= picturesPerSync
  }
}

/// One access unit as an encoder made it.
package struct EncodedPicture: Hashable, Sendable {
  /// NAL units, each after its length in 4 bytes, big-endian (ISO/IEC 14496-15, 4.3.3). A sync unit begins with VPS,
  /// SPS and PPS.
  package var payload: [UInt8]
  package var isSync: Bool
  /// The quantizer it was coded with, 0 to 51.
  package var quantizer: Int

  package init(payload: [UInt8], isSync: Bool, quantizer: Int) {
    self.payload = payload
    self.isSync = isSync
    self.quantizer = quantizer
  }
}
