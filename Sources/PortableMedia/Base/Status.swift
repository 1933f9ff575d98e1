/// The result code of a C-style call: 0 for success, else one of the constants beside the call's family.
public typealias OSStatus = Int32

/// Success, for every call that returns an ``OSStatus``.
public let noErr: OSStatus = 0

/// A failed call of this module's Swift-style interface, with the code its C-style twin would have returned.
///
/// Seen as an `NSError` it has Apple's domain and code, so that code which looks at `(error as NSError).code`
/// works on both sides.
public struct MediaStatusError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What the C-style call returned; never ``noErr``.
  public let status: OSStatus

  /// An error with the given code.
  public init(status: OSStatus) { self.status = status }

  /// The code in words for logs.
  public var description: String { "media call failed with status \(status)" }

  // The two requirements of `Error` that Foundation turns into an NSError's domain and code. They carry an
  // underscore in the standard library; the public way to say the same (`CustomNSError`) would bring all of Foundation.
  /// The domain that Apple uses for result codes.
  public var _domain: String { "NSOSStatusErrorDomain" }
  /// The status as an error code.
  public var _code: Int { Int(status) }
}

/// Runs a C-style call that fills an out parameter and returns what it made, or throws its status.
func made<Value>(_ call: (UnsafeMutablePointer<Value?>) -> OSStatus) throws(MediaStatusError) -> Value {
  var value: Value?
  let status = call(&value)
  guard status == noErr, let value else { throw MediaStatusError(status: status) }
  return value
}

/// Throws unless `status` is success.
func check(_ status: OSStatus) throws(MediaStatusError) {
  guard status == noErr else { throw MediaStatusError(status: status) }
}
