import FoundationEssentials

/// Makes a description of any kind of media.
///
/// - Returns: ``noErr``, or ``kCMFormatDescriptionError_InvalidParameter`` for an extension that no property list can
///   hold.
@discardableResult
public func CMFormatDescriptionCreate(
  allocator: CFAllocator?, mediaType: CMMediaType, mediaSubType: FourCharCode, extensions: CFDictionary?,
  formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  create(type: mediaType, subType: mediaSubType, size: .init(), extensions: extensions, formatDescriptionOut)
}

/// Makes a description of video.
///
/// A configuration record among the extension atoms (`hvcC` for ``kCMVideoCodecType_HEVC``, `avcC` for
/// ``kCMVideoCodecType_H264``) is read and its parameter sets can then be asked for.
///
/// - Returns: ``noErr``, or ``kCMFormatDescriptionError_InvalidParameter`` for a negative size, a record that can't be
///   read, or an extension that no property list can hold.
@discardableResult
public func CMVideoFormatDescriptionCreate(
  allocator: CFAllocator?, codecType: CMVideoCodecType, width: Int32, height: Int32, extensions: CFDictionary?,
  formatDescriptionOut: UnsafeMutablePointer<CMVideoFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard width >= 0, height >= 0 else { return kCMFormatDescriptionError_InvalidParameter }
  return create(
    type: kCMMediaType_Video, subType: codecType, size: .init(width: width, height: height), extensions: extensions,
    formatDescriptionOut)
}

/// Makes the description of an image buffer: its pixel format and size, and its colour attachments as extensions.
@discardableResult
public func CMVideoFormatDescriptionCreateForImageBuffer(
  allocator: CFAllocator?, imageBuffer: CVImageBuffer,
  formatDescriptionOut: UnsafeMutablePointer<CMVideoFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = CMFormatDescription(of: imageBuffer)
  return noErr
}

/// True if the description is the one that
/// ``CMVideoFormatDescriptionCreateForImageBuffer(allocator:imageBuffer:formatDescriptionOut:)`` would make.
public func CMVideoFormatDescriptionMatchesImageBuffer(
  _ videoDesc: CMVideoFormatDescription, imageBuffer: CVImageBuffer
) -> Bool {
  videoDesc.type == kCMMediaType_Video && videoDesc.subType == imageBuffer.format
    && videoDesc.size == imageBuffer.dimensions && videoDesc.values == imageBuffer.colourValues
}

extension CVBuffer {
  fileprivate var dimensions: CMVideoDimensions {
    // Edges are at most `PixelLayout.maximumEdge`.
    CMVideoDimensions(width: Int32(truncatingIfNeeded: width), height: Int32(truncatingIfNeeded: height))
  }

  fileprivate var colourValues: [String: PropertyValue] {
    let keys = [
      kCVImageBufferColorPrimariesKey, kCVImageBufferTransferFunctionKey, kCVImageBufferYCbCrMatrixKey,
    ]
    return keys.reduce(into: [:]) { $0[$1] = attachments[$1].flatMap { PropertyValue($0.value) } }
  }
}

private func create(
  type: CMMediaType, subType: FourCharCode, size: CMVideoDimensions, extensions: CFDictionary?,
  _ formatDescriptionOut: UnsafeMutablePointer<CMFormatDescription?>
) -> OSStatus {
  formatDescriptionOut.pointee = nil
  guard let values = PropertyValue.all(extensions ?? [:]) else { return kCMFormatDescriptionError_InvalidParameter }
  do throws(MediaStatusError) {
    formatDescriptionOut.pointee = try CMFormatDescription(type: type, subType: subType, size: size, reading: values)
    return noErr
  } catch {
    return error.status
  }
}

extension CMFormatDescription {
  /// A description whose parameter sets, if it has any, are in its extensions.
  convenience init(
    type: CMMediaType, subType: FourCharCode, size: CMVideoDimensions, reading values: [String: PropertyValue]
  ) throws(MediaStatusError) {
    let sets = type == kCMMediaType_Video ? try Self.parameterSets(subType: subType, values: values) : nil
    self.init(type: type, subType: subType, size: size, values: values, sets: sets)
  }

  private static func parameterSets(
    subType: FourCharCode, values: [String: PropertyValue]
  ) throws(MediaStatusError) -> ParameterSets? {
    guard case .dictionary(let atoms) = values[kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms] else {
      return nil
    }
    switch subType {
    case kCMVideoCodecType_HEVC:
      guard case .data(let record) = atoms["hvcC"] else { return nil }
      return try ParameterSets(codec: .hevc, record: Array(record))
    case kCMVideoCodecType_H264:
      guard case .data(let record) = atoms["avcC"] else { return nil }
      return try ParameterSets(codec: .h264, record: Array(record))
    default: return nil
    }
  }

  /// A description of an image buffer.
  convenience init(of imageBuffer: CVImageBuffer) {
    self.init(
      type: kCMMediaType_Video, subType: imageBuffer.format, size: imageBuffer.dimensions,
      values: imageBuffer.colourValues, sets: nil)
  }
}

/// Which kind of media is described.
public func CMFormatDescriptionGetMediaType(_ desc: CMFormatDescription) -> CMMediaType { desc.type }

/// How the media is coded; a pixel format for pictures in memory.
public func CMFormatDescriptionGetMediaSubType(_ desc: CMFormatDescription) -> FourCharCode { desc.subType }

/// All extensions; nil if there are none.
public func CMFormatDescriptionGetExtensions(_ desc: CMFormatDescription) -> CFDictionary? {
  desc.values.isEmpty ? nil : desc.values.mapValues(\.any)
}

/// The extension of a key; nil if there is none.
public func CMFormatDescriptionGetExtension(_ desc: CMFormatDescription, extensionKey: CFString) -> Any? {
  desc.values[extensionKey]?.any
}

/// True if both descriptions say the same; two absent ones do.
public func CMFormatDescriptionEqual(
  _ formatDescription: CMFormatDescription?, otherFormatDescription: CMFormatDescription?
) -> Bool {
  formatDescription == otherFormatDescription
}

/// Size of the pictures, inside the conformance or cropping window; zero for media that has none.
public func CMVideoFormatDescriptionGetDimensions(_ videoDesc: CMVideoFormatDescription) -> CMVideoDimensions {
  videoDesc.size
}
