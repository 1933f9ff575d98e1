extension CMSampleBuffer {
  /// A sample buffer over coded data; see
  /// `CMSampleBufferCreate`.
  ///
  /// - Throws: ``MediaStatusError`` for a negative count, or entries whose number is neither 0, 1 nor that of the
  ///   samples.
  public convenience init(
    dataBuffer: CMBlockBuffer?, dataReady: Bool = true, formatDescription: CMFormatDescription?,
    numSamples: CMItemCount, sampleTimings: [CMSampleTimingInfo], sampleSizes: [Int]
  ) throws(MediaStatusError) {
    guard numSamples >= 0 else { throw MediaStatusError(status: kCMSampleBufferError_RequiredParameterMissing) }
    func fits(_ count: Int) -> Bool { count == 0 || count == 1 || count == numSamples }
    guard fits(sampleTimings.count), fits(sampleSizes.count) else {
      throw MediaStatusError(status: kCMSampleBufferError_InvalidEntryCount)
    }
    self.init(
      dataBuffer: dataBuffer, image: nil, format: formatDescription, count: numSamples, timings: sampleTimings,
      sizes: sampleSizes, isReady: dataReady)
  }

  /// A sample buffer of one picture.
  ///
  /// - Throws: ``MediaStatusError`` for a description that doesn't fit the picture.
  public convenience init(
    imageBuffer: CVImageBuffer, dataReady: Bool = true, formatDescription: CMVideoFormatDescription,
    sampleTiming: CMSampleTimingInfo
  ) throws(MediaStatusError) {
    guard CMVideoFormatDescriptionMatchesImageBuffer(formatDescription, imageBuffer: imageBuffer) else {
      throw MediaStatusError(status: kCMSampleBufferError_InvalidMediaFormat)
    }
    self.init(
      dataBuffer: nil, image: imageBuffer, format: formatDescription, count: 1, timings: [sampleTiming], sizes: [],
      isReady: dataReady)
  }

  /// A sample buffer of the same data with other times; bytes and pixels are shared.
  ///
  /// - Throws: ``MediaStatusError`` for entries whose number is neither 0, 1 nor that of the samples.
  public convenience init(
    copying sampleBuffer: CMSampleBuffer, withNewTiming sampleTimings: [CMSampleTimingInfo]
  ) throws(MediaStatusError) {
    guard [0, 1, sampleBuffer.count].contains(sampleTimings.count) else {
      throw MediaStatusError(status: kCMSampleBufferError_InvalidEntryCount)
    }
    let state = sampleBuffer.state.withLock { $0 }
    self.init(
      dataBuffer: state.dataBuffer, image: sampleBuffer.image, format: sampleBuffer.format, count: sampleBuffer.count,
      timings: sampleTimings, sizes: sampleBuffer.sizes, isReady: state.readiness == .ready,
      makeReady: sampleBuffer.makeReady, sampleAttachments: state.sampleAttachments)
    sampleBuffer.attachments.propagate(to: attachments)
  }

  /// A sample buffer of the same data and times; bytes and pixels are shared.
  public convenience init(copying sampleBuffer: CMSampleBuffer) throws(MediaStatusError) {
    try self.init(copying: sampleBuffer, withNewTiming: sampleBuffer.timings)
  }

  /// The coded bytes; nil for a picture.
  public var dataBuffer: CMBlockBuffer? { CMSampleBufferGetDataBuffer(self) }
  /// The picture; nil for coded samples.
  public var imageBuffer: CVImageBuffer? { image }
  /// How the samples are to be understood.
  public var formatDescription: CMFormatDescription? { format }
  /// Number of samples.
  public var numSamples: CMItemCount { count }
  /// The earliest time at which a sample is shown; invalid if none is said.
  public var presentationTimeStamp: CMTime { CMSampleBufferGetPresentationTimeStamp(self) }
  /// The time at which the first sample is decoded; invalid if that is when it is shown.
  public var decodeTimeStamp: CMTime { CMSampleBufferGetDecodeTimeStamp(self) }
  /// The sum of all samples' durations; invalid if one isn't known.
  public var duration: CMTime { CMSampleBufferGetDuration(self) }
  /// The time at which the samples come out: what was set, else when they are shown.
  public var outputPresentationTimeStamp: CMTime { CMSampleBufferGetOutputPresentationTimeStamp(self) }
  /// How long the samples take when they come out.
  public var outputDuration: CMTime { CMSampleBufferGetOutputDuration(self) }
  /// The size of all samples in bytes; 0 if no sizes are said.
  public var totalSampleSize: Int { CMSampleBufferGetTotalSampleSize(self) }
  /// True until the sample buffer is invalidated.
  public var isValid: Bool { CMSampleBufferIsValid(self) }
  /// Whether the data is there.
  public var dataReadiness: DataReadiness { state.withLock { $0.readiness } }

  /// The size of one sample in bytes; 0 if no sizes are said or there is no such sample.
  public func sampleSize(at index: CMItemCount) -> Int { size(at: index) }

  /// The sizes as they were given: one for all samples, or one each.
  ///
  /// - Throws: ``MediaStatusError`` if none were.
  public func sampleSizes() throws(MediaStatusError) -> [Int] {
    guard !sizes.isEmpty else { throw MediaStatusError(status: kCMSampleBufferError_BufferHasNoSampleSizes) }
    return sizes
  }

  /// The timing of one sample.
  ///
  /// - Throws: ``MediaStatusError`` if none is said or there is no such sample.
  public func sampleTimingInfo(at index: CMItemCount) throws(MediaStatusError) -> CMSampleTimingInfo {
    var timing = CMSampleTimingInfo()
    try check(CMSampleBufferGetSampleTimingInfo(self, at: index, timingInfoOut: &timing))
    return timing
  }

  /// The timings as they were given: one for all samples, or one each.
  ///
  /// - Throws: ``MediaStatusError`` if none were.
  public func sampleTimingInfos() throws(MediaStatusError) -> [CMSampleTimingInfo] {
    guard !timings.isEmpty else { throw MediaStatusError(status: kCMSampleBufferError_BufferHasNoSampleTimingInfo) }
    return timings
  }

  /// Says that the samples are not to be used any more.
  ///
  /// - Throws: ``MediaStatusError`` the second time.
  public func invalidate() throws(MediaStatusError) { try check(CMSampleBufferInvalidate(self)) }

  /// Says that the data is there; see ``CMSampleBufferSetDataReady(_:)``.
  public func setDataReady() throws(MediaStatusError) { try check(CMSampleBufferSetDataReady(self)) }

  /// Makes the data ready by the callback given at creation; see ``CMSampleBufferMakeDataReady(_:)``.
  public func makeDataReady() throws(MediaStatusError) { try check(CMSampleBufferMakeDataReady(self)) }
}

// Buffers are compared as the objects that they are, as Core Foundation's are.

extension CMSampleBuffer: Hashable {
  /// True for the same object.
  public static func == (a: CMSampleBuffer, b: CMSampleBuffer) -> Bool { a === b }
  /// Feeds the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension CVBuffer: Hashable {
  /// True for the same object.
  public static func == (a: CVBuffer, b: CVBuffer) -> Bool { a === b }
  /// Feeds the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension CMBlockBuffer: Hashable {
  /// True for the same object.
  public static func == (a: CMBlockBuffer, b: CMBlockBuffer) -> Bool { a === b }
  /// Feeds the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
