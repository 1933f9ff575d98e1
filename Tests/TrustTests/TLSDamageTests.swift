import TestSupport
import Testing

@testable import Trust

/// Flights with changed bits, cut off, and in the wrong place.
@Suite struct TLSDamageTests {
  private enum Flight: CaseIterable {
    case clientHello, serverFlight, clientFlight
  }

  @Test("With any bit changed in a flight, its reader is never through", arguments: [true, false])
  func changedBits(pairs: Bool) throws {
    let (host, agent, offer) = (try Party(.host), try Party(.agent), try makeOffer())
    let client: TLSConfiguration.Authentication = pairs ? .pairing(offer) : .client(host.identity, agent: agent.pin)
    for flight in Flight.allCases {
      for fraction in stride(from: 0.0, to: 1.0, by: 1.0 / 48) {
        let pair = try TLSPair(client: client, agent: agent, hosts: [host.key.publicKey], pairing: offer)
        var isChanged = false
        func change(_ bytes: [UInt8]) -> [[UInt8]] {
          let authenticated = Self.authenticatedBytes(bytes)
          var bytes = bytes
          let place = authenticated[Int(Double(authenticated.count) * fraction)]
          bytes[place] ^= 1 << UInt8(place % 8)
          isChanged = true
          return [bytes]
        }
        pair.disturbsClient = { number, bytes in
          number == 0 && flight == .clientHello || number == 1 && flight == .clientFlight ? change(bytes) : [bytes]
        }
        pair.disturbsServer = { number, bytes in
          number == 0 && flight == .serverFlight ? change(bytes) : [bytes]
        }
        pair.start()
        try #require(isChanged)
        #expect(pair.serverPeer == nil, "\(flight) \(fraction)")
        #expect(pair.clientPeer == nil || flight == .clientFlight, "\(flight) \(fraction)")
        #expect(pair.serverReceived.isEmpty && pair.clientReceived.isEmpty)
      }
    }
  }

  /// The places of a flight that the handshake vouches for: all but the version in the heads of plain records, and
  /// records that only make TLS 1.3 look like an older one to middle boxes (RFC 8446, 5.1 and D.4).
  private static func authenticatedBytes(_ flight: [UInt8]) -> [Int] {
    var places: [Int] = []
    var start = 0
    while start + 5 <= flight.count {
      let end = min(start + 5 + (Int(flight[start + 3]) << 8 | Int(flight[start + 4])), flight.count)
      switch flight[start] {
      case 20: break
      case 22: places += [start] + Array(start + 3..<end)
      default: places += Array(start..<end)
      }
      start = end
    }
    return places
  }

  @Test("Flights repeated, left out or swapped open nothing")
  func wrongOrder() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    func run(_ disturb: @escaping (Int, [UInt8]) -> [[UInt8]]) throws -> TLSPair {
      let pair = try TLSPair(
        client: .client(host.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
      pair.disturbsClient = disturb
      pair.start()
      pair.clientSends([1])
      return pair
    }
    let repeated = try run { number, bytes in number == 0 ? [bytes, bytes] : [bytes] }
    #expect(repeated.serverPeer == nil && repeated.serverError != nil)
    let withoutCertificate = try run { number, bytes in number == 1 ? [] : [bytes] }
    #expect(withoutCertificate.serverPeer == nil && withoutCertificate.serverReceived.isEmpty)
    // The media record arrives twice: the second is not decrypted by the next key stream.
    let doubled = try run { number, bytes in number == 2 ? [bytes, bytes] : [bytes] }
    #expect(doubled.serverReceived == [1])
    #expect(doubled.serverError?.stage == .records)
  }

  @Test("A changed bit in what comes after the handshake ends the connection, and none of that record is delivered")
  func changedRecords() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    for bit in stride(from: 0, to: 26 * 8, by: 7) {
      let pair = try TLSPair(
        client: .client(host.identity, agent: agent.pin), agent: agent, hosts: [host.key.publicKey])
      pair.start()
      pair.disturbsClient = { _, bytes in
        var bytes = bytes
        bytes[bit / 8] ^= 1 << (bit % 8)
        return [bytes]
      }
      pair.clientSends([1, 2, 3, 4])
      #expect(pair.serverReceived.isEmpty)
      // A length that became longer waits for the rest, which is the transport's to end.
      #expect(pair.serverError != nil || bit / 8 == 3 || bit / 8 == 4)
    }
  }
}
