/// Whether an attachment follows its buffer into what is made from it.
public enum CVAttachmentMode: UInt32, Hashable, Sendable {
  /// Stays behind when attachments are propagated.
  case shouldNotPropagate = 0
  /// Is copied when attachments are propagated.
  case shouldPropagate = 1
}

/// Attaches a value to a buffer, in place of an older one of the same key. Any thread.
public func CVBufferSetAttachment(
  _ buffer: CVBuffer, _ key: CFString, _ value: CFTypeRef, _ attachmentMode: CVAttachmentMode
) {
  buffer.attachments[key] = .init(value: value, propagates: attachmentMode == .shouldPropagate)
}

/// The value of a key, and its mode if asked; nil if there is none.
public func CVBufferCopyAttachment(
  _ buffer: CVBuffer, _ key: CFString, _ attachmentMode: UnsafeMutablePointer<CVAttachmentMode>?
) -> CFTypeRef? {
  guard let entry = buffer.attachments[key] else { return nil }
  attachmentMode?.pointee = entry.propagates ? .shouldPropagate : .shouldNotPropagate
  return entry.value
}

/// True if there is a value for the key.
public func CVBufferHasAttachment(_ buffer: CVBuffer, _ key: CFString) -> Bool { buffer.attachments[key] != nil }

/// Removes the value of a key, if there is one.
public func CVBufferRemoveAttachment(_ buffer: CVBuffer, _ key: CFString) { buffer.attachments[key] = nil }

/// Removes all attachments.
public func CVBufferRemoveAllAttachments(_ buffer: CVBuffer) { buffer.attachments.removeAll() }

/// All attachments of a mode; nil if there are none.
public func CVBufferCopyAttachments(_ buffer: CVBuffer, _ attachmentMode: CVAttachmentMode) -> CFDictionary? {
  buffer.attachments.values(propagating: attachmentMode == .shouldPropagate)
}

/// Copies the attachments that propagate from one buffer to another.
public func CVBufferPropagateAttachments(_ sourceBuffer: CVBuffer, _ destinationBuffer: CVBuffer) {
  sourceBuffer.attachments.propagate(to: destinationBuffer.attachments)
}
