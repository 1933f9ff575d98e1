import Foundation
import PortableMedia
import Testing

private func timing(_ presentation: Int64, duration: Int64 = 1, decode: CMTime = .invalid) -> CMSampleTimingInfo {
  CMSampleTimingInfo(
    duration: CMTime(value: duration, timescale: 24),
    presentationTimeStamp: CMTime(value: presentation, timescale: 24), decodeTimeStamp: decode)
}

@Suite("Sample buffers")
struct SampleBufferTests {
  private func create(
    _ data: CMBlockBuffer?, count: Int, timings: [CMSampleTimingInfo], sizes: [Int]
  ) -> (CMSampleBuffer?, OSStatus) {
    var buffer: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: kCFAllocatorDefault, dataBuffer: data, formatDescription: nil, sampleCount: count,
      sampleTimingEntryCount: timings.count, sampleTimingArray: timings, sampleSizeEntryCount: sizes.count,
      sampleSizeArray: sizes, sampleBufferOut: &buffer)
    return (buffer, status)
  }

  @Test("A coded picture has its bytes, size, time and description, and is a sync sample until marked")
  func codedPicture() throws {
    let format = try CMFormatDescription.hevc(parameterSets: ParameterSetFixtures.hevcSets)
    let unit = try #require(CMBlockBuffer(bytes: [0, 0, 0, 1, 0x26, 1, 2, 3]))
    let time = CMTime(value: 5_000_000_001, timescale: 1_000_000_000)
    let sample = try CMSampleBuffer(
      dataBuffer: unit, formatDescription: format, numSamples: 1,
      sampleTimings: [CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: time, decodeTimeStamp: .invalid)],
      sampleSizes: [unit.dataLength])
    #expect(CMSampleBufferGetDataBuffer(sample) === unit && CMSampleBufferGetImageBuffer(sample) == nil)
    #expect(CMSampleBufferGetFormatDescription(sample) === format)
    #expect(CMSampleBufferGetPresentationTimeStamp(sample) == time)
    #expect(!CMSampleBufferGetDecodeTimeStamp(sample).isValid)
    #expect(CMSampleBufferGetTotalSampleSize(sample) == 8 && CMSampleBufferGetSampleSize(sample, at: 0) == 8)
    #expect(CMSampleBufferIsValid(sample) && CMSampleBufferDataIsReady(sample) && sample.dataReadiness == .ready)
    #expect(sample.numSamples == 1 && !sample.duration.isValid)
    #expect(sample.sampleAttachments[0][.notSync] == nil)
    sample.sampleAttachments[0][.notSync] = true
    sample.sampleAttachments[0][.dependsOnOthers] = true
    #expect(sample.sampleAttachments[0][.notSync] as? Bool == true)
    #expect(sample.sampleAttachments.first?[.dependsOnOthers] as? Bool == true)
  }

  @Test("A decoded picture has its pixels, and only a description that fits")
  func decodedPicture() throws {
    let format = kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
    let picture = try #require(CVPixelBuffer(width: 504, height: 896, pixelFormat: format))
    let description = try CMFormatDescription(imageBuffer: picture)
    let sample = try CMSampleBuffer(imageBuffer: picture, formatDescription: description, sampleTiming: timing(0))
    #expect(sample.formatDescription === description && sample.imageBuffer === picture)
    #expect(sample.totalSampleSize == 0 && sample.dataBuffer == nil && sample.numSamples == 1)
    let larger = try #require(CVPixelBuffer(width: 720, height: 1280, pixelFormat: format))
    #expect(throws: MediaStatusError(status: kCMSampleBufferError_InvalidMediaFormat)) {
      try CMSampleBuffer(imageBuffer: larger, formatDescription: description, sampleTiming: timing(0))
    }
    var made: CMSampleBuffer?
    var wrong = timing(0)
    let status = CMSampleBufferCreateReadyWithImageBuffer(
      allocator: nil, imageBuffer: larger, formatDescription: description, sampleTiming: &wrong, sampleBufferOut: &made)
    #expect(status == kCMSampleBufferError_InvalidMediaFormat && made == nil)
  }

  @Test("One timing and one size stand for all samples")
  func sharedEntries() throws {
    let decode = CMTime(value: 10, timescale: 24)
    let buffer = try #require(create(nil, count: 3, timings: [timing(12, decode: decode)], sizes: [7]).0)
    #expect(buffer.duration == CMTime(value: 3, timescale: 24) && buffer.totalSampleSize == 21)
    #expect(buffer.sampleSize(at: 2) == 7 && buffer.sampleSize(at: 3) == 0 && buffer.sampleSize(at: -1) == 0)
    let last = try buffer.sampleTimingInfo(at: 2)
    #expect(last.presentationTimeStamp == CMTime(value: 14, timescale: 24))
    #expect(last.decodeTimeStamp == CMTime(value: 12, timescale: 24))
    for index in [3, -1, Int.max] {
      #expect(throws: MediaStatusError(status: kCMSampleBufferError_SampleIndexOutOfRange)) {
        try buffer.sampleTimingInfo(at: index)
      }
    }
  }

  @Test("Entries of their own: earliest presentation, first decode, sums")
  func ownEntries() throws {
    let timings = [timing(14, decode: CMTime(value: 12, timescale: 24)), timing(12, duration: 2), timing(13)]
    let buffer = try #require(create(nil, count: 3, timings: timings, sizes: [5, 6, 7]).0)
    #expect(buffer.presentationTimeStamp == CMTime(value: 12, timescale: 24))
    #expect(buffer.decodeTimeStamp == CMTime(value: 12, timescale: 24))
    #expect(buffer.duration == CMTime(value: 4, timescale: 24) && buffer.totalSampleSize == 18)
    #expect(try buffer.sampleTimingInfo(at: 1) == timings[1] && buffer.sampleSizes() == [5, 6, 7])
    var needed = 0
    var room = [CMSampleTimingInfo](repeating: .invalid, count: 3)
    #expect(
      CMSampleBufferGetSampleTimingInfoArray(buffer, entryCount: 2, arrayToFill: &room, entriesNeededOut: &needed)
        == kCMSampleBufferError_ArrayTooSmall)
    #expect(needed == 3 && room[0] == .invalid)
    #expect(
      CMSampleBufferGetSampleTimingInfoArray(buffer, entryCount: 3, arrayToFill: &room, entriesNeededOut: nil) == noErr)
    #expect(room == timings)
    #expect(
      CMSampleBufferGetSampleSizeArray(buffer, entryCount: 0, arrayToFill: nil, entriesNeededOut: &needed) == noErr
        && needed == 3)
  }

  @Test("No entries: invalid times and no sizes, said so")
  func noEntries() throws {
    let buffer = try #require(create(nil, count: 2, timings: [], sizes: []).0)
    #expect(!buffer.presentationTimeStamp.isValid && !buffer.duration.isValid && buffer.totalSampleSize == 0)
    #expect(throws: MediaStatusError(status: kCMSampleBufferError_BufferHasNoSampleSizes)) { try buffer.sampleSizes() }
    #expect(throws: MediaStatusError(status: kCMSampleBufferError_BufferHasNoSampleTimingInfo)) {
      try buffer.sampleTimingInfo(at: 0)
    }
  }

  @Test("Entry counts that don't fit, and absurd sizes, are refused or held, not trapped on")
  func badCounts() throws {
    #expect(
      create(nil, count: 3, timings: [timing(0), timing(1)], sizes: []).1 == kCMSampleBufferError_InvalidEntryCount)
    #expect(create(nil, count: 3, timings: [], sizes: [1, 2]).1 == kCMSampleBufferError_InvalidEntryCount)
    #expect(create(nil, count: -1, timings: [], sizes: []).1 == kCMSampleBufferError_RequiredParameterMissing)
    var buffer: CMSampleBuffer?
    let status = CMSampleBufferCreateReady(
      allocator: nil, dataBuffer: nil, formatDescription: nil, sampleCount: 1, sampleTimingEntryCount: 1,
      sampleTimingArray: nil, sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &buffer)
    #expect(status == kCMSampleBufferError_RequiredParameterMissing && buffer == nil)
    #expect(create(nil, count: .max, timings: [], sizes: [3]).0?.totalSampleSize == .max)
    #expect(create(nil, count: 2, timings: [], sizes: [.max, 1]).0?.totalSampleSize == .max)
    #expect(create(nil, count: .max, timings: [timing(0)], sizes: []).0?.duration.isNumeric == true)
    #expect(throws: MediaStatusError(status: kCMSampleBufferError_InvalidEntryCount)) {
      try CMSampleBuffer(
        dataBuffer: nil, formatDescription: nil, numSamples: 1, sampleTimings: [timing(0), timing(1)], sampleSizes: [])
    }
  }

  @Test("Data comes late, by the caller or by the callback, once")
  func readiness() throws {
    let buffer = try CMSampleBuffer(
      dataBuffer: nil, dataReady: false, formatDescription: nil, numSamples: 1, sampleTimings: [], sampleSizes: [])
    #expect(buffer.dataReadiness == .notReady)
    #expect(CMSampleBufferMakeDataReady(buffer) == kCMSampleBufferError_BufferNotReady)
    #expect(CMSampleBufferSetDataReady(buffer) == kCMSampleBufferError_BufferNotReady)
    let data = try CMBlockBuffer(length: 1)
    #expect(CMSampleBufferSetDataBuffer(buffer, newValue: data) == noErr)
    #expect(CMSampleBufferSetDataBuffer(buffer, newValue: data) == kCMSampleBufferError_AlreadyHasDataBuffer)
    #expect(CMSampleBufferSetDataReady(buffer) == noErr && CMSampleBufferDataIsReady(buffer))
    #expect(CMSampleBufferSetDataFailed(buffer, status: -1) == kCMSampleBufferError_InvalidSampleData)

    func late(_ callback: @escaping CMSampleBufferMakeDataReadyCallback) throws -> CMSampleBuffer {
      var late: CMSampleBuffer?
      CMSampleBufferCreate(
        allocator: nil, dataBuffer: nil, dataReady: false, makeDataReadyCallback: callback, refcon: nil,
        formatDescription: nil, sampleCount: 1, sampleTimingEntryCount: 0, sampleTimingArray: nil,
        sampleSizeEntryCount: 0, sampleSizeArray: nil, sampleBufferOut: &late)
      return try #require(late)
    }
    let made = try late { buffer, _ in
      guard let data = CMBlockBuffer(bytes: [9]) else { return -1 }
      return CMSampleBufferSetDataBuffer(buffer, newValue: data)
    }
    #expect(CMSampleBufferMakeDataReady(made) == noErr && made.dataBuffer?.bytes == [9])
    #expect(CMSampleBufferMakeDataReady(made) == noErr)
    let failing = try late { _, _ in -77 }
    #expect(CMSampleBufferMakeDataReady(failing) == -77 && failing.dataReadiness == .notReady)
    #expect(CMSampleBufferSetDataFailed(failing, status: -78) == noErr && failing.dataReadiness == .failed(-78))
    var status: OSStatus = 0
    #expect(CMSampleBufferHasDataFailed(failing, statusOut: &status) && status == -78)
    #expect(CMSampleBufferMakeDataReady(failing) == kCMSampleBufferError_DataFailed)
  }

  @Test("An invalidated sample buffer says so, and says it once")
  func invalidation() throws {
    let buffer = try #require(create(nil, count: 0, timings: [], sizes: []).0)
    try buffer.invalidate()
    #expect(!buffer.isValid)
    #expect(throws: MediaStatusError(status: kCMSampleBufferError_Invalidated)) { try buffer.invalidate() }
    #expect(CMSampleBufferMakeDataReady(buffer) == kCMSampleBufferError_Invalidated)
  }

  @Test("A copy with new times shares the bytes and keeps sample attachments of its own")
  func copying() throws {
    let data = try CMBlockBuffer(length: 4)
    let original = try #require(create(data, count: 1, timings: [timing(5)], sizes: [4]).0)
    original.sampleAttachments[0][.notSync] = true
    CMSetAttachment(original, key: "goes", value: true, attachmentMode: kCMAttachmentMode_ShouldPropagate)
    CMSetAttachment(original, key: "stays", value: true, attachmentMode: kCMAttachmentMode_ShouldNotPropagate)
    let copy = try CMSampleBuffer(copying: original, withNewTiming: [timing(9)])
    #expect(copy.dataBuffer === data && copy.presentationTimeStamp == CMTime(value: 9, timescale: 24))
    #expect(CMGetAttachment(copy, key: "goes", attachmentModeOut: nil) as? Bool == true)
    #expect(CMGetAttachment(copy, key: "stays", attachmentModeOut: nil) == nil)
    copy.sampleAttachments[0][.notSync] = nil
    #expect(original.sampleAttachments[0][.notSync] as? Bool == true)
    var plain: CMSampleBuffer?
    CMSampleBufferCreateCopy(allocator: nil, sampleBuffer: original, sampleBufferOut: &plain)
    #expect(plain?.presentationTimeStamp == original.presentationTimeStamp && plain != original)
    #expect(throws: MediaStatusError.self) {
      try CMSampleBuffer(copying: original, withNewTiming: [timing(0), timing(1)])
    }
  }

  @Test("The output time is the presentation time until it is set")
  func outputTime() throws {
    let buffer = try #require(create(nil, count: 1, timings: [timing(5)], sizes: []).0)
    #expect(buffer.outputPresentationTimeStamp == buffer.presentationTimeStamp)
    CMSampleBufferSetOutputPresentationTimeStamp(buffer, newValue: CMTime(value: 1, timescale: 1))
    #expect(buffer.outputPresentationTimeStamp == CMTime(value: 1, timescale: 1))
    CMSampleBufferSetOutputPresentationTimeStamp(buffer, newValue: .invalid)
    #expect(buffer.outputPresentationTimeStamp == buffer.presentationTimeStamp)
  }

  @Test("Sample attachments are read as on a phone and written in Swift style")
  func sampleAttachments() throws {
    let buffer = try #require(create(nil, count: 2, timings: [], sizes: []).0)
    #expect(CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) == nil)
    #expect(CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: true)?.count == 2)
    buffer.sampleAttachments[1][.notSync] = true
    // Outside: read nothing, write nothing.
    buffer.sampleAttachments[2][.notSync] = true
    buffer.sampleAttachments[-1][.notSync] = true
    #expect(buffer.sampleAttachments[7][.notSync] == nil && buffer.sampleAttachments.count == 2)
    let array = CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) as? [[CFString: Any]]
    #expect(array?.first?.isEmpty == true)
    #expect(array?.last?[kCMSampleAttachmentKey_NotSync] as? Bool == true)
    #expect(buffer.sampleAttachments.map { $0[.notSync] as? Bool ?? false } == [false, true])
  }

  @Test("Attachments of sample and image buffers go by one set of calls")
  func attachments() throws {
    let buffer = try #require(create(nil, count: 1, timings: [], sizes: []).0)
    let picture = try #require(CVPixelBuffer(width: 4, height: 4, pixelFormat: kCVPixelFormatType_32BGRA))
    let key = kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding
    CMSetAttachment(buffer, key: key, value: kCFBooleanTrue, attachmentMode: kCMAttachmentMode_ShouldPropagate)
    CMPropagateAttachments(buffer, destination: picture)
    #expect(CVBufferCopyAttachment(picture, key, nil) as? Bool == true)
    var mode = kCMAttachmentMode_ShouldNotPropagate
    #expect(CMGetAttachment(picture, key: key, attachmentModeOut: &mode) as? Bool == true)
    #expect(mode == kCMAttachmentMode_ShouldPropagate)
    let all = CMCopyDictionaryOfAttachments(
      allocator: nil, target: buffer, attachmentMode: kCMAttachmentMode_ShouldPropagate)
    #expect(all?[key] as? Bool == true)
    CMRemoveAttachment(buffer, key: key)
    #expect(CMGetAttachment(buffer, key: key, attachmentModeOut: nil) == nil)
    CMRemoveAllAttachments(picture)
    #expect(!CVBufferHasAttachment(picture, key))
  }
}
