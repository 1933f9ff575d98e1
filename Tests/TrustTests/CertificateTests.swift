import Foundation
import TestSupport
import Testing

@testable import Trust

@Suite struct CertificateTests {
  @Test("What was put into a certificate is read out of it, by us and from its bytes")
  func content() throws {
    let host = try Party(.host)
    let key = try SigningKey()
    let identifier = "org.example.Ünïcode" + String(repeating: "x", count: 200)
    let made = try Certificate.app(identifier, key: key.publicKey, signedBy: host.key, validity: .unlimited)
    for certificate in [made, try Certificate(der: made.der), try Certificate(pem: made.pem)] {
      #expect(certificate.role == .app)
      #expect(certificate.appIdentifier == identifier)
      #expect(certificate.pin == key.pin)
      #expect(certificate.isSigned(by: host.key.publicKey))
      #expect(!certificate.isSigned(by: key.publicKey))
    }
    #expect(host.certificate.role == .host && host.certificate.appIdentifier == nil)
    #expect(host.certificate.isSigned(by: host.key.publicKey))
  }

  @Test("A certificate of glasses says nothing of them but their key")
  func privacy() throws {
    let agent = try Party(.agent)
    let text = try inspect(agent.certificate)
    #expect(text.contains("Subject: OU = agent, CN = \(agent.pin.hex)\n"))
    #expect(text.contains("Issuer: OU = agent, CN = \(agent.pin.hex)\n"))
  }

  @Test("openssl takes our certificates: by their names, extensions and signatures")
  func strangersVerify() throws {
    let (host, agent) = (try Party(.host), try Party(.agent))
    let app = try Party(app: "org.example.app", of: host)
    let folder = try PrivateFolder()
    for (name, party) in [("host", host), ("agent", agent), ("app", app)] {
      try Data(party.certificate.pem).write(to: URL(filePath: folder.file(name)))
    }
    func verify(_ arguments: [String], _ name: String) throws -> CommandLineTool.Result {
      try CommandLineTool.attempt("openssl", ["verify", "-x509_strict"] + arguments + [folder.file(name)])
    }
    #expect(try verify(["-CAfile", folder.file("host"), "-purpose", "sslclient"], "app").status == 0)
    #expect(try verify(["-CAfile", folder.file("agent"), "-partial_chain"], "agent").status == 0)
    #expect(try verify(["-CAfile", folder.file("host")], "host").status == 0)
    // And not what it must not take.
    #expect(try verify(["-CAfile", folder.file("agent"), "-partial_chain"], "app").status != 0)
    #expect(try verify(["-CAfile", folder.file("host"), "-purpose", "sslserver"], "app").status != 0)
  }

  @Test("Dates are what strangers' tools are told")
  func dates() throws {
    let host = try Party(.host)
    let app = try Certificate.app(
      "a", key: SigningKey().publicKey, signedBy: host.key,
      validity: .from(unixSeconds: 1_700_000_000, lasting: .seconds(86_400)))
    let text = try inspect(app)
    #expect(text.contains("Not Before: Nov 14 22:13:20 2023 GMT"))
    #expect(text.contains("Not After : Nov 15 22:13:20 2023 GMT"))
    #expect(try inspect(host.certificate).contains("Not After : Dec 31 23:59:59 9999 GMT"))
    // Numbers from elsewhere are held within what a certificate can say.
    for (start, length) in [(Int64.min, Duration.seconds(-1)), (.max, .seconds(Int64.max)), (0, .seconds(Int64.max))] {
      let validity = CertificateValidity.from(unixSeconds: start, lasting: length)
      #expect(throws: Never.self) {
        try Certificate.app("a", key: host.key.publicKey, signedBy: host.key, validity: validity)
      }
    }
  }

  @Test("An identifier that is empty, too long or has characters of control makes no certificate")
  func identifiers() throws {
    let host = try Party(.host)
    for identifier in ["", String(repeating: "x", count: 256), "a\nb", "a\u{1b}[2J", "a\u{0}b", "\u{202e}a"] {
      #expect(throws: CertificateError.appIdentifierInvalid) {
        try Certificate.app(identifier, key: host.key.publicKey, signedBy: host.key, validity: .unlimited)
      }
    }
  }

  @Test("Damaged certificates are refused or are still in order; none of them is signed any more")
  func damaged() throws {
    let host = try Party(.host)
    let app = try Party(app: "org.example.app", of: host)
    let der = app.certificate.der
    for damaged in DecoderVerifier.damaged(der, limit: 300) {
      guard let read = try? Certificate(der: damaged) else { continue }
      #expect(!read.isSigned(by: host.key.publicKey))
    }
    #expect(throws: CertificateError.malformed) { try Certificate(der: der + [0]) }
    #expect(throws: CertificateError.malformed) { try Certificate(der: []) }
    #expect(throws: CertificateError.tooLong(limit: 4096)) { try Certificate(der: [UInt8](repeating: 48, count: 4097)) }
  }

  @Test("A stranger's certificate is refused, with the reason")
  func strangers() throws {
    let folder = try PrivateFolder()
    func make(_ key: [String], _ subject: String, _ more: [String] = []) throws -> [UInt8] {
      try CommandLineTool.run(
        "openssl",
        ["req", "-x509", "-nodes", "-days", "1", "-newkey"] + key + ["-subj", subject, "-keyout", folder.file("k")]
          + ["-out", folder.file("c")] + more)
      return [UInt8](try Data(contentsOf: URL(filePath: folder.file("c"))))
    }
    let p256 = ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
    let leaf = ["-addext", "basicConstraints=critical,CA:FALSE"]
    func expect(_ error: CertificateError, _ pem: [UInt8]) { #expect(throws: error) { try Certificate(pem: pem) } }
    expect(.notP256, try make(["rsa:2048"], "/OU=host"))
    expect(.roleMissing, try make(p256, "/CN=host"))
    expect(.roleMissing, try make(p256, "/OU=king"))
    expect(.roleMissing, try make(p256, "/OU=host/OU=app/UID=a"))
    expect(.appIdentifierInvalid, try make(p256, "/OU=app", leaf))
    // openssl makes an authority unless told not to.
    expect(.extensionRefused, try make(p256, "/OU=app/UID=a"))
    expect(.extensionRefused, try make(p256, "/OU=host", leaf))
    expect(.extensionRefused, try make(p256, "/OU=host", ["-addext", "1.2.3.4=critical,ASN1:NULL"]))
    #expect(try Certificate(pem: make(p256, "/OU=app/UID=a", leaf)).appIdentifier == "a")
  }

  private func inspect(_ certificate: Certificate) throws -> String {
    let folder = try PrivateFolder()
    try Data(certificate.pem).write(to: URL(filePath: folder.file("c")))
    return try CommandLineTool.run("openssl", ["x509", "-text", "-noout", "-in", folder.file("c")]).output
  }
}
