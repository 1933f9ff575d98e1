import Foundation
import LinkProtocol
import TestSupport
import Testing
import Trust
import Units

@testable import LinkTransport

@Suite("What is said of glasses on the network")
struct ServiceTextTests {
  private static func records(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

  @Test("what is announced is read as it was meant, whatever else is said")
  func roundTrip() throws {
    let identifier = try #require(GlassesIdentifier("gw-0a.1_Z"))
    let text = ServiceText(identifier: identifier)
    #expect(text.records == Self.records("id=gw-0a.1_Z", "v=1"))
    #expect(try ServiceText(records: text.records) == text)
    let more = Self.records("", "=", "flag", "V=1", "ID=gw-0a.1_Z", "id=other", "note=a=b") + [[0xff, 0xfe]]
    #expect(try ServiceText(records: more) == text)
  }

  @Test(
    "what is none is refused, typed",
    arguments: [
      (records(), ServiceTextError.missing("v")), (records("v=1"), .missing("id")),
      (records("v", "id=a"), .missing("v")),
      (records("v=2", "id=a"), .version), (records("v=", "id=a"), .version), (records("v=01", "id=a"), .version),
      (records("v=1", "id="), .identifier), (records("v=1", "id=a b"), .identifier),
      (records("v=1", "id=\(String(repeating: "a", count: 65))"), .identifier),
      ([Array("v=1".utf8), Array("id=a".utf8) + [0xff]], .identifier),
      (Array(repeating: Array("v=1".utf8), count: 33), .tooLong),
      ([[UInt8](repeating: 65, count: 256)], .tooLong),
      (Array(repeating: [UInt8](repeating: 65, count: 255), count: 6), .tooLong),
    ])
  func refused(records: [[UInt8]], error: ServiceTextError) {
    #expect(throws: error) { try ServiceText(records: records) }
  }

  @Test("a name fits into a label, whole characters only, and is never empty")
  func names() {
    #expect(ServiceName.label("Kitchen") == "Kitchen")
    #expect(ServiceName.label("a\nb\u{7f}\0") == "ab")
    #expect(ServiceName.label("\n") == "Glasses" && ServiceName.label("") == "Glasses")
    #expect(ServiceName.label(String(repeating: "é", count: 40)) == String(repeating: "é", count: 31))
  }
}

@Suite("What is found on the network")
struct DiscoveryTableTests {
  private func key(_ name: String, interface: Int32 = 1, family: Int32 = 0) -> DiscoveryTable.Key {
    .init(interface: interface, family: family, name: name, domain: "local")
  }
  private func address(_ last: UInt32) -> SocketAddress { SocketAddress(host: .ipv4(0x0a00_0000 | last), port: 7447) }

  @Test("glasses that show on several interfaces are one pair, and are lost with the last of them")
  func oneForAll() throws {
    var table = DiscoveryTable()
    let text = ServiceText(identifier: try #require(GlassesIdentifier("a")))
    var glasses = DiscoveredGlasses(identifier: text.identifier, name: "A", addresses: [address(1)])
    #expect(table.resolved(key("A"), text, at: address(1)) == [.found(glasses)])
    #expect(table.resolved(key("A"), text, at: address(1)).isEmpty)
    glasses.addresses = [address(1), address(2)]
    #expect(table.resolved(key("A", interface: 2), text, at: address(2)) == [.changed(glasses)])
    // The same place over another interface says nothing new.
    #expect(table.resolved(key("A", interface: 3), text, at: address(2)).isEmpty)
    glasses.addresses = [address(2)]
    #expect(table.removed(key("A")) == [.changed(glasses)])
    #expect(table.removed(key("A")).isEmpty)
    #expect(table.removed(key("A", interface: 3)).isEmpty)
    #expect(table.removed(key("A", interface: 2)) == [.lost(text.identifier)])
    #expect(table.glasses.isEmpty)
  }

  @Test("an announcement that becomes another pair's is one lost and one found")
  func exchanged() throws {
    var table = DiscoveryTable()
    let (a, b) = (try #require(GlassesIdentifier("a")), try #require(GlassesIdentifier("b")))
    _ = table.resolved(key("A"), ServiceText(identifier: a), at: address(1))
    #expect(
      table.resolved(key("A"), ServiceText(identifier: b), at: address(1)) == [
        .lost(a), .found(DiscoveredGlasses(identifier: b, name: "A", addresses: [address(1)])),
      ])
    #expect(table.removeAll() == [.lost(b)])
    #expect(table.removeAll().isEmpty)
  }

  @Test("a flood of announcements is bounded, in pairs and in addresses")
  func flood() throws {
    var table = DiscoveryTable()
    let one = ServiceText(identifier: try #require(GlassesIdentifier("one")))
    for number in 0..<100 { _ = table.resolved(key("one", interface: Int32(number)), one, at: address(UInt32(number))) }
    #expect(table.glasses.map(\.addresses.count) == [DiscoveryTable.mostAddresses])
    for number in 0..<1000 {
      let identifier = try #require(GlassesIdentifier("\(number)"))
      _ = table.resolved(key("\(number)"), ServiceText(identifier: identifier), at: address(1))
    }
    #expect(table.glasses.count == DiscoveryTable.mostEntries - 100 + 1)
    #expect(table.removeAll().count == DiscoveryTable.mostEntries - 100 + 1)
  }
}
