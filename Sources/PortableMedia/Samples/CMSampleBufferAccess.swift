/// The coded bytes; nil for a picture, and as long as they weren't set.
public func CMSampleBufferGetDataBuffer(_ sbuf: CMSampleBuffer) -> CMBlockBuffer? {
  sbuf.state.withLock { $0.dataBuffer }
}

/// Gives the sample buffer its bytes, once.
///
/// - Returns: ``noErr``, or ``kCMSampleBufferError_AlreadyHasDataBuffer`` if it has bytes or a picture.
@discardableResult
public func CMSampleBufferSetDataBuffer(_ sbuf: CMSampleBuffer, newValue dataBuffer: CMBlockBuffer) -> OSStatus {
  sbuf.state.withLock { state in
    guard state.dataBuffer == nil, sbuf.image == nil else { return kCMSampleBufferError_AlreadyHasDataBuffer }
    state.dataBuffer = dataBuffer
    return noErr
  }
}

/// The picture; nil for coded samples.
public func CMSampleBufferGetImageBuffer(_ sbuf: CMSampleBuffer) -> CVImageBuffer? { sbuf.image }

/// How the samples are to be understood.
public func CMSampleBufferGetFormatDescription(_ sbuf: CMSampleBuffer) -> CMFormatDescription? { sbuf.format }

/// Number of samples.
public func CMSampleBufferGetNumSamples(_ sbuf: CMSampleBuffer) -> CMItemCount { sbuf.count }

/// The earliest time at which a sample is shown; invalid if the sample buffer says no times.
///
/// For what a stream delivers: capture time on ``CMClockGetHostTimeClock()``.
public func CMSampleBufferGetPresentationTimeStamp(_ sbuf: CMSampleBuffer) -> CMTime {
  sbuf.timings.map(\.presentationTimeStamp).min() ?? .invalid
}

/// The time at which the first sample is decoded; invalid if that is when it is shown.
public func CMSampleBufferGetDecodeTimeStamp(_ sbuf: CMSampleBuffer) -> CMTime {
  sbuf.timings.first?.decodeTimeStamp ?? .invalid
}

/// The sum of all samples' durations; invalid if one isn't known.
public func CMSampleBufferGetDuration(_ sbuf: CMSampleBuffer) -> CMTime {
  guard let first = sbuf.timings.first else { return .invalid }
  if sbuf.timings.count > 1 { return sbuf.timings.dropFirst().reduce(first.duration) { $0 + $1.duration } }
  return CMTimeMultiply(first.duration, multiplier: Int32(clamping: sbuf.count))
}

/// The time at which the samples come out: what was set, else when they are shown.
public func CMSampleBufferGetOutputPresentationTimeStamp(_ sbuf: CMSampleBuffer) -> CMTime {
  sbuf.state.withLock { $0.outputTime } ?? CMSampleBufferGetPresentationTimeStamp(sbuf)
}

/// Sets the time at which the samples come out; an invalid one removes it.
@discardableResult
public func CMSampleBufferSetOutputPresentationTimeStamp(
  _ sbuf: CMSampleBuffer, newValue outputPresentationTimeStamp: CMTime
) -> OSStatus {
  let time = outputPresentationTimeStamp.isValid ? outputPresentationTimeStamp : nil
  sbuf.state.withLock { $0.outputTime = time }
  return noErr
}

/// How long the samples take when they come out: here always ``CMSampleBufferGetDuration(_:)``.
public func CMSampleBufferGetOutputDuration(_ sbuf: CMSampleBuffer) -> CMTime { CMSampleBufferGetDuration(sbuf) }

