import FoundationEssentials

/// An argument is nil, out of range, or doesn't fit another.
public let kCMFormatDescriptionError_InvalidParameter: OSStatus = -12710
/// The system gave no memory.
public let kCMFormatDescriptionError_AllocationFailed: OSStatus = -12711
/// The description has no such value.
public let kCMFormatDescriptionError_ValueNotAvailable: OSStatus = -12718

/// What kind of media samples are.
public typealias CMMediaType = FourCharCode
/// Moving pictures.
public let kCMMediaType_Video: CMMediaType = code("vide")
/// Sound.
public let kCMMediaType_Audio: CMMediaType = code("soun")
/// Several kinds interleaved.
public let kCMMediaType_Muxed: CMMediaType = code("muxx")
/// Text.
public let kCMMediaType_Text: CMMediaType = code("text")
/// Timed metadata.
public let kCMMediaType_Metadata: CMMediaType = code("meta")

/// How pictures are coded; a pixel format where they aren't.
public typealias CMVideoCodecType = FourCharCode
/// ITU-T H.264, parameter sets in the description.
public let kCMVideoCodecType_H264: CMVideoCodecType = code("avc1")
/// ITU-T H.265, parameter sets in the description.
public let kCMVideoCodecType_HEVC: CMVideoCodecType = code("hvc1")
/// JPEG.
public let kCMVideoCodecType_JPEG: CMVideoCodecType = code("jpeg")

/// Extension: atoms of the sample entry by four-character name, such as `hvcC` and `avcC`; values are `Data`.
public let kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms: CFString = "SampleDescriptionExtensionAtoms"
/// Extension: the codec's name for people.
public let kCMFormatDescriptionExtension_FormatName: CFString = "FormatName"
/// Extension: true for full-range YCbCr.
public let kCMFormatDescriptionExtension_FullRangeVideo: CFString = "FullRangeVideo"
/// Extension: which colours the primaries are.
public let kCMFormatDescriptionExtension_ColorPrimaries: CFString = "CVImageBufferColorPrimaries"
/// Extension: the transfer function.
public let kCMFormatDescriptionExtension_TransferFunction: CFString = "CVImageBufferTransferFunction"
/// Extension: the matrix between RGB and YCbCr.
public let kCMFormatDescriptionExtension_YCbCrMatrix: CFString = "CVImageBufferYCbCrMatrix"

/// A picture's size in pixels.
public struct CMVideoDimensions: Hashable, Sendable {
  /// Width in pixels.
  public var width: Int32
  /// Height in pixels.
  public var height: Int32

  /// A size.
  public init(width: Int32, height: Int32) {
    self.width = width
    self.height = height
  }

  /// No size.
  public init() { self.init(width: 0, height: 0) }
}

/// How samples are to be understood: kind, coding, size, and what a decoder needs beforehand. Immutable; any thread.
///
/// Two descriptions are equal if all of that is.
public final class CMFormatDescription: Sendable, Hashable {
  let type: CMMediaType
  let subType: FourCharCode
  let size: CMVideoDimensions
  let values: [String: PropertyValue]
  let sets: ParameterSets?

  init(
    type: CMMediaType, subType: FourCharCode, size: CMVideoDimensions, values: [String: PropertyValue],
    sets: ParameterSets?
  ) {
    self.type = type
    self.subType = subType
    self.size = size
    self.values = values
    self.sets = sets
  }

  /// A video description from parameter sets. Its size is that of the first sequence parameter set; its extensions hold
  /// the configuration record, as a file's sample entry would.
  convenience init(sets: ParameterSets, values: [String: PropertyValue]) {
    let (subType, atom) =
      switch sets.codec {
      case .hevc: (kCMVideoCodecType_HEVC, "hvcC")
      case .h264: (kCMVideoCodecType_H264, "avcC")
      }
    var values = values
    var atoms: [String: PropertyValue] = [:]
    let key = kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms
    if case .dictionary(let given) = values[key] { atoms = given }
    atoms[atom] = .data(Data(sets.record))
    values[key] = .dictionary(atoms)
    let size = CMVideoDimensions(
      width: Int32(truncatingIfNeeded: sets.width), height: Int32(truncatingIfNeeded: sets.height))
    self.init(type: kCMMediaType_Video, subType: subType, size: size, values: values, sets: sets)
  }

  /// True if both descriptions say the same.
  public static func == (a: CMFormatDescription, b: CMFormatDescription) -> Bool {
    a === b || (a.type == b.type && a.subType == b.subType && a.size == b.size && a.values == b.values)
  }

  /// Feeds kind, coding and size.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(type)
    hasher.combine(subType)
    hasher.combine(size)
  }
}

/// A description of video samples.
public typealias CMVideoFormatDescription = CMFormatDescription

extension CMFormatDescription: CustomStringConvertible {
  /// Kind, coding and size, for logs.
  public var description: String {
    "\(characters(of: type)) \(characters(of: subType)) \(size.width)x\(size.height)"
  }
}

extension CMFormatDescription {
  /// Parameter sets as NAL units, VPS first as they were given; empty for a description without. For the rooms of this
  /// package.
  package var parameterSetUnits: [[UInt8]] { sets?.units ?? [] }

  /// An HEVC description from VPS, SPS and PPS.
  package static func hevc(parameterSets: [[UInt8]]) throws(MediaStatusError) -> CMFormatDescription {
    CMFormatDescription(sets: try ParameterSets(codec: .hevc, units: parameterSets, lengthSize: 4), values: [:])
  }
}
