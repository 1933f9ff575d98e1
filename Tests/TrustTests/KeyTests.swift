import Foundation
import TestSupport
import Testing

@testable import Trust

/// A folder of mode 0700 for one test.
final class PrivateFolder {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.appendingPathComponent("trust-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(
      atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path).sorted() }
}

@Suite struct KeyTests {
  @Test("A signature holds for its message, its purpose and its key, and for no other")
  func signatures() throws {
    let key = try SigningKey()
    let message = Array("camera, 600 s".utf8)
    let signature = try key.signature(of: message, for: .grant)
    #expect(key.publicKey.isValid(signature, of: message, for: .grant))
    #expect(!key.publicKey.isValid(signature, of: message, for: .pairing))
    #expect(!key.publicKey.isValid(signature, of: message + [0], for: .grant))
    #expect(!(try SigningKey().publicKey.isValid(signature, of: message, for: .grant)))
    for damaged in DecoderVerifier.damaged(signature, limit: 100) {
      #expect(!key.publicKey.isValid(damaged, of: message, for: .grant))
    }
    #expect(!key.publicKey.isValid([UInt8](repeating: 0, count: 100_000), of: message, for: .grant))
  }

  @Test("A public key is read in its one form alone")
  func publicKeys() throws {
    let key = try SigningKey().publicKey
    DecoderVerifier.verifyValue(key.subjectPublicKeyInfo, key, reencode: \.subjectPublicKeyInfo) {
      try PublicKey(subjectPublicKeyInfo: $0)
    }
    // The same point, compressed: one key would have two pins.
    let compressed = try openssl(["ec", "-pubin", "-conv_form", "compressed"], publicKey: key)
    #expect(throws: KeyError.notP256) { try PublicKey(subjectPublicKeyInfo: compressed) }
  }

  @Test("openssl reads our key and agrees on what is pinned")
  func strangerReadsKeys() throws {
    let folder = try PrivateFolder()
    let key = try KeyFile.loadOrMake(folder.file("key.pem"))
    try CommandLineTool.run(
      "openssl", ["pkey", "-in", folder.file("key.pem"), "-pubout", "-outform", "DER", "-out", folder.file("public")])
    let sum = try CommandLineTool.run("sha256sum", [folder.file("public")]).output
    #expect(sum.hasPrefix(key.pin.hex + " "))
    #expect([UInt8](try Data(contentsOf: URL(filePath: folder.file("public")))) == key.publicKey.subjectPublicKeyInfo)
  }

  @Test("openssl verifies our signature")
  func strangerVerifies() throws {
    let folder = try PrivateFolder()
    let key = try SigningKey()
    let message = Array("x".utf8)
    try Data(SignaturePurpose.grant.prefix + message).write(to: URL(filePath: folder.file("message")))
    try Data(key.signature(of: message, for: .grant)).write(to: URL(filePath: folder.file("signature")))
    try Data(key.publicKey.subjectPublicKeyInfo).write(to: URL(filePath: folder.file("public")))
    let verdict = try CommandLineTool.run(
      "openssl",
      [
        "dgst", "-sha256", "-keyform", "DER", "-verify", folder.file("public"), "-signature", folder.file("signature"),
        folder.file("message"),
      ])
    #expect(verdict.output == "Verified OK\n")
  }

  @Test("A key is made once, in a file that is its owner's alone")
  func keyFile() throws {
    let folder = try PrivateFolder()
    let path = folder.file("state/deeper/key.pem")
    #expect(try KeyFile.load(path) == nil)
    let key = try KeyFile.loadOrMake(path)
    #expect(try KeyFile.loadOrMake(path).pin == key.pin)
    #expect(try KeyFile.load(path)?.pin == key.pin)
    #expect(try folder.mode(path) == 0o600)
    #expect(try folder.mode(folder.file("state")) == 0o700)
    #expect(try folder.mode(folder.file("state/deeper")) == 0o700)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.file("state/deeper")) == ["key.pem"])
  }

  @Test("Of many that begin at once, one makes the key and all have it")
  func keyRace() async throws {
    let folder = try PrivateFolder()
    let path = folder.file("key.pem")
    let pins = try await withThrowingTaskGroup(of: KeyPin.self) { group in
      for _ in 0..<8 { group.addTask { try KeyFile.loadOrMake(path).pin } }
      return try await group.reduce(into: Set<KeyPin>()) { $0.insert($1) }
    }
    #expect(pins.count == 1)
    // Who comes second changes nothing.
    #expect(try !PrivateFile.create(path, [1, 2, 3]))
    #expect(try KeyFile.load(path).map { [$0.pin] } == Array(pins))
    #expect(try folder.names() == ["key.pem"])
  }

