// Texts and files of a pairing: the URI that a person copies, and the stores' JSON. The first byte says which.

import Foundation

@testable import Trust

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPairing(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let choice = bytes.first else { return 0 }
  let rest = Data(bytes.dropFirst())
  switch choice % 4 {
  case 0, 1: readURI(String(decoding: rest, as: UTF8.self))
  case 2: readStore(PairedGlasses.self, rest)
  default: readStore(PairedHosts.self, rest)
  }
  return 0
}

/// What is read must print as what reads alike, and an error is one line.
private func readURI(_ text: String) {
  do throws(PairingURIError) {
    let uri = try PairingURI(text)
    guard let again = try? PairingURI(uri.revealed()), again == uri else { fatalError("\(uri) does not read back") }
    guard !uri.description.contains(uri.secret.revealed()) else { fatalError("the secret is printed") }
  } catch {
    guard !"\(error)".contains(where: \.isNewline) else { fatalError("\(error)") }
  }
}

private func readStore<Content: StoreContent>(_ type: Content.Type, _ data: Data) {
  guard let content = try? JSONDecoder().decode(type, from: data) else { return }
  guard let text = try? JSONEncoder().encode(content), (try? JSONDecoder().decode(type, from: text)) == content else {
    fatalError("\(content) does not read back")
  }
}
