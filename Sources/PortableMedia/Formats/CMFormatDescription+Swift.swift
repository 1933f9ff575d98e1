import FoundationEssentials

extension CMFormatDescription {
  /// What kind of media samples are.
  public struct MediaType: RawRepresentable, Hashable, Sendable {
    /// The four-character code.
    public var rawValue: FourCharCode
    /// A kind by its code.
    public init(rawValue: FourCharCode) { self.rawValue = rawValue }

    /// Moving pictures.
    public static let video = MediaType(rawValue: kCMMediaType_Video)
    /// Sound.
    public static let audio = MediaType(rawValue: kCMMediaType_Audio)
    /// Several kinds interleaved.
    public static let muxed = MediaType(rawValue: kCMMediaType_Muxed)
    /// Text.
    public static let text = MediaType(rawValue: kCMMediaType_Text)
    /// Timed metadata.
    public static let metadata = MediaType(rawValue: kCMMediaType_Metadata)
  }

  /// How samples are coded; a pixel format for pictures in memory.
  public struct MediaSubType: RawRepresentable, Hashable, Sendable {
    /// The four-character code.
    public var rawValue: FourCharCode
    /// A coding by its code.
    public init(rawValue: FourCharCode) { self.rawValue = rawValue }

    /// ITU-T H.264.
    public static let h264 = MediaSubType(rawValue: kCMVideoCodecType_H264)
    /// ITU-T H.265.
    public static let hevc = MediaSubType(rawValue: kCMVideoCodecType_HEVC)
    /// JPEG.
    public static let jpeg = MediaSubType(rawValue: kCMVideoCodecType_JPEG)
    /// Pixels in B, G, R, A order.
    public static let pixelFormat_32BGRA = MediaSubType(rawValue: kCVPixelFormatType_32BGRA)
  }

  /// Extensions of a description, by key. A copy: changing it changes no description.
  public struct Extensions: Hashable, Sendable {
    /// The name of an extension.
    public struct Key: RawRepresentable, Hashable, Sendable {
      /// The key as the C-style calls take it.
      public var rawValue: CFString
      /// A key by its name.
      public init(rawValue: CFString) { self.rawValue = rawValue }

      /// Atoms of the sample entry by name; values are `Data`.
      public static let sampleDescriptionExtensionAtoms = Key(
        rawValue: kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms)
      /// The codec's name for people.
      public static let formatName = Key(rawValue: kCMFormatDescriptionExtension_FormatName)
      /// True for full-range YCbCr.
      public static let fullRangeVideo = Key(rawValue: kCMFormatDescriptionExtension_FullRangeVideo)
      /// Which colours the primaries are.
      public static let colorPrimaries = Key(rawValue: kCMFormatDescriptionExtension_ColorPrimaries)
      /// The transfer function.
      public static let transferFunction = Key(rawValue: kCMFormatDescriptionExtension_TransferFunction)
      /// The matrix between RGB and YCbCr.
      public static let yCbCrMatrix = Key(rawValue: kCMFormatDescriptionExtension_YCbCrMatrix)
    }

    var values: [String: PropertyValue] = [:]

    /// No extensions.
    public init() {}

    /// How many there are.
    public var count: Int { values.count }

    /// The value of a key. Setting a value that no property list can hold removes the key.
    public subscript(key: Key) -> Any? {
      get { values[key.rawValue]?.any }
      set { values[key.rawValue] = newValue.flatMap(PropertyValue.init) }
    }
  }

  /// A description of video.
  ///
  /// - Throws: ``MediaStatusError`` for a negative size or one beyond 32 bits, or a configuration record that can't be
  ///   read.
  public convenience init(
    videoCodecType: MediaSubType, width: Int, height: Int, extensions: Extensions? = nil
  ) throws(MediaStatusError) {
    guard let width = Int32(exactly: width), let height = Int32(exactly: height), width >= 0, height >= 0 else {
      throw MediaStatusError(status: kCMFormatDescriptionError_InvalidParameter)
    }
    try self.init(
      type: kCMMediaType_Video, subType: videoCodecType.rawValue, size: CMVideoDimensions(width: width, height: height),
      reading: extensions?.values ?? [:])
  }

  /// The description of an image buffer: its pixel format and size, and its colour attachments as extensions.
  public convenience init(imageBuffer: CVImageBuffer) throws(MediaStatusError) { self.init(of: imageBuffer) }

  /// A description of HEVC video from its parameter sets, each a NAL unit with its header and without start code.
  ///
  /// - Throws: ``MediaStatusError`` if a set is missing or can't be read.
  public convenience init(
    hevcParameterSets: [Data], nalUnitHeaderLength: Int = 4, extensions: Extensions? = nil
  ) throws(MediaStatusError) {
    self.init(
      sets: try ParameterSets(codec: .hevc, units: hevcParameterSets.map(Array.init), lengthSize: nalUnitHeaderLength),
      values: extensions?.values ?? [:])
  }

  /// A description of H.264 video from its parameter sets, each a NAL unit with its header and without start code.
  ///
  /// - Throws: ``MediaStatusError`` if a set is missing or can't be read.
  public convenience init(h264ParameterSets: [Data], nalUnitHeaderLength: Int = 4) throws(MediaStatusError) {
    self.init(
      sets: try ParameterSets(codec: .h264, units: h264ParameterSets.map(Array.init), lengthSize: nalUnitHeaderLength),
      values: [:])
  }

  /// Which kind of media is described.
  public var mediaType: MediaType { MediaType(rawValue: type) }
  /// How the media is coded; a pixel format for pictures in memory.
  public var mediaSubType: MediaSubType { MediaSubType(rawValue: subType) }
  /// Size of the pictures, inside the conformance or cropping window; zero for media that has none.
  public var dimensions: CMVideoDimensions { size }
  /// All extensions.
  public var extensions: Extensions {
    var extensions = Extensions()
    extensions.values = values
    return extensions
  }
  /// Copies of the parameter sets, in the order in which they were given; empty for media that has none.
  public var parameterSets: [Data] { sets?.units.map { Data($0) } ?? [] }
  /// Bytes of the length before each NAL unit in samples; 0 for media that has none.
  public var nalUnitHeaderLength: Int { sets?.lengthSize ?? 0 }
}
