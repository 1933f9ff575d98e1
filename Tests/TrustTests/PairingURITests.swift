import TestSupport
import Testing

@testable import Trust

@Suite struct PairingURITests {
  private static let literal =
    "glasswing://pair?v=1&host=192.168.1.20,2001:db8::5,lab.local&port=7447&id=lab-3&name=Lab%20%26%20Gl%C3%A4ser"
    + "&pin=aaaqeayeaudaocajbifqydiob4ibceqtcqkrmfyydenbwha5dypq&secret=777p37h37l47r57w6x2ph4xr6a"

  private func make(
    name: String = "Lab & Gläser", addresses: [String] = ["192.168.1.20", "2001:DB8:0::5", "LAB.local"]
  )
    throws -> PairingURI
  {
    try PairingURI(
      addresses: addresses.map { try #require(HostAddress($0)) }, port: 7447,
      device: #require(GlassesIdentifier("lab-3")), name: name, pin: #require(KeyPin(bytes: Array(0..<32))),
      secret: #require(PairingSecret(bytes: Self.secretBytes)))
  }

  private static let secretBytes: [UInt8] = [
    0xff, 0xfe, 0xfd, 0xfc, 0xfb, 0xfa, 0xf9, 0xf8, 0xf7, 0xf6, 0xf5, 0xf4, 0xf3, 0xf2, 0xf1, 0xf0,
  ]

  @Test("A pairing URI is this text, and is read from it")
  func literal() throws {
    let uri = try make()
    #expect(uri.revealed() == Self.literal)
    let read = try PairingURI(uri.revealed())
    #expect(read == uri)
    #expect(read.addresses.map(\.text) == ["192.168.1.20", "2001:db8::5", "lab.local"])
    #expect(read.addresses.map(\.isIPv6) == [false, true, false])
    #expect(read.port == 7447 && read.device.text == "lab-3" && read.name == "Lab & Gläser")
    #expect(read.secret == PairingSecret(bytes: Self.secretBytes))
    // As a terminal or another program may hand it over.
    #expect(try PairingURI("  GLASSWING://Pair?" + uri.revealed().dropFirst("glasswing://pair?".count) + "\n") == uri)
  }

  @Test("The secret is no part of what is printed, dumped or said in an error")
  func hiddenSecret() throws {
    let uri = try make()
    let secret = uri.secret.revealed()
    var dumped = ""
    dump(uri, to: &dumped)
    dump(uri.offer, to: &dumped)
    let texts = [
      "\(uri)", String(reflecting: uri), "\(uri.secret)", String(reflecting: uri.secret), "\(uri.offer)", dumped,
    ]
    for text in texts {
      #expect(!text.contains(secret) && !text.contains("255") && !text.contains("254"), "\(text)")
    }
    let text = uri.revealed()
    for damaged in [text + "x", text.dropLast() + "9", String(text.dropLast(3))] {
      let error = #expect(throws: PairingURIError.self) { try PairingURI(damaged) }
      #expect(error == .badSecret)
      #expect(error?.description.contains(secret.dropLast(3)) == false)
    }
  }

  @Test("Each fault of a URI has its own error")
  func faults() throws {
    let good = try make().revealed()
    func expect(_ error: PairingURIError, _ change: (String) -> String, line: Int = #line) {
      #expect(throws: error, "line \(line)") { try PairingURI(change(good)) }
    }
    func replace(_ part: String, _ with: String) -> (String) -> String { { $0.replacing(part, with: with) } }
    expect(.notAPairingURI) { _ in "" }
    expect(.notAPairingURI) { _ in "https://example.org" }
    expect(.notAPairingURI, replace("glasswing://pair?", "glasswing://pair"))
    expect(.notAPairingURI, replace("&port=7447", "&port"))
    expect(.notAPairingURI, replace("&port=7447", "&=7447"))
    expect(.notAPairingURI) { $0 + "&" }
    expect(.tooLong(limit: 2048)) { $0 + String(repeating: " ", count: 2048) }
    expect(.versionUnknown("2"), replace("v=1", "v=2"))
    expect(.versionUnknown("2"), replace("v=1", "v=2&more=1"))
    expect(.missingKey("v"), replace("v=1&", ""))
    for key in ["host", "port", "id", "name", "pin", "secret"] {
      expect(.missingKey(key)) { text in
        text.split(separator: "&").filter { !$0.hasPrefix("\(key)=") }.joined(separator: "&")
      }
      expect(.repeatedKey(key)) { $0 + "&\(key)=a" }
    }
    expect(.unknownKey("more")) { $0 + "&more=1" }
    expect(.unknownKey("Port"), replace("port=", "Port="))
    expect(.badCoding(key: "name"), replace("%26", "%2"))
    expect(.badCoding(key: "name"), replace("%26", "%xx"))
    expect(.badCoding(key: "name"), replace("%C3%A4", "%C3"))
    expect(.badCoding(key: "name"), replace("%20", " "))
    expect(.badValue(key: "name", "a?b"), replace("Lab%20%26%20Gl%C3%A4ser", "a%1Bb"))
    expect(.badValue(key: "name", ""), replace("Lab%20%26%20Gl%C3%A4ser", ""))
    for port in ["0", "65536", "-1", "+7447", "07447", "", "7447x"] {
      expect(.badValue(key: "port", port), replace("7447", port))
    }
    expect(.badValue(key: "id", "lab/3"), replace("lab-3", "lab/3"))
    expect(.badValue(key: "pin", "aaaq"), replace(try pinText(), "aaaq"))
    expect(.badValue(key: "host", ""), replace("192.168.1.20", ""))
    expect(.badValue(key: "host", "192.168.1"), replace("192.168.1.20", "192.168.1"))
    expect(.badValue(key: "host", "[::1]"), replace("192.168.1.20", "[::1]"))
    // A zone means something on the glasses alone.
    expect(.badValue(key: "host", "fe80::1%eth0"), replace("192.168.1.20", "fe80::1%25eth0"))
    expect(.addressCount(5), replace("192.168.1.20", "a.b,b.c,c.d"))
  }

  private func pinText() throws -> String { try #require(KeyPin(bytes: Array(0..<32))).text }

  @Test("What can't be read can't be made")
  func making() throws {
    #expect(throws: PairingURIError.addressCount(0)) { try make(addresses: []) }
    #expect(throws: PairingURIError.addressCount(5)) { try make(addresses: ["a", "b", "c", "d", "e"]) }
    #expect(throws: PairingURIError.badValue(key: "host", "fe80::1%eth0")) { try make(addresses: ["fe80::1%eth0"]) }
    #expect(throws: PairingURIError.badValue(key: "name", "")) { try make(name: "") }
    // The longest of everything still fits.
    let longest = try PairingURI(
      addresses: (0..<4).map { number in
        try #require(HostAddress(String(repeating: "\(number)a.", count: 84) + "a"))
      }, port: 65_535, device: #require(GlassesIdentifier(String(repeating: "x", count: 64))),
      name: String(repeating: "ä", count: 64), pin: #require(KeyPin(bytes: Array(0..<32))),
      secret: PairingSecret())
    #expect(longest.revealed().utf8.count <= PairingURI.longest)
    #expect(try PairingURI(longest.revealed()) == longest)
  }

  @Test("Damaged texts are refused or read as what they say")
  func damaged() throws {
    let bytes = Array(try make().revealed().utf8)
    for damaged in DecoderVerifier.damaged(bytes, limit: 800) {
      guard let uri = try? PairingURI(String(decoding: damaged, as: UTF8.self)) else { continue }
      #expect(try PairingURI(uri.revealed()) == uri)
    }
  }

  @Test("Addresses and names of hosts, and what only looks like them")
  func addresses() {
    let good = [
      "10.0.0.1": "10.0.0.1", "::1": "::1", "FE80:0:0:0:0:0:0:1%eth0": "fe80::1%eth0",
      "::ffff:10.0.0.1": "::ffff:10.0.0.1", "Host-1.local": "host-1.local", "h": "h",
    ]
    for (text, address) in good { #expect(HostAddress(text)?.text == address) }
    let bad = [
      "", "10.0.0", "10.0.0.256", "1", "0x7f.1", "a.0x7f", "1::2::3", "fe80::1%", "fe80::1%a/b", "-a", "a-", "a..b",
      ".", "a b", "a_b", "ä.de", "::1%0123456789abcdef", String(repeating: "a", count: 64),
      String(repeating: "a.", count: 126) + "aa",
    ]
    for text in bad { #expect(HostAddress(text) == nil, "\(text)") }
  }

  @Test("Secrets differ, compare by all their bytes and are read in one form")
  func secrets() throws {
    let secret = PairingSecret()
    #expect(secret != PairingSecret())
    #expect(PairingSecret(text: secret.revealed()) == secret)
    #expect(PairingSecret(text: secret.revealed().uppercased()) == secret)
    #expect(PairingSecret(bytes: [1, 2, 3]) == nil)
    for index in 0..<16 {
      var bytes = Self.secretBytes
      bytes[index] ^= 1
      #expect(PairingSecret(bytes: bytes) != PairingSecret(bytes: Self.secretBytes))
    }
    // Bits beyond the last byte.
    #expect(PairingSecret(text: String(repeating: "a", count: 26)) != nil)
    #expect(PairingSecret(text: String(repeating: "a", count: 25) + "b") == nil)
  }
}
