/// Sample attachment, Bool: decoding can't begin here. A sample without it is a sync sample.
public let kCMSampleAttachmentKey_NotSync: CFString = "NotSync"
/// Sample attachment, Bool: a sync sample of a kind from which not all that follow can be decoded.
public let kCMSampleAttachmentKey_PartialSync: CFString = "PartialSync"
/// Sample attachment, Bool: the sample is coded twice.
public let kCMSampleAttachmentKey_HasRedundantCoding: CFString = "HasRedundantCoding"
/// Sample attachment, Bool: others need this sample to be decoded.
public let kCMSampleAttachmentKey_IsDependedOnByOthers: CFString = "IsDependedOnByOthers"
/// Sample attachment, Bool: this sample needs others to be decoded.
public let kCMSampleAttachmentKey_DependsOnOthers: CFString = "DependsOnOthers"
/// Sample attachment, Bool: later samples may be shown before this one.
public let kCMSampleAttachmentKey_EarlierDisplayTimesAllowed: CFString = "EarlierDisplayTimesAllowed"
/// Sample attachment, Bool: show as soon as decoded, whatever the times say.
public let kCMSampleAttachmentKey_DisplayImmediately: CFString = "DisplayImmediately"
/// Sample attachment, Bool: decode, but don't show.
public let kCMSampleAttachmentKey_DoNotDisplay: CFString = "DoNotDisplay"

/// Attachments of each sample, as an array of dictionaries; nil if there are none and `createIfNecessary` is false.
///
/// Read as on a phone: `CMSampleBufferGetSampleAttachmentsArray(buffer, createIfNecessary: false) as? [[CFString:
/// Any]]`, then by key `as? Bool`. Without bridged reference types the dictionaries are copies, so writing goes by
/// ``CMSampleBuffer/sampleAttachments``, in code that is the same on a phone.
public func CMSampleBufferGetSampleAttachmentsArray(_ sbuf: CMSampleBuffer, createIfNecessary: Bool) -> CFArray? {
  sbuf.state.withLock { state in
    if state.sampleAttachments.isEmpty, createIfNecessary {
      state.sampleAttachments = Array(repeating: [:], count: sbuf.count)
    }
    guard !state.sampleAttachments.isEmpty else { return nil }
    return state.sampleAttachments.map { sample -> Any in sample.mapValues { value -> Any in value } }
  }
}

extension CMSampleBuffer {
  /// Attachments of each sample, to read and write: `buffer.sampleAttachments[0][.notSync] as? Bool`.
  ///
  /// Writing changes the sample buffer itself, whoever else holds it. Any thread.
  public var sampleAttachments: SampleAttachmentsArray { SampleAttachmentsArray(buffer: self) }

  /// Attachments of each sample of one buffer, by index.
  public struct SampleAttachmentsArray: RandomAccessCollection, Sendable {
    let buffer: CMSampleBuffer

    /// Always 0.
    public var startIndex: Int { 0 }
    /// The number of samples.
    public var endIndex: Int { buffer.count }
    /// One sample's attachments. An index that doesn't exist gives attachments that are empty and stay so.
    public subscript(position: Int) -> PerSampleAttachmentsDictionary {
      PerSampleAttachmentsDictionary(buffer: buffer, index: position)
    }
  }

  /// Attachments of one sample, by key.
  public struct PerSampleAttachmentsDictionary: Sendable {
    let buffer: CMSampleBuffer
    let index: Int

    /// The name of an attachment.
    public struct Key: RawRepresentable, Hashable, Sendable {
      /// The key as the C-style calls take it.
      public var rawValue: CFString
      /// A key by its name.
      public init(rawValue: CFString) { self.rawValue = rawValue }

      /// Bool: decoding can't begin here. A sample without it is a sync sample.
      public static let notSync = Key(rawValue: kCMSampleAttachmentKey_NotSync)
      /// Bool: a sync sample of a kind from which not all that follow can be decoded.
      public static let partialSync = Key(rawValue: kCMSampleAttachmentKey_PartialSync)
      /// Bool: the sample is coded twice.
      public static let hasRedundantCoding = Key(rawValue: kCMSampleAttachmentKey_HasRedundantCoding)
      /// Bool: others need this sample to be decoded.
      public static let isDependedOnByOthers = Key(rawValue: kCMSampleAttachmentKey_IsDependedOnByOthers)
      /// Bool: this sample needs others to be decoded.
      public static let dependsOnOthers = Key(rawValue: kCMSampleAttachmentKey_DependsOnOthers)
      /// Bool: later samples may be shown before this one.
      public static let earlierDisplayTimesAllowed = Key(rawValue: kCMSampleAttachmentKey_EarlierDisplayTimesAllowed)
      /// Bool: show as soon as decoded, whatever the times say.
      public static let displayImmediately = Key(rawValue: kCMSampleAttachmentKey_DisplayImmediately)
      /// Bool: decode, but don't show.
      public static let doNotDisplay = Key(rawValue: kCMSampleAttachmentKey_DoNotDisplay)
    }

    /// How many there are.
    public var count: Int {
      buffer.state.withLock { $0.sampleAttachments.indices.contains(index) ? $0.sampleAttachments[index].count : 0 }
    }

    /// The value of a key; setting nil removes it.
    public subscript(key: Key) -> CFTypeRef? {
      get {
        buffer.state.withLock { state in
          state.sampleAttachments.indices.contains(index) ? state.sampleAttachments[index][key.rawValue] : nil
        }
      }
      nonmutating set {
        buffer.state.withLock { state in
          if state.sampleAttachments.isEmpty {
            state.sampleAttachments = Array(repeating: [:], count: buffer.count)
          }
          guard state.sampleAttachments.indices.contains(index) else { return }
          state.sampleAttachments[index][key.rawValue] = newValue
        }
      }
    }
  }
}
