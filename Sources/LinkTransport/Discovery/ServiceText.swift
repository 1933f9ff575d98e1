import Trust

/// What glasses say about themselves on the network, for anybody to read and for anybody to say: the TXT record of their
/// service (RFC 6763, 6). Nothing in it is secret, and nothing in it is believed before a handshake has proved it.
package struct ServiceText: Hashable, Sendable {
  package static let version = 1
  /// A TXT record of a service that people may see fits into one packet (RFC 6763, 6.2).
  package static let mostBytes = 1300
  package static let mostRecords = 32
  /// Of one string of a record (RFC 1035, 3.3.14).
  private static let longest = 255

  package let identifier: GlassesIdentifier

  package init(identifier: GlassesIdentifier) { self.identifier = identifier }

  /// As they are announced.
  package var records: [[UInt8]] { [Array("id=\(identifier.text)".utf8), Array("v=\(Self.version)".utf8)] }

  /// Reads what came from the network. Keys are as good in capitals, of two equal ones the first counts, and unknown ones
  /// say nothing.
  package init(records: [[UInt8]]) throws(ServiceTextError) {
    guard records.count <= Self.mostRecords, records.allSatisfy({ $0.count <= Self.longest }),
      records.reduce(0, { $0 + $1.count + 1 }) <= Self.mostBytes
    else { throw .tooLong }
    guard let version = Self.value("v", in: records) else { throw .missing("v") }
    guard version == Array("\(Self.version)".utf8) else { throw .version }
    guard let bytes = Self.value("id", in: records) else { throw .missing("id") }
    // Other than in UTF-8's letters of ASCII it is no identifier anyway.
    guard let identifier = GlassesIdentifier(String(decoding: bytes, as: UTF8.self)) else { throw .identifier }
    self.identifier = identifier
  }

  /// nil where there is no such key, or no value to it.
  private static func value(_ key: String, in records: [[UInt8]]) -> [UInt8]? {
    for record in records {
      guard let sign = record.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let name = record[..<sign].map { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 ? $0 | 0x20 : $0 }
      if name == Array(key.utf8) { return Array(record[(sign + 1)...]) }
    }
    return nil
  }
}

/// Why a service's TXT record is not one of glasses that this version can reach.
package enum ServiceTextError: Error, Hashable, Sendable {
  /// More than a record may have.
  case tooLong
  /// There is no such key.
  case missing(String)
  /// A version that this one does not know.
  case version
  /// Not the identifier of any glasses.
  case identifier
}

/// Names of services, as people see them.
enum ServiceName {
  /// Of one label of a domain name (RFC 1035, 2.3.4).
  static let longest = 63

  /// What a name becomes on the network: without control characters, cut between characters where it is too long.
  static func label(_ name: String) -> String {
    var label = ""
    for character in name where !character.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) {
      guard label.utf8.count + character.utf8.count <= longest else { break }
      label.append(character)
    }
    return label.isEmpty ? "Glasses" : label
  }
}
