/// Makes a description of HEVC video from its parameter sets (VPS, SPS and PPS at least), each a NAL unit with its
/// header and without start code.
///
/// - Parameters:
///   - nalUnitHeaderLength: bytes of the length before each NAL unit in samples: 1, 2 or 4.
///   - extensions: further extensions of the description.
/// - Returns: ``noErr``, ``kCMFormatDescriptionError_InvalidParameter`` if a set is missing or can't be read, or
///   ``kCMFormatDescriptionError_AllocationFailed``.
@discardableResult
public func CMVideoFormatDescriptionCreateFromHEVCParameterSets(
  allocator: CFAllocator?, parameterSetCount: Int, parameterSetPointers: UnsafePointer<UnsafePointer<UInt8>>,
  parameterSetSizes: UnsafePointer<Int>, nalUnitHeaderLength NALUnitHeaderLength: Int32, extensions: CFDictionary?,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  create(
    .hevc, parameterSetCount, parameterSetPointers, parameterSetSizes, NALUnitHeaderLength, extensions,
    formatDescriptionOut)
}

/// Makes a description of H.264 video from its parameter sets (SPS and PPS at least), by the rules of
/// `CMVideoFormatDescriptionCreateFromHEVCParameterSets`.
@discardableResult
public func CMVideoFormatDescriptionCreateFromH264ParameterSets(
  allocator: CFAllocator?, parameterSetCount: Int, parameterSetPointers: UnsafePointer<UnsafePointer<UInt8>>,
  parameterSetSizes: UnsafePointer<Int>, nalUnitHeaderLength NALUnitHeaderLength: Int32,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  create(
    .h264, parameterSetCount, parameterSetPointers, parameterSetSizes, NALUnitHeaderLength, nil, formatDescriptionOut)
}

/// More sets than any encoder writes; the standards allow 16 VPS, 32 SPS and 256 PPS.
private let maximumSetCount = 304

private func create(
  _ codec: ParameterSets.Codec, _ count: Int, _ pointers: UnsafePointer<UnsafePointer<UInt8>>,
  _ sizes: UnsafePointer<Int>, _ headerLength: Int32, _ extensions: CFDictionary?,
  _ formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard (1...maximumSetCount).contains(count), let values = PropertyValue.all(extensions ?? [:]) else {
    return kCMFormatDescriptionError_InvalidParameter
  }
  var units: [[UInt8]] = []
  for index in 0..<count {
    guard (1...HEVCConfigurationRecord.maximumSetLength).contains(sizes[index]) else {
      return kCMFormatDescriptionError_InvalidParameter
    }
    units.append(Array(UnsafeBufferPointer(start: pointers[index], count: sizes[index])))
  }
  do throws(MediaStatusError) {
    let sets = try ParameterSets(codec: codec, units: units, lengthSize: Int(headerLength))
    formatDescriptionOut.pointee = CMFormatDescription(sets: sets, values: values)
    return noErr
  } catch {
    return error.status
  }
}

/// A parameter set of an HEVC description, and how many there are. Any out parameter may be nil.
///
/// The bytes are valid as long as the description is referenced.
///
/// - Returns: ``noErr``, ``kCMFormatDescriptionError_ValueNotAvailable`` for a description without HEVC parameter sets,
///   or ``kCMFormatDescriptionError_InvalidParameter`` for an index that doesn't exist (count and length are set all
///   the same).
@discardableResult
public func CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
  _ videoDesc: CMFormatDescription, parameterSetIndex: Int,
  parameterSetPointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  parameterSetSizeOut: UnsafeMutablePointer<Int>?, parameterSetCountOut: UnsafeMutablePointer<Int>?,
  nalUnitHeaderLengthOut NALUnitHeaderLengthOut: UnsafeMutablePointer<Int32>?
) -> OSStatus {
  get(
    .hevc, videoDesc, parameterSetIndex, parameterSetPointerOut, parameterSetSizeOut, parameterSetCountOut,
    NALUnitHeaderLengthOut)
}

/// A parameter set of an H.264 description, by the rules of
/// `CMVideoFormatDescriptionGetHEVCParameterSetAtIndex`.
@discardableResult
public func CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
  _ videoDesc: CMFormatDescription, parameterSetIndex: Int,
  parameterSetPointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
  parameterSetSizeOut: UnsafeMutablePointer<Int>?, parameterSetCountOut: UnsafeMutablePointer<Int>?,
  nalUnitHeaderLengthOut NALUnitHeaderLengthOut: UnsafeMutablePointer<Int32>?
) -> OSStatus {
  get(
    .h264, videoDesc, parameterSetIndex, parameterSetPointerOut, parameterSetSizeOut, parameterSetCountOut,
    NALUnitHeaderLengthOut)
}

private func get(
  _ codec: ParameterSets.Codec, _ description: CMFormatDescription, _ index: Int,
  _ pointerOut: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, _ sizeOut: UnsafeMutablePointer<Int>?,
  _ countOut: UnsafeMutablePointer<Int>?, _ headerLengthOut: UnsafeMutablePointer<Int32>?
) -> OSStatus {
  guard let sets = description.sets, sets.codec == codec else { return kCMFormatDescriptionError_ValueNotAvailable }
  countOut?.pointee = sets.count
  headerLengthOut?.pointee = Int32(truncatingIfNeeded: sets.lengthSize)
  guard (0..<sets.count).contains(index) else { return kCMFormatDescriptionError_InvalidParameter }
  pointerOut?.pointee = sets[index].baseAddress
  sizeOut?.pointee = sets[index].count
  return noErr
}
