/// The file that a private key lives in: PEM, of mode 0600, in a folder of its owner's alone.
package enum KeyFile {
  /// Far more than a key in PEM, which is 241 bytes.
  static let longest = 16_384

  /// The key of a file; nil when there is none.
  package static func load(_ path: String) throws(KeyError) -> SigningKey? {
    let pem: [UInt8]?
    do { pem = try PrivateFile.read(path, atMost: longest) } catch { throw .file(error) }
    return try pem.map { pem throws(KeyError) in try SigningKey(pem: pem) }
  }

  /// The key of a file, which is made when there is none. Of two processes that begin at once, one makes it and both have
  /// it. It is on the disk when this returns.
  package static func loadOrMake(_ path: String) throws(KeyError) -> SigningKey {
    if let key = try load(path) { return key }
    let key = try SigningKey()
    let pem = try key.pem()
    let isOurs: Bool
    do { isOurs = try PrivateFile.create(path, pem) } catch { throw .file(error) }
    if isOurs { return key }
    guard let theirs = try load(path) else { throw .file(PrivateFileError(.changing, path: path)) }
    return theirs
  }
}
