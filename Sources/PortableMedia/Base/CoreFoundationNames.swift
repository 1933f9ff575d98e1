// The few Core Foundation names that occur in the signatures of Core Media and Core Video. Linux has no toll-free
// bridging, so each stands for the Swift type that Apple's would be bridged to: code that writes
// `attributes as CFDictionary` or `array as? [[CFString: Any]]` compiles and means the same on both sides.

/// A string.
public typealias CFString = String
/// An array of anything.
public typealias CFArray = [Any]
/// A dictionary by string keys.
public typealias CFDictionary = [CFString: Any]
/// A value that can be attached to a buffer. Sendable, because buffers are.
public typealias CFTypeRef = any Sendable
/// A truth value.
public typealias CFBoolean = Bool
/// An index or count.
public typealias CFIndex = Int
/// A count of samples or entries.
public typealias CMItemCount = CFIndex

/// True, as a value for an attachment.
public let kCFBooleanTrue: CFBoolean = true
/// False, as a value for an attachment.
public let kCFBooleanFalse: CFBoolean = false

/// Who allocates and frees a block of memory. Memory always comes from the C library here; the null allocator says that
/// a block handed in is not to be freed.
public struct CFAllocator: Hashable, Sendable {
  enum Kind { case malloc, null }

  let kind: Kind
}

/// The usual allocator.
public let kCFAllocatorDefault: CFAllocator? = nil
/// The C library's allocator.
public let kCFAllocatorMalloc: CFAllocator? = CFAllocator(kind: .malloc)
/// An allocator that frees nothing: the caller keeps owning the memory.
public let kCFAllocatorNull: CFAllocator? = CFAllocator(kind: .null)
