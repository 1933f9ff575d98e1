import Glibc
import Testing

@testable import LinkTransport

@Suite("Socket addresses")
struct SocketAddressTests {
  @Test(
    "are read and written as people know them",
    arguments: [
      ("127.0.0.1:7000", "127.0.0.1:7000"), ("0.0.0.0:0", "0.0.0.0:0"), ("255.255.255.255:65535", nil),
      ("[::1]:7000", nil), ("[::]:0", nil), ("[2001:db8::7:1]:443", nil),
      ("[2001:DB8:0:0:0:0:0:1]:1", "[2001:db8::1]:1"),
      ("[fe80::1%lo]:9", nil), ("[fe80::1%1]:9", "[fe80::1%lo]:9"), ("[::ffff:192.0.2.1]:80", "192.0.2.1:80"),
    ] as [(String, String?)])
  func text(_ text: String, written: String?) throws {
    let address = try #require(SocketAddress(text))
    #expect(address.description == written ?? text)
    // Through the system's form and back.
    let storage = address.system.withPointer { pointer, length in
      var storage = sockaddr_storage()
      withUnsafeMutableBytes(of: &storage) {
        $0.copyMemory(from: UnsafeRawBufferPointer(start: UnsafeRawPointer(pointer), count: Int(length)))
      }
      return storage
    }
    #expect(SocketAddress(storage) == address)
  }

  @Test(
    "that are none are refused",
    arguments: [
      "", ":", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:+1", "127.0.0.1:8x",
      "127.0.0.1:000080", "127.0.0.256:80", "127.1:80", "1.2.3.4.5:80", "::1:80", "[::1]", "[::1]80", "[::1:80",
      "[]:80",
      "[127.0.0.1]:80", "[::g]:80", "[fe80::1%nosuch]:80", "[fe80::1%]:80", "[fe80::1%-1]:80", "glasses.local:80",
      "127.0.0.1 :80", "127.0.0.1\0:80", "[fe80::1%4294967296]:80",
    ])
  func refused(_ text: String) {
    #expect(SocketAddress(text) == nil)
  }

  @Test("a host may be a name; what can't be one is refused")
  func hosts() {
    #expect(HostPort("glasses.local:7000") == HostPort(host: "glasses.local", port: 7000))
    #expect(HostPort("[fe80::1%eth0]:7")?.host == "fe80::1%eth0")
    #expect(HostPort("[fe80::1%eth0]:7")?.description == "[fe80::1%eth0]:7")
    #expect(HostPort("glasses.local:7000")?.description == "glasses.local:7000")
    #expect(HostPort("\(String(repeating: "a", count: 255)):1") != nil)
    for text in ["a b:1", "a\n:1", "é:1", "a/b:1", "user@a:1", "\(String(repeating: "a", count: 256)):1", "a:b:1"] {
      #expect(HostPort(text) == nil, "\(text)")
    }
  }

  @Test("say whether they mean something on one wire only")
  func linkLocal() {
    #expect(SocketAddress("[fe80::1]:1")?.isLinkLocal == true)
    #expect(SocketAddress("[febf::1]:1")?.isLinkLocal == true)
    #expect(SocketAddress("[fec0::1]:1")?.isLinkLocal == false)
    #expect(SocketAddress("169.254.0.1:1")?.isLinkLocal == false)
  }

  @Test("of a name are tried in turn, the preferred family first")
  func inTurn() throws {
    func addresses(_ texts: String...) throws -> [SocketAddress] { try texts.map { try #require(SocketAddress($0)) } }
    let found = try addresses("[2001:db8::1]:1", "[2001:db8::2]:1", "[2001:db8::3]:1", "192.0.2.1:1")
    #expect(
      try NameResolver.inTurn(found)
        == addresses("[2001:db8::1]:1", "192.0.2.1:1", "[2001:db8::2]:1", "[2001:db8::3]:1"))
    #expect(NameResolver.inTurn([]).isEmpty)
    let address = try #require(SocketAddress("[::1]:5"))
    #expect(try NameResolver.addresses(of: HostPort(host: "::1", port: 5)) == [address])
  }
}
