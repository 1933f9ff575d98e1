// Any bytes as a certificate, a public key and a private key. OpenSSL reads them; ours is what is taken of it.

@testable import Trust

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzCertificates(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard let choice = input.first else { return 0 }
  let bytes = Array(input.dropFirst())
  switch choice % 4 {
  case 0:
    if let certificate = try? Certificate(der: bytes) { check(certificate) }
  case 1:
    if let certificate = try? Certificate(pem: bytes) { check(certificate) }
  case 2:
    if let key = try? PublicKey(subjectPublicKeyInfo: bytes), key.subjectPublicKeyInfo != bytes {
      fatalError("a key of two forms")
    }
  default:
    if let key = try? SigningKey(pem: bytes), (try? key.signature(of: bytes, for: .grant)) == nil {
      fatalError("a key that can't sign")
    }
  }
  return 0
}

private func check(_ certificate: Certificate) {
  guard (certificate.role == .app) == (certificate.appIdentifier != nil),
    1...Certificate.longest ~= certificate.der.count
  else { fatalError("\(certificate)") }
  if let identifier = certificate.appIdentifier,
    !DisplayText.isAcceptable(identifier, longest: Certificate.longestIdentifier)
  {
    fatalError("an identifier that can't be shown")
  }
  _ = certificate.isSigned(by: certificate.publicKey)
}
