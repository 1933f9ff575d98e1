import Foundation
import TestSupport
import Testing

@testable import Trust

@Suite struct StoreTests {
  private func makeGlasses(_ device: String = "lab-3", name: String = "Lab") throws -> PairedGlasses.Glasses {
    let identifier = try #require(GlassesIdentifier(device))
    let pin = try #require(KeyPin(bytes: Array(0..<32)))
    let uuid = try #require(UUID(uuidString: "6F9619FF-8B86-4011-B42D-00C04FC964FF"))
    let addresses = try ["10.0.0.1", "fe80::1%eth0"].map { try #require(HostAddress($0)) }
    return try #require(
      PairedGlasses.Glasses(
        device: identifier, uuid: uuid, name: name,
        model: "", pin: pin, addresses: addresses, port: 7447))
  }

  private func makeHost(_ name: String, _ key: PublicKey) throws -> PairedHosts.Host {
    try #require(PairedHosts.Host(name: name, key: key))
  }

  @Test("Paired glasses are kept in this text")
  func literal() throws {
    let folder = try PrivateFolder()
    let file = StoreFile<PairedGlasses>(folder.file("glasses.json"))
    #expect(try file.load() == .new(PairedGlasses()))
    var content = PairedGlasses()
    check(content.add(try makeGlasses()))
    try file.save(content)
    let text = """
      {
        "glasses" : [
          {
            "addresses" : [
              "10.0.0.1",
              "fe80::1%eth0"
            ],
            "device" : "lab-3",
            "model" : "",
            "name" : "Lab",
            "pin" : "aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypq",
            "port" : 7447,
            "uuid" : "6F9619FF-8B86-4011-B42D-00C04FC964FF"
          }
        ],
        "version" : 1
      }

      """
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == text)
    #expect(try file.load() == .loaded(content))
    #expect(try folder.mode(file.path) == 0o600)
    #expect(try folder.names() == ["glasses.json"])
  }

  @Test("Paired hosts keep their keys, each once, and no more than are tried in a handshake")
  func hosts() throws {
    let folder = try PrivateFolder()
    let file = StoreFile<PairedHosts>(folder.file("hosts.json"))
    var content = PairedHosts()
    let key = try SigningKey().publicKey
    check(content.add(try makeHost("Desk", key)))
    check(content.add(try makeHost("Desk 2", key)))
    #expect(content.hosts.map(\.name) == ["Desk 2"] && content.keys == [key])
    for number in 1..<PairedHosts.most {
      check(content.add(try makeHost("\(number)", SigningKey().publicKey)))
    }
    check(!content.add(try makeHost("One more", SigningKey().publicKey)))
    try file.save(content)
    #expect(try file.load() == .loaded(content))
    check(content.remove(key.pin))
    check(!content.remove(key.pin))
    #expect(PairedHosts.Host(name: "a\u{1b}", key: key) == nil)
  }

  @Test("Glasses that pair again take their own place")
  func pairingAgain() throws {
    var content = PairedGlasses()
    check(content.add(try makeGlasses()))
    check(content.add(try makeGlasses("lab-4")))
    check(content.add(try makeGlasses(name: "New")))
    #expect(content.glasses.map(\.name) == ["New", "Lab"])
    let address = try #require(HostAddress("10.0.0.9"))
    let moved = try #require(content.glasses.first?.at([address], port: 1))
    check(content.add(moved))
    #expect(content.glasses.first?.addresses.map(\.text) == ["10.0.0.9"])
    check(content.remove(moved.device))
    #expect(content.glasses.count == 1)
  }

  @Test("A damaged file is set aside under a name of its own, said, and never emptied")
  func damaged() throws {
    let folder = try PrivateFolder()
    let file = StoreFile<PairedGlasses>(folder.file("glasses.json"))
    var content = PairedGlasses()
    check(content.add(try makeGlasses()))
    try file.save(content)
    let good = try String(contentsOfFile: file.path, encoding: .utf8)
    let texts = [
      "", "{", "[]", #"{"version": 1}"#, String(good.dropLast(30)), good.replacing("lab-3", with: "lab/3"),
      good.replacing("\"port\" : 7447", with: "\"port\" : 0"), good.replacing("7447", with: "99999"),
      good.replacing("10.0.0.1", with: "10.0.0"), good.replacing("aaaqeaye", with: "1"),
      good.replacing("Lab", with: "L\\u001bab"), String(repeating: " ", count: 1_048_577),
    ]
    for (index, text) in texts.enumerated() {
      try Data(text.utf8).write(to: URL(filePath: file.path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
      let load = try file.load()
      guard case .setAside(let empty, let path, let reason) = load else {
        Issue.record("\(text.prefix(40)) is taken")
        continue
      }
      #expect(empty == PairedGlasses() && !reason.isEmpty)
      #expect(path == "\(file.path).damaged-\(index + 1)")
      #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
      #expect(load.message?.contains(path) == true)
      #expect(try file.load() == .new(PairedGlasses()))
    }
  }

  @Test("A file of a later version, and one that others could have changed, stay as they are")
  func untouched() throws {
    let folder = try PrivateFolder()
    let file = StoreFile<PairedHosts>(folder.file("hosts.json"))
    try file.save(PairedHosts())
    let newer = #"{"version": 2, "families": []}"#
    try Data(newer.utf8).write(to: URL(filePath: file.path))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: file.path)
    #expect(throws: StoreError.newer(version: 2, path: file.path)) { try file.load() }
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file.path)
    #expect(throws: StoreError.file(PrivateFileError(.fileOpenToOthers(mode: 0o644), path: file.path))) {
      try file.load()
    }
    #expect(try folder.names() == ["hosts.json"])
    #expect(try String(contentsOfFile: file.path, encoding: .utf8) == newer)
  }

  @Test("A disk that is full, or a folder that can't be written, leaves the old content and no rest")
  func failedWrite() throws {
    let folder = try PrivateFolder()
    let file = StoreFile<PairedGlasses>(folder.file("glasses.json"))
    try file.save(PairedGlasses())
    // A folder in the file's place: the write goes well, taking the place does not.
    let blocked = StoreFile<PairedGlasses>(folder.file("folder"))
    try FileManager.default.createDirectory(
      atPath: blocked.path + "/x", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    #expect(throws: StoreError.file(PrivateFileError(.system(call: "rename", code: EISDIR), path: blocked.path))) {
      try blocked.save(PairedGlasses())
    }
    #expect(try folder.names() == ["folder", "glasses.json"])
  }
}
