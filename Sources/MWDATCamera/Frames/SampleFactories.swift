import LinkProtocol
import PortableMedia
import Units

/// Makes sample buffers of decoded pictures; the format description is made anew only when the pictures change form.
struct PictureSampleFactory: Sendable {
  private var format: CMVideoFormatDescription?

  init() {}

  mutating func makeSample(
    _ picture: CVPixelBuffer, presentation: Instant
  ) throws(MediaStatusError) -> CMSampleBuffer {
    let format: CMVideoFormatDescription
    if let known = self.format, CMVideoFormatDescriptionMatchesImageBuffer(known, imageBuffer: picture) {
      format = known
    } else {
      format = try CMVideoFormatDescription(imageBuffer: picture)
      self.format = format
    }
    return CMSampleBuffer(decodedPicture: picture, format: format, timing: CMSampleTimingInfo(presentation))
  }
}

/// Why a unit can't be used.
enum UnusableUnit: Error, Hashable, Sendable, CustomStringConvertible {
  /// Lengths and bytes don't fit, or there is no picture.
  case malformed
  /// It says that it is a sync unit with its parameter sets, and is none.
  case notSync
  /// Its parameter sets can't be read.
  case parameterSets(MediaStatusError)
  /// It brings parameter sets other than those of the sync unit before it, and is no sync unit itself.
  case strayParameterSets

  var description: String {
    switch self {
    case .malformed: "the access unit is malformed"
    case .notSync: "the access unit is marked as a sync unit and can't be decoded alone"
    case .parameterSets(let error): "the parameter sets of the stream can't be read: \(error)"
    case .strayParameterSets: "the parameter sets changed without a sync unit"
    }
  }
}

/// Makes sample buffers of HEVC access units without copying them; the format description is made anew only when the
/// parameter sets change.
struct UnitSampleFactory: Sendable {
  /// The bytes before the picture of the last unit that had parameter sets.
  private var header: ArraySlice<UInt8> = []
  private var parameterSets: [[UInt8]] = []
  private var format: CMVideoFormatDescription?

  init() {}

  /// Checks that a unit is what it says it is, and keeps its parameter sets, if it has some.
  mutating func examine(_ unit: AccessUnit) throws(UnusableUnit) -> AccessUnitLayout {
    guard let layout = AccessUnitLayout(unit.payload) else { throw .malformed }
    if unit.flags.contains(.sync) {
      guard layout.isRandomAccess, !layout.parameterSets.isEmpty else { throw .notSync }
    }
    let new = unit.payload[..<layout.pictureStart]
    guard !layout.parameterSets.isEmpty, format == nil || new != header else { return layout }
    let sets = layout.parameterSets.map { Array(unit.payload[$0]) }
    guard layout.isRandomAccess else {
      // Some encoders repeat one with each picture.
      guard sets.allSatisfy({ parameterSets.contains($0) }) else { throw .strayParameterSets }
      return layout
    }
    do throws(MediaStatusError) {
      format = try CMFormatDescription.hevc(parameterSets: sets)
    } catch {
      throw .parameterSets(error)
    }
    // A copy of its own: a slice would keep the whole unit.
    header = ArraySlice(Array(new))
    parameterSets = sets
    return layout
  }

  /// Nil when no parameter sets have come.
  func makeSample(_ received: ReceivedUnit, _ layout: AccessUnitLayout) -> CMSampleBuffer? {
    guard let format, let data = CMBlockBuffer(bytes: received.unit.payload, offset: layout.pictureStart) else {
      return nil
    }
    return CMSampleBuffer(
      codedPicture: data, format: format, timing: CMSampleTimingInfo(received.presentation),
      size: received.unit.payload.count - layout.pictureStart,
      dependsOnOthers: !received.unit.flags.contains(.sync))
  }
}

extension CMSampleTimingInfo {
  /// A picture shown at a time on the host's clock, for as long as none follows.
  init(_ presentation: Instant) {
    self.init(
      duration: .invalid, presentationTimeStamp: CMTime(value: presentation.nanoseconds, timescale: 1_000_000_000),
      decodeTimeStamp: .invalid)
  }
}
