/// Something that attachments can be set on: a sample buffer or an image buffer.
public protocol CMAttachmentBearerProtocol: AnyObject, Sendable {}

/// Something that attachments can be set on.
public typealias CMAttachmentBearer = any CMAttachmentBearerProtocol

extension CMSampleBuffer: CMAttachmentBearerProtocol {}
extension CVBuffer: CMAttachmentBearerProtocol {}

/// Attachment of a sample buffer, Bool: what came before is no help for what follows; a decoder begins anew here. This
/// is how a discontinuity is marked.
public let kCMSampleBufferAttachmentKey_ResetDecoderBeforeDecoding: CFString = "ResetDecoderBeforeDecoding"
/// Attachment of a sample buffer, Bool: hand out all decoded pictures after this one.
public let kCMSampleBufferAttachmentKey_DrainAfterDecoding: CFString = "DrainAfterDecoding"
/// Attachment of a sample buffer: why the picture it stands for was dropped.
public let kCMSampleBufferAttachmentKey_DroppedFrameReason: CFString = "DroppedFrameReason"

/// Attaches a value, in place of an older one of the same key; nil removes. Any thread.
public func CMSetAttachment(
  _ target: CMAttachmentBearer, key: CFString, value: CFTypeRef?, attachmentMode: CMAttachmentMode
) {
  let propagates = attachmentMode == kCMAttachmentMode_ShouldPropagate
  table(of: target)?[key] = value.map { .init(value: $0, propagates: propagates) }
}

/// The value of a key, and its mode if asked; nil if there is none.
public func CMGetAttachment(
  _ target: CMAttachmentBearer, key: CFString, attachmentModeOut: UnsafeMutablePointer<CMAttachmentMode>?
) -> CFTypeRef? {
  guard let entry = table(of: target)?[key] else { return nil }
  attachmentModeOut?.pointee =
    entry.propagates ? kCMAttachmentMode_ShouldPropagate : kCMAttachmentMode_ShouldNotPropagate
  return entry.value
}

/// Removes the value of a key, if there is one.
public func CMRemoveAttachment(_ target: CMAttachmentBearer, key: CFString) { table(of: target)?[key] = nil }

/// Removes all attachments.
public func CMRemoveAllAttachments(_ target: CMAttachmentBearer) { table(of: target)?.removeAll() }

/// All attachments of a mode; nil if there are none.
public func CMCopyDictionaryOfAttachments(
  allocator: CFAllocator?, target: CMAttachmentBearer, attachmentMode: CMAttachmentMode
) -> CFDictionary? {
  table(of: target)?.values(propagating: attachmentMode == kCMAttachmentMode_ShouldPropagate)
}

/// Copies the attachments that propagate from one bearer to another.
public func CMPropagateAttachments(_ source: CMAttachmentBearer, destination: CMAttachmentBearer) {
  guard let source = table(of: source), let destination = table(of: destination) else { return }
  source.propagate(to: destination)
}

/// Other conformers than this module's have none.
private func table(of bearer: CMAttachmentBearer) -> AttachmentTable? {
  switch bearer {
  case let buffer as CMSampleBuffer: buffer.attachments
  case let buffer as CVBuffer: buffer.attachments
  default: nil
  }
}
