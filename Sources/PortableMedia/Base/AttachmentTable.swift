import Synchronization

/// Whether an attachment follows its buffer into what is made from it.
public typealias CMAttachmentMode = UInt32
/// Stays behind when attachments are propagated.
public let kCMAttachmentMode_ShouldNotPropagate: CMAttachmentMode = 0
/// Is copied when attachments are propagated.
public let kCMAttachmentMode_ShouldPropagate: CMAttachmentMode = 1

/// Attachments of one buffer, by key. Any thread may read and write.
final class AttachmentTable: Sendable {
  struct Entry: Sendable {
    var value: any Sendable
    var propagates: Bool
  }

  private let entries = Mutex<[String: Entry]>([:])

  subscript(key: String) -> Entry? {
    get { entries.withLock { $0[key] } }
    set { entries.withLock { $0[key] = newValue } }
  }

  func removeAll() { entries.withLock { $0.removeAll() } }

  /// All values of one mode, or nil if there are none.
  func values(propagating: Bool) -> CFDictionary? {
    let kept = entries.withLock { $0 }.filter { $0.value.propagates == propagating }
    return kept.isEmpty ? nil : kept.mapValues { entry -> Any in entry.value }
  }

  /// Copies what propagates.
  func propagate(to other: AttachmentTable) {
    let propagating = entries.withLock { $0.filter { $0.value.propagates } }
    other.entries.withLock { $0.merge(propagating) { _, new in new } }
  }
}
