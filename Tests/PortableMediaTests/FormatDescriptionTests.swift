import Foundation
import PortableMedia
import TestSupport
import Testing

@Suite("Format descriptions")
struct FormatDescriptionTests {
  /// Calls the C-style creator as clients do.
  private func create(_ sets: [[UInt8]], hevc: Bool, headerLength: Int32 = 4) -> (CMFormatDescription?, OSStatus) {
    var description: CMFormatDescription?
    let joined = sets.flatMap { $0 }
    let status = joined.withUnsafeBufferPointer { buffer -> OSStatus in
      guard let base = buffer.baseAddress else { return -1 }
      var offset = 0
      let pointers = sets.map { set in
        defer { offset += set.count }
        return base + offset
      }
      let sizes = sets.map(\.count)
      if hevc {
        return CMVideoFormatDescriptionCreateFromHEVCParameterSets(
          allocator: kCFAllocatorDefault, parameterSetCount: sets.count, parameterSetPointers: pointers,
          parameterSetSizes: sizes, nalUnitHeaderLength: headerLength, extensions: nil,
          formatDescriptionOut: &description)
      }
      return CMVideoFormatDescriptionCreateFromH264ParameterSets(
        allocator: kCFAllocatorDefault, parameterSetCount: sets.count, parameterSetPointers: pointers,
        parameterSetSizes: sizes, nalUnitHeaderLength: headerLength, formatDescriptionOut: &description)
    }
    return (description, status)
  }

