import Synchronization

/// The system gave no memory.
public let kCMSampleBufferError_AllocationFailed: OSStatus = -12730
/// A parameter that is needed is nil or out of range.
public let kCMSampleBufferError_RequiredParameterMissing: OSStatus = -12731
/// The sample buffer has a data buffer already.
public let kCMSampleBufferError_AlreadyHasDataBuffer: OSStatus = -12732
/// The data isn't ready.
public let kCMSampleBufferError_BufferNotReady: OSStatus = -12733
/// There is no sample of that index.
public let kCMSampleBufferError_SampleIndexOutOfRange: OSStatus = -12734
/// The sample buffer says no sample sizes.
public let kCMSampleBufferError_BufferHasNoSampleSizes: OSStatus = -12735
/// The sample buffer says no times.
public let kCMSampleBufferError_BufferHasNoSampleTimingInfo: OSStatus = -12736
/// The caller's array has too little room.
public let kCMSampleBufferError_ArrayTooSmall: OSStatus = -12737
/// The number of entries is neither 0, 1 nor the number of samples.
public let kCMSampleBufferError_InvalidEntryCount: OSStatus = -12738
/// Times contradict each other.
public let kCMSampleBufferError_SampleTimingInfoInvalid: OSStatus = -12740
/// The call doesn't fit the kind of media.
public let kCMSampleBufferError_InvalidMediaTypeForOperation: OSStatus = -12741
/// The data doesn't fit what is said about it.
public let kCMSampleBufferError_InvalidSampleData: OSStatus = -12742
/// The format description doesn't fit the data.
public let kCMSampleBufferError_InvalidMediaFormat: OSStatus = -12743
/// The sample buffer was invalidated.
public let kCMSampleBufferError_Invalidated: OSStatus = -12744
/// Making the data failed.
public let kCMSampleBufferError_DataFailed: OSStatus = -16750

/// Called once to make a sample buffer's data; gets the sample buffer and the reference given at its creation.
public typealias CMSampleBufferMakeDataReadyCallback =
  @Sendable (CMSampleBuffer, UnsafeMutableRawPointer?) -> OSStatus

/// Samples of one track: coded bytes or a picture, with times and a description.
///
/// What a stream delivers is complete and shared: read it from any thread, keep it as long as needed, don't write to
/// it. Everything that can still change (readiness, late data, attachments, output time) is behind a mutex.
public final class CMSampleBuffer: Sendable {
  /// Whether the data is there.
  public enum DataReadiness: Hashable, Sendable {
    /// Not yet.
    case notReady
    /// It is.
    case ready
    /// It won't be.
    case failed(OSStatus)
  }

  /// A callback with the address it asked to get back. The address is a number here, since nobody but the callback
  /// follows it.
  struct MakeReady: Sendable {
    var callback: CMSampleBufferMakeDataReadyCallback
    var reference: UInt
  }

  struct State: Sendable {
    var dataBuffer: CMBlockBuffer?
    var readiness: DataReadiness
    var isValid = true
    var outputTime: CMTime?
    /// One dictionary a sample, or none at all as long as nobody wrote one.
    var sampleAttachments: [[String: any Sendable]] = []
  }

  let image: CVImageBuffer?
  let format: CMFormatDescription?
  let count: Int
  let timings: [CMSampleTimingInfo]
  let sizes: [Int]
  let makeReady: MakeReady?
  let attachments = AttachmentTable()
  let state: Mutex<State>

  init(
    dataBuffer: CMBlockBuffer?, image: CVImageBuffer?, format: CMFormatDescription?, count: Int,
    timings: [CMSampleTimingInfo], sizes: [Int], isReady: Bool, makeReady: MakeReady? = nil,
    sampleAttachments: [[String: any Sendable]] = []
  ) {
    self.image = image
    self.format = format
    self.count = count
    self.timings = timings
    self.sizes = sizes
    self.makeReady = makeReady
    state = Mutex(
      State(
        dataBuffer: dataBuffer, readiness: isReady ? .ready : .notReady, sampleAttachments: sampleAttachments))
  }

  /// Timing of a sample. One entry for several samples is that of the first, the others follow at its duration.
  func timing(at index: Int) -> CMSampleTimingInfo? {
    guard index >= 0, index < count, let first = timings.first else { return nil }
    if timings.count > 1 { return timings[index] }
    guard index > 0 else { return first }
    var timing = first
    let multiplier = Int32(clamping: index)
    timing.presentationTimeStamp = first.presentationTimeStamp + CMTimeMultiply(first.duration, multiplier: multiplier)
    if first.decodeTimeStamp.isValid {
      timing.decodeTimeStamp = first.decodeTimeStamp + CMTimeMultiply(first.duration, multiplier: multiplier)
    }
    return timing
  }

  /// Size of a sample; 0 if the sample buffer says no sizes or has no such sample.
  func size(at index: Int) -> Int {
    guard index >= 0, index < count, let first = sizes.first else { return 0 }
    return sizes.count > 1 ? sizes[index] : first
  }

  /// A sample buffer of the same data with other times.
  func copy(timings: [CMSampleTimingInfo]) -> CMSampleBuffer {
    let state = state.withLock { $0 }
    let copy = CMSampleBuffer(
      dataBuffer: state.dataBuffer, image: image, format: format, count: count, timings: timings, sizes: sizes,
      isReady: state.readiness == .ready, makeReady: makeReady, sampleAttachments: state.sampleAttachments)
    attachments.propagate(to: copy.attachments)
    return copy
  }
}

extension CMSampleBuffer {
  /// One decoded picture, ready, with a description made from it. For the rooms of this package.
  package convenience init(picture: CVImageBuffer, presentation: CMTime, duration: CMTime = .invalid) {
    let timing = CMSampleTimingInfo(
      duration: duration, presentationTimeStamp: presentation, decodeTimeStamp: .invalid)
    self.init(
      dataBuffer: nil, image: picture, format: CMFormatDescription(of: picture), count: 1, timings: [timing],
      sizes: [], isReady: true)
  }

  /// One decoded picture, ready, with a description that is known to fit it. For the rooms of this package.
  package convenience init(
    decodedPicture picture: CVImageBuffer, format: CMFormatDescription, timing: CMSampleTimingInfo
  ) {
    self.init(
      dataBuffer: nil, image: picture, format: format, count: 1, timings: [timing], sizes: [], isReady: true)
  }

  /// One coded picture, ready. For the rooms of this package.
  ///
  /// - Parameter dependsOnOthers: sets the attachments of a picture that can't be decoded alone. All such samples share
  ///   them until one is written to.
  package convenience init(
    codedPicture data: CMBlockBuffer, format: CMFormatDescription, timing: CMSampleTimingInfo, size: Int,
    dependsOnOthers: Bool
  ) {
    self.init(
      dataBuffer: data, image: nil, format: format, count: 1, timings: [timing], sizes: [size], isReady: true,
      sampleAttachments: dependsOnOthers ? Self.dependentAttachments : [])
  }

  private static let dependentAttachments: [[String: any Sendable]] = [
    [kCMSampleAttachmentKey_NotSync: true, kCMSampleAttachmentKey_DependsOnOthers: true]
  ]
}