  @Test("A key that others could have read is refused and stays as it is, with a word on what to do")
  func openKey() throws {
    let folder = try PrivateFolder()
    let path = folder.file("key.pem")
    _ = try KeyFile.loadOrMake(path)
    for mode in [0o640, 0o604, 0o660] {
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
      let error = #expect(throws: KeyError.self) { try KeyFile.loadOrMake(path) }
      #expect(error == .file(PrivateFileError(.fileOpenToOthers(mode: UInt32(mode)), path: path)))
      #expect(error?.description.contains("`chmod 600` it") == true)
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
    #expect(throws: KeyError.file(PrivateFileError(.folderOpenToOthers(mode: 0o755), path: folder.path))) {
      try KeyFile.load(path)
    }
    #expect(throws: KeyError.file(PrivateFileError(.folderOpenToOthers(mode: 0o755), path: folder.path))) {
      try KeyFile.loadOrMake(folder.file("other.pem"))
    }
  }

  @Test("What is no key of ours is refused, each with its reason, and nobody is asked for a password")
  func badKeys() throws {
    let folder = try PrivateFolder()
    let path = folder.file("key.pem")
    func expect(_ error: KeyError, _ arguments: [String]) throws {
      try CommandLineTool.run("openssl", arguments + ["-out", path])
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
      #expect(throws: error) { try KeyFile.load(path) }
    }
    try expect(.notP256, ["genpkey", "-algorithm", "EC", "-pkeyopt", "group:P-384"])
    try expect(.notP256, ["genpkey", "-algorithm", "ED25519"])
    try expect(
      .notAKey,
      ["genpkey", "-algorithm", "EC", "-pkeyopt", "group:P-256", "-aes-128-cbc", "-pass", "pass:word"])
    try Data("-----BEGIN PRIVATE KEY-----\n".utf8).write(to: URL(filePath: path))
    #expect(throws: KeyError.notAKey) { try KeyFile.load(path) }
    try Data(count: 20_000).write(to: URL(filePath: path))
    #expect(throws: KeyError.file(PrivateFileError(.tooLong(limit: 16_384), path: path))) { try KeyFile.load(path) }
  }

  @Test("Links, folders and pipes in a key's place are refused, and hold nothing up")
  func notFiles() throws {
    let folder = try PrivateFolder()
    _ = try KeyFile.loadOrMake(folder.file("key.pem"))
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: "key.pem")
    try FileManager.default.createDirectory(atPath: folder.file("folder"), withIntermediateDirectories: false)
    #expect(mkfifo(folder.file("pipe"), 0o600) == 0)
    for name in ["link", "folder", "pipe"] {
      #expect(throws: KeyError.file(PrivateFileError(.notARegularFile, path: folder.file(name)))) {
        try KeyFile.load(folder.file(name))
      }
    }
  }

  @Test("A key prints its public half only")
  func printing() throws {
    let key = try SigningKey()
    var dumped = ""
    dump(key, to: &dumped)
    for text in ["\(key)", String(reflecting: key), dumped] { #expect(text.contains("private key of \(key.pin)")) }
  }

  @Test("A pin is the same text for everybody")
  func pins() throws {
    let pin = try #require(KeyPin(bytes: Array(0..<32)))
    #expect(pin.text == "aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypq")
    #expect(
      pin.groups == "aaaq eaye auda ocaj bifq ydio b4ib ceqt cqkr mfyy denb wha5 dypq")
    #expect(pin.hex == "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f")
    for text in [pin.text, pin.groups, pin.text.uppercased(), pin.groups.replacing(" ", with: "-")] {
      #expect(KeyPin(text: text) == pin)
    }
    // A character less, one more, one that is none, and a bit beyond the last byte.
    for text in [String(pin.text.dropLast()), pin.text + "a", "1" + pin.text.dropFirst(), pin.text.dropLast() + "r"] {
      #expect(KeyPin(text: text) == nil)
    }
    #expect(KeyPin(bytes: [1]) == nil)
  }

  private func openssl(_ arguments: [String], publicKey: PublicKey) throws -> [UInt8] {
    let folder = try PrivateFolder()
    try Data(publicKey.subjectPublicKeyInfo).write(to: URL(filePath: folder.file("in")))
    try CommandLineTool.run(
      "openssl",
      arguments + ["-inform", "DER", "-in", folder.file("in"), "-outform", "DER", "-out", folder.file("out")])
    return [UInt8](try Data(contentsOf: URL(filePath: folder.file("out"))))
  }
}
