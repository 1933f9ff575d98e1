import CX265
import MediaEngine
import PortableMedia

/// An open x265 encoder; closed when the value goes.
///
/// Set so that each picture put in comes out of the same call: no B pictures, no lookahead, one picture at a time.
///
/// Unchecked Sendable: the pointers are its own, and x265 ties them to no thread; the encoder's mutex keeps calls apart.
struct X265Session: ~Copyable, @unchecked Sendable {
  struct Planes {
    let luma: CVPixelBuffer.PlaneView
    let cb: CVPixelBuffer.PlaneView
    let cr: CVPixelBuffer.PlaneView
  }

  /// Measured at 504x896: the next preset takes 30 % longer for predicted pictures, which would be worth its quality, but
  /// 78 ms for sync units, more than two intervals at 30 a second; this one takes 24 ms.
  private static let preset = "ultrafast"
  /// Worker threads of one encoder. Left alone x265 takes as many as the machine has cores, for each stream.
  private static let threads = "2"

  private let encoder: OpaquePointer
  private let parameters: UnsafeMutablePointer<x265_param>
  private let picture: UnsafeMutablePointer<x265_picture>
  private var nextPresentation: Int64 = 0

  init(_ configuration: HEVCEncoder.Configuration) throws(MediaError) {
    guard let parameters = x265_param_alloc(), let picture = x265_picture_alloc() else {
      throw MediaError(.outOfMemory, while: .encoding)
    }
    guard Self.set(parameters, configuration), let encoder = glasswing_x265_encoder_open(parameters) else {
      x265_picture_free(picture)
      x265_param_free(parameters)
      let size = "\(configuration.size.width)x\(configuration.size.height)"
      throw MediaError(
        .libraryFailure, while: .encoding,
        library: .init(function: "x265_encoder_open", code: -1, text: "no encoder for \(size)"))
    }
    x265_picture_init(parameters, picture)
    self.parameters = parameters
    self.picture = picture
    self.encoder = encoder
  }

  deinit {
    x265_encoder_close(encoder)
    x265_picture_free(picture)
    x265_param_free(parameters)
  }

  /// False when a preset or option is unknown to the library.
  private static func set(_ parameters: UnsafeMutablePointer<x265_param>, _ configuration: HEVCEncoder.Configuration)
    -> Bool
  {
    guard x265_param_default_preset(parameters, preset, "zerolatency") == 0,
      x265_param_parse(parameters, "pools", threads) == 0
    else { return false }
    parameters.pointee.logLevel = X265_LOG_NONE
    parameters.pointee.frameNumThreads = 1
    parameters.pointee.sourceWidth = Int32(configuration.size.width)
    parameters.pointee.sourceHeight = Int32(configuration.size.height)
    parameters.pointee.internalCsp = X265_CSP_I420
    parameters.pointee.fpsNum = UInt32(configuration.usableFrameRate * 1000)
    parameters.pointee.fpsDenom = 1000
    // NAL units after their lengths, as the link and MP4 carry them.
    parameters.pointee.bAnnexB = 0
    // A late joiner needs the parameter sets with each sync unit, and nothing before it.
    parameters.pointee.bRepeatHeaders = 1
    parameters.pointee.bOpenGOP = 0
    // Sync units come when we say so.
    parameters.pointee.keyframeMax = -1
    parameters.pointee.scenecutThreshold = 0
    // A line of the library's settings in each sync unit is of no use to anybody.
    parameters.pointee.bEmitInfoSEI = 0
    parameters.pointee.decodedPictureHashSEI = configuration.writesPictureHashes ? 1 : 0
    stateColours(parameters)
    // Constant quality, which `forceqp` overrides picture by picture.
    parameters.pointee.rc.rateControlMode = Int32(X265_RC_CRF.rawValue)
    return true
  }

  /// Limited range, matrix of BT.601, primaries and transfer of BT.709 (H.265, E.3.1), which is what file sources and the
  /// pattern yield. Unsaid, players guess the matrix by the picture's size, each in its own way.
  private static func stateColours(_ parameters: UnsafeMutablePointer<x265_param>) {
    parameters.pointee.vui.bEnableVideoSignalTypePresentFlag = 1
    // Unspecified: of none of the analogue systems.
    parameters.pointee.vui.videoFormat = 5
    parameters.pointee.vui.bEnableVideoFullRangeFlag = 0
    parameters.pointee.vui.bEnableColorDescriptionPresentFlag = 1
    parameters.pointee.vui.colorPrimaries = 1
    parameters.pointee.vui.transferCharacteristics = 1
    parameters.pointee.vui.matrixCoeffs = 6
  }

  mutating func encode(_ planes: Planes, quantizer: Int, isSync: Bool) throws(MediaError) -> EncodedPicture {
    picture.pointee.planes = (planes.luma.base, planes.cb.base, planes.cr.base)
    picture.pointee.stride = (
      Int32(planes.luma.bytesPerRow), Int32(planes.cb.bytesPerRow), Int32(planes.cr.bytesPerRow)
    )
    picture.pointee.sliceType = isSync ? X265_TYPE_IDR : X265_TYPE_P
    // The field is the quantizer plus one, since 0 means "choose one".
    picture.pointee.forceqp = Int32(quantizer + 1)
    picture.pointee.pts = nextPresentation
    nextPresentation += 1

    var units: UnsafeMutablePointer<x265_nal>?
    var count: UInt32 = 0
    let result = x265_encoder_encode(encoder, &units, &count, picture, nil)
    guard result == 1, let units, count > 0 else {
      throw MediaError(
        .libraryFailure, while: .encoding,
        library: .init(function: "x265_encoder_encode", code: result, text: "no access unit for the picture"))
    }
    let all = UnsafeBufferPointer(start: units, count: Int(count))
    return EncodedPicture(payload: Self.payload(of: all), isSync: Self.isSync(all), quantizer: quantizer)
  }

  /// All units in one copy: x265 keeps them one after the other, from the first one's bytes on.
  private static func payload(of units: UnsafeBufferPointer<x265_nal>) -> [UInt8] {
    let count = units.reduce(0) { $0 + Int($1.sizeBytes) }
    guard let first = units.first?.payload else { return [] }
    return [UInt8](UnsafeBufferPointer(start: first, count: count))
  }

  /// IDR_W_RADL or IDR_N_LP (H.265, table 7-1).
  private static func isSync(_ units: UnsafeBufferPointer<x265_nal>) -> Bool {
    units.contains {
      $0.type == NAL_UNIT_CODED_SLICE_IDR_W_RADL.rawValue || $0.type == NAL_UNIT_CODED_SLICE_IDR_N_LP.rawValue
    }
  }
}
