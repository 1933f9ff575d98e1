import Glibc

/// An address of any family as the system's calls take it.
struct SystemAddress: Sendable {
  let family: Int32
  let text: String
  private let storage: sockaddr_storage
  private let length: socklen_t

  init<Address>(_ address: Address, family: Int32, text: String) {
    var storage = sockaddr_storage()
    let size = min(MemoryLayout<Address>.size, MemoryLayout<sockaddr_storage>.size)
    withUnsafeBytes(of: address) { source in
      withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: UnsafeRawBufferPointer(rebasing: source[..<size])) }
    }
    self.family = family
    self.text = text
    self.storage = storage
    length = socklen_t(size)
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    withUnsafePointer(to: storage) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}

extension SystemAddress {
  /// Most bytes of a Unix socket's path; the last of the system's 108 ends it.
  static let pathLimit = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

  init(path: String) throws(SocketFailure) {
    let bytes = Array(path.utf8)
    guard bytes.count <= Self.pathLimit else { throw .pathTooLong(path, limit: Self.pathLimit) }
    // An empty one, or a NUL in it, would name something else.
    guard !bytes.isEmpty, !bytes.contains(0) else { throw .system("path", subject: path, code: EINVAL) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    self.init(address, family: AF_UNIX, text: path)
  }
}
