/// The result code of a Core Video call.
public typealias CVReturn = Int32
/// Option bits of a Core Video call; none are defined for most calls.
public typealias CVOptionFlags = UInt64

/// Success.
public let kCVReturnSuccess: CVReturn = 0
/// A failure that no other code describes, such as an unlock without a lock.
public let kCVReturnError: CVReturn = -6660
/// An argument is out of range or contradicts another.
public let kCVReturnInvalidArgument: CVReturn = -6661
/// The system gave no memory.
public let kCVReturnAllocationFailed: CVReturn = -6662
/// The call exists but can't do this here.
public let kCVReturnUnsupported: CVReturn = -6663
/// The pixel format is none that this module lays out.
public let kCVReturnInvalidPixelFormat: CVReturn = -6680
/// Width or height is zero, negative or more than ``CVPixelBuffer`` allows.
public let kCVReturnInvalidSize: CVReturn = -6681
/// An attribute has a value of the wrong kind.
public let kCVReturnInvalidPixelBufferAttributes: CVReturn = -6682
/// The pool has as many buffers in use as the caller allows.
public let kCVReturnWouldExceedAllocationThreshold: CVReturn = -6689
/// The pool could not be made.
public let kCVReturnPoolAllocationFailed: CVReturn = -6690
/// The pool's attributes lack size or format, or contradict.
public let kCVReturnInvalidPoolAttributes: CVReturn = -6691
