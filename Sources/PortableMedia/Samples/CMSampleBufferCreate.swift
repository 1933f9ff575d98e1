/// Makes a sample buffer over coded data.
///
/// - Parameters:
///   - dataBuffer: the bytes of all samples, one after another; may be set later.
///   - dataReady: false if the bytes aren't there yet.
///   - makeDataReadyCallback: called by ``CMSampleBufferMakeDataReady(_:)``, on the caller's thread.
///   - sampleTimingArray: no entry, one for the first sample whose duration is that of all, or one a sample.
///   - sampleSizeArray: no entry, one that all samples share, or one a sample.
/// - Returns: ``noErr``, ``kCMSampleBufferError_RequiredParameterMissing`` for a negative count or an array that is
///   nil, or ``kCMSampleBufferError_InvalidEntryCount``.
@discardableResult
public func CMSampleBufferCreate(
  allocator: CFAllocator?, dataBuffer: CMBlockBuffer?, dataReady: Bool,
  makeDataReadyCallback: CMSampleBufferMakeDataReadyCallback?, refcon makeDataReadyRefcon: UnsafeMutableRawPointer?,
  formatDescription: CMFormatDescription?, sampleCount: CMItemCount, sampleTimingEntryCount: CMItemCount,
  sampleTimingArray: UnsafePointer<CMSampleTimingInfo>?, sampleSizeEntryCount: CMItemCount,
  sampleSizeArray: UnsafePointer<Int>?, sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  sampleBufferOut.pointee = nil
  do throws(MediaStatusError) {
    sampleBufferOut.pointee = CMSampleBuffer(
      dataBuffer: dataBuffer, image: nil, format: formatDescription, count: try checked(sampleCount),
      timings: try entries(sampleTimingArray, sampleTimingEntryCount, sampleCount),
      sizes: try entries(sampleSizeArray, sampleSizeEntryCount, sampleCount), isReady: dataReady,
      makeReady: makeReady(makeDataReadyCallback, makeDataReadyRefcon))
    return noErr
  } catch {
    return error.status
  }
}

/// Makes a sample buffer over coded data that is there, by the rules of
/// `CMSampleBufferCreate`.
@discardableResult
public func CMSampleBufferCreateReady(
  allocator: CFAllocator?, dataBuffer: CMBlockBuffer?, formatDescription: CMFormatDescription?,
  sampleCount: CMItemCount, sampleTimingEntryCount: CMItemCount,
  sampleTimingArray: UnsafePointer<CMSampleTimingInfo>?, sampleSizeEntryCount: CMItemCount,
  sampleSizeArray: UnsafePointer<Int>?, sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMSampleBufferCreate(
    allocator: allocator, dataBuffer: dataBuffer, dataReady: true, makeDataReadyCallback: nil, refcon: nil,
    formatDescription: formatDescription, sampleCount: sampleCount, sampleTimingEntryCount: sampleTimingEntryCount,
    sampleTimingArray: sampleTimingArray, sampleSizeEntryCount: sampleSizeEntryCount,
    sampleSizeArray: sampleSizeArray, sampleBufferOut: sampleBufferOut)
}

/// Makes a sample buffer of one picture.
///
/// - Returns: ``noErr``, or ``kCMSampleBufferError_InvalidMediaFormat`` for a description that doesn't fit the picture.
@discardableResult
public func CMSampleBufferCreateForImageBuffer(
  allocator: CFAllocator?, imageBuffer: CVImageBuffer, dataReady: Bool,
  makeDataReadyCallback: CMSampleBufferMakeDataReadyCallback?, refcon makeDataReadyRefcon: UnsafeMutableRawPointer?,
  formatDescription: CMVideoFormatDescription, sampleTiming: UnsafePointer<CMSampleTimingInfo>,
  sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  sampleBufferOut.pointee = nil
  guard CMVideoFormatDescriptionMatchesImageBuffer(formatDescription, imageBuffer: imageBuffer) else {
    return kCMSampleBufferError_InvalidMediaFormat
  }
  sampleBufferOut.pointee = CMSampleBuffer(
    dataBuffer: nil, image: imageBuffer, format: formatDescription, count: 1, timings: [sampleTiming.pointee],
    sizes: [], isReady: dataReady, makeReady: makeReady(makeDataReadyCallback, makeDataReadyRefcon))
  return noErr
}

/// Makes a sample buffer of one picture that is there.
///
/// - Returns: ``noErr``, or ``kCMSampleBufferError_InvalidMediaFormat`` for a description that doesn't fit the picture.
@discardableResult
public func CMSampleBufferCreateReadyWithImageBuffer(
  allocator: CFAllocator?, imageBuffer: CVImageBuffer, formatDescription: CMVideoFormatDescription,
  sampleTiming: UnsafePointer<CMSampleTimingInfo>, sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  CMSampleBufferCreateForImageBuffer(
    allocator: allocator, imageBuffer: imageBuffer, dataReady: true, makeDataReadyCallback: nil, refcon: nil,
    formatDescription: formatDescription, sampleTiming: sampleTiming, sampleBufferOut: sampleBufferOut)
}

/// Makes a sample buffer of the same data, times and attachments that propagate. Bytes and pixels are shared, not
/// copied.
@discardableResult
public func CMSampleBufferCreateCopy(
  allocator: CFAllocator?, sampleBuffer sbuf: CMSampleBuffer, sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  sampleBufferOut.pointee = sbuf.copy(timings: sbuf.timings)
  return noErr
}

/// Makes a sample buffer of the same data with other times. Bytes and pixels are shared, not copied.
///
/// - Returns: ``noErr``, or an error as of
///   `CMSampleBufferCreate`.
@discardableResult
public func CMSampleBufferCreateCopyWithNewTiming(
  allocator: CFAllocator?, sampleBuffer originalSBuf: CMSampleBuffer, sampleTimingEntryCount: CMItemCount,
  sampleTimingArray: UnsafePointer<CMSampleTimingInfo>?, sampleBufferOut: UnsafeMutablePointer<CMSampleBuffer?>
) -> OSStatus {
  sampleBufferOut.pointee = nil
  do throws(MediaStatusError) {
    let timings = try entries(sampleTimingArray, sampleTimingEntryCount, originalSBuf.count)
    sampleBufferOut.pointee = originalSBuf.copy(timings: timings)
    return noErr
  } catch {
    return error.status
  }
}

private func checked(_ count: CMItemCount) throws(MediaStatusError) -> Int {
  guard count >= 0 else { throw MediaStatusError(status: kCMSampleBufferError_RequiredParameterMissing) }
  return count
}

/// Entries for samples: none, one, or one each.
private func entries<Entry>(
  _ array: UnsafePointer<Entry>?, _ count: CMItemCount, _ samples: CMItemCount
) throws(MediaStatusError) -> [Entry] {
  guard count == 0 || count == 1 || count == samples, count >= 0 else {
    throw MediaStatusError(status: kCMSampleBufferError_InvalidEntryCount)
  }
  guard count > 0 else { return [] }
  guard let array else { throw MediaStatusError(status: kCMSampleBufferError_RequiredParameterMissing) }
  return Array(UnsafeBufferPointer(start: array, count: count))
}

private func makeReady(
  _ callback: CMSampleBufferMakeDataReadyCallback?, _ reference: UnsafeMutableRawPointer?
) -> CMSampleBuffer.MakeReady? {
  callback.map { .init(callback: $0, reference: UInt(bitPattern: reference)) }
}
