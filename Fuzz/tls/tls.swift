// A stranger's bytes on the glasses' port, before anybody is known: whatever they are, nobody becomes known by them, and
// the connection is over at a bounded length. The first byte says how they are cut and whether glasses are paired.

@testable import Trust

private let agent = makeIdentity()
private let host = makeIdentity()
private let offer = PairingOffer(
  device: GlassesIdentifier("fuzz").unsafelyUnwrapped,
  secret: PairingSecret(bytes: [UInt8](repeating: 7, count: 16)).unsafelyUnwrapped)

private func makeIdentity() -> TLSIdentity {
  guard let key = try? SigningKey(), let certificate = try? Certificate.selfSigned(key, as: .agent),
    let identity = TLSIdentity(key: key, certificate: certificate)
  else { fatalError("no key") }
  return identity
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzTLS(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard let mode = input.first else { return 0 }
  let bytes = Array(input.dropFirst())
  let configuration = TLSConfiguration(
    .agent(agent, hosts: mode & 1 == 0 ? [] : [host.key.publicKey], pairing: mode & 2 == 0 ? nil : offer))
  guard let engine = try? TLSEngine(configuration) else { fatalError("no engine") }
  let size = mode & 4 == 0 ? max(1, bytes.count) : max(1, Int(mode >> 3))
  var ends = 0
  for start in stride(from: 0, to: bytes.count, by: size) {
    let output = engine.receive(Array(bytes[start..<min(start + size, bytes.count)]))
    for event in output.events {
      switch event {
      case .failed, .closed: ends += 1
      case .established, .received: fatalError("\(event)")
      }
    }
    guard ends <= 1, engine.isOver == (ends == 1) else { fatalError("ended \(ends) times") }
  }
  _ = engine.close()
  guard engine.isOver, engine.send([1]) == TLSOutput() else { fatalError("not over") }
  return 0
}