/// The timing of one sample.
///
/// - Returns: ``noErr``, ``kCMSampleBufferError_BufferHasNoSampleTimingInfo`` or
///   ``kCMSampleBufferError_SampleIndexOutOfRange``.
@discardableResult
public func CMSampleBufferGetSampleTimingInfo(
  _ sbuf: CMSampleBuffer, at sampleIndex: CMItemCount, timingInfoOut: UnsafeMutablePointer<CMSampleTimingInfo>
) -> OSStatus {
  guard !sbuf.timings.isEmpty else { return kCMSampleBufferError_BufferHasNoSampleTimingInfo }
  guard let timing = sbuf.timing(at: sampleIndex) else { return kCMSampleBufferError_SampleIndexOutOfRange }
  timingInfoOut.pointee = timing
  return noErr
}

/// The timing entries as they were given: none, one for all samples, or one each. `entriesNeededOut` is set in any
/// case.
///
/// - Returns: ``noErr``, ``kCMSampleBufferError_BufferHasNoSampleTimingInfo`` or
///   ``kCMSampleBufferError_ArrayTooSmall``.
@discardableResult
public func CMSampleBufferGetSampleTimingInfoArray(
  _ sbuf: CMSampleBuffer, entryCount timingArrayEntries: CMItemCount,
  arrayToFill timingArrayOut: UnsafeMutablePointer<CMSampleTimingInfo>?,
  entriesNeededOut timingArrayEntriesNeededOut: UnsafeMutablePointer<CMItemCount>?
) -> OSStatus {
  timingArrayEntriesNeededOut?.pointee = sbuf.timings.count
  guard !sbuf.timings.isEmpty else { return kCMSampleBufferError_BufferHasNoSampleTimingInfo }
  return fill(timingArrayOut, timingArrayEntries, with: sbuf.timings)
}

/// The size of one sample in bytes; 0 if the sample buffer says no sizes or has no such sample.
public func CMSampleBufferGetSampleSize(_ sbuf: CMSampleBuffer, at sampleIndex: CMItemCount) -> Int {
  sbuf.size(at: sampleIndex)
}

/// The size entries as they were given: none, one for all samples, or one each. `entriesNeededOut` is set in any case.
///
/// - Returns: ``noErr``, ``kCMSampleBufferError_BufferHasNoSampleSizes`` or ``kCMSampleBufferError_ArrayTooSmall``.
@discardableResult
public func CMSampleBufferGetSampleSizeArray(
  _ sbuf: CMSampleBuffer, entryCount sizeArrayEntries: CMItemCount,
  arrayToFill sizeArrayOut: UnsafeMutablePointer<Int>?,
  entriesNeededOut sizeArrayEntriesNeededOut: UnsafeMutablePointer<CMItemCount>?
) -> OSStatus {
  sizeArrayEntriesNeededOut?.pointee = sbuf.sizes.count
  guard !sbuf.sizes.isEmpty else { return kCMSampleBufferError_BufferHasNoSampleSizes }
  return fill(sizeArrayOut, sizeArrayEntries, with: sbuf.sizes)
}

/// The size of all samples in bytes; 0 if the sample buffer says no sizes.
public func CMSampleBufferGetTotalSampleSize(_ sbuf: CMSampleBuffer) -> Int {
  guard let first = sbuf.sizes.first else { return 0 }
  // Sizes come from the caller: a sum that no memory could hold stays at the largest number.
  if sbuf.sizes.count == 1 {
    let (product, overflow) = first.multipliedReportingOverflow(by: sbuf.count)
    return overflow ? .max : product
  }
  return sbuf.sizes.reduce(0) { sum, size in
    let (next, overflow) = sum.addingReportingOverflow(size)
    return overflow ? .max : next
  }
}

private func fill<Entry>(
  _ array: UnsafeMutablePointer<Entry>?, _ room: CMItemCount, with entries: [Entry]
) -> OSStatus {
  // Asking without an array is how a caller learns how much room it needs.
  guard let array else { return noErr }
  guard room >= entries.count else { return kCMSampleBufferError_ArrayTooSmall }
  for (index, entry) in entries.enumerated() { array[index] = entry }
  return noErr
}