  @Test("HEVC parameter sets give kind, coding and size, and come back by index")
  func hevc() throws {
    let description = try #require(create(ParameterSetFixtures.hevcSets, hevc: true).0)
    #expect(CMFormatDescriptionGetMediaType(description) == kCMMediaType_Video)
    #expect(CMFormatDescriptionGetMediaSubType(description) == kCMVideoCodecType_HEVC)
    let dimensions = CMVideoFormatDescriptionGetDimensions(description)
    #expect(dimensions.width == 504 && dimensions.height == 896)
    for (index, set) in ParameterSetFixtures.hevcSets.enumerated() {
      var pointer: UnsafePointer<UInt8>?
      var (size, count, headerLength) = (0, 0, Int32(0))
      let status = CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
        description, parameterSetIndex: index, parameterSetPointerOut: &pointer, parameterSetSizeOut: &size,
        parameterSetCountOut: &count, nalUnitHeaderLengthOut: &headerLength)
      #expect(status == noErr && count == 3 && headerLength == 4)
      #expect(Array(UnsafeBufferPointer(start: pointer, count: size)) == set)
    }
    var count = 0
    let outside = CMVideoFormatDescriptionGetHEVCParameterSetAtIndex(
      description, parameterSetIndex: 3, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
      parameterSetCountOut: &count, nalUnitHeaderLengthOut: nil)
    #expect(outside == kCMFormatDescriptionError_InvalidParameter && count == 3)
    let other = CMVideoFormatDescriptionGetH264ParameterSetAtIndex(
      description, parameterSetIndex: 0, parameterSetPointerOut: nil, parameterSetSizeOut: nil,
      parameterSetCountOut: nil, nalUnitHeaderLengthOut: nil)
    #expect(other == kCMFormatDescriptionError_ValueNotAvailable)
  }

  @Test("Damaged parameter sets give a description in range, whose sets come back, or a status; never a trap")
  func damagedSets() {
    for (sets, hevc) in [(ParameterSetFixtures.hevcSets, true), (ParameterSetFixtures.h264Sets, false)] {
      for index in sets.indices {
        for damaged in DecoderVerifier.damaged(sets[index]) {
          var changed = sets
          changed[index] = damaged
          let (description, status) = create(changed, hevc: hevc)
          #expect((description == nil) == (status != noErr))
          guard let description else { continue }
          let size = CMVideoFormatDescriptionGetDimensions(description)
          #expect((1...65_536).contains(size.width) && (1...131_072).contains(size.height))
        }
      }
    }
  }

  @Test("H.264 parameter sets too")
  func h264() throws {
    let description = try #require(create(ParameterSetFixtures.h264Sets, hevc: false, headerLength: 2).0)
    #expect(description.mediaSubType == .h264 && description.dimensions == CMVideoDimensions(width: 504, height: 896))
    #expect(description.parameterSets.map(Array.init) == ParameterSetFixtures.h264Sets)
    #expect(description.nalUnitHeaderLength == 2)
  }

  @Test("A missing set, a bad one, and a length size that doesn't exist are invalid parameters")
  func invalid() {
    let sets = ParameterSetFixtures.hevcSets
    for missing in 0..<3 {
      let rest = sets.enumerated().filter { $0.offset != missing }.map(\.element)
      #expect(create(rest, hevc: true).1 == kCMFormatDescriptionError_InvalidParameter)
    }
    let cut = [sets[0], Array(sets[1].prefix(20)), sets[2]]
    #expect(create(cut, hevc: true).1 == kCMFormatDescriptionError_InvalidParameter)
    #expect(create(sets, hevc: true, headerLength: 3).1 == kCMFormatDescriptionError_InvalidParameter)
    #expect(create(sets, hevc: true, headerLength: 0).1 == kCMFormatDescriptionError_InvalidParameter)
    #expect(create([ParameterSetFixtures.h264Sets[0]], hevc: false).0 == nil)
    #expect(throws: MediaStatusError(status: kCMFormatDescriptionError_InvalidParameter)) {
      try CMFormatDescription(hevcParameterSets: [])
    }
  }

  @Test("The sample entry's atom is there, and a description made from it has the same parameter sets")
  func atoms() throws {
    let description = try CMFormatDescription(hevcParameterSets: ParameterSetFixtures.hevcSets.map { Data($0) })
    let key = kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms
    let atoms = try #require(CMFormatDescriptionGetExtension(description, extensionKey: key) as? [String: Any])
    #expect(atoms["hvcC"] as? Data == Data(ParameterSetFixtures.hvcC))
    var copy: CMFormatDescription?
    let status = CMVideoFormatDescriptionCreate(
      allocator: nil, codecType: kCMVideoCodecType_HEVC, width: 504, height: 896,
      extensions: CMFormatDescriptionGetExtensions(description), formatDescriptionOut: &copy)
    #expect(status == noErr)
    #expect(copy?.parameterSets == description.parameterSets)
    #expect(CMFormatDescriptionEqual(copy, otherFormatDescription: description))
    #expect(copy?.hashValue == description.hashValue)
  }

  @Test("A record that can't be read and an extension that can't be held are invalid parameters")
  func badExtensions() {
    struct Opaque {}
    let key = kCMFormatDescriptionExtension_SampleDescriptionExtensionAtoms
    let dictionaries: [[CFString: Any]] = [[key: ["hvcC": Data([1, 2, 3])]], ["x": Opaque()]]
    for extensions in dictionaries {
      var description: CMFormatDescription?
      let status = CMVideoFormatDescriptionCreate(
        allocator: nil, codecType: kCMVideoCodecType_HEVC, width: 1, height: 1, extensions: extensions as CFDictionary,
        formatDescriptionOut: &description)
      #expect(status == kCMFormatDescriptionError_InvalidParameter && description == nil)
    }
  }

  @Test("A description of pixels fits its buffer and no other")
  func images() throws {
    let buffer = try #require(
      CVPixelBuffer(width: 64, height: 48, pixelFormat: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    CVBufferSetAttachment(
      buffer, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2, .shouldPropagate)
    let description = try CMFormatDescription(imageBuffer: buffer)
    #expect(description.mediaSubType.rawValue == kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange)
    #expect(description.extensions[.yCbCrMatrix] as? String == "ITU_R_709_2")
    #expect(description.description == "vide 420v 64x48")
    #expect(CMVideoFormatDescriptionMatchesImageBuffer(description, imageBuffer: buffer))
    let other = try #require(
      CVPixelBuffer(width: 64, height: 50, pixelFormat: kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange))
    #expect(!CMVideoFormatDescriptionMatchesImageBuffer(description, imageBuffer: other))
  }

  @Test("Errors carry Apple's domain and code when seen as NSError")
  func errors() {
    let error = MediaStatusError(status: -12710) as NSError
    #expect(error.domain == "NSOSStatusErrorDomain" && error.code == -12710)
  }
}
