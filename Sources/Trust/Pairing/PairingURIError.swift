/// Why a text is no pairing URI. None of them carries the secret.
package enum PairingURIError: Error, Hashable, Sendable {
  case tooLong(limit: Int)
  /// Does not begin as one, or is not pairs of a key and a value.
  case notAPairingURI
  case versionUnknown(String)
  case missingKey(String)
  case repeatedKey(String)
  case unknownKey(String)
  /// A value with a percent sign in the wrong place, or that is not UTF-8.
  case badCoding(key: String)
  case badValue(key: String, String)
  case addressCount(Int)
  case badSecret

  /// Of what somebody else wrote, as much as an error's text has room for, and nothing that a terminal obeys.
  static func shown(_ text: String) -> String {
    String(String.UnicodeScalarView(text.unicodeScalars.prefix(40).map { 0x20...0x7e ~= $0.value ? $0 : "?" }))
  }
}

extension PairingURIError: CustomStringConvertible {
  /// What is wrong, and what to do about it.
  package var description: String { "\(what); \(nextStep)" }

  package var what: String {
    switch self {
    case .tooLong(let limit): "a pairing URI has at most \(limit) bytes"
    case .notAPairingURI: "not a pairing URI, which begins with glasswing://pair?"
    case .versionUnknown(let version): "the pairing URI is of version \"\(version)\", this software knows 1"
    case .missingKey(let key): "the pairing URI has no \"\(key)\""
    case .repeatedKey(let key): "the pairing URI has \"\(key)\" twice"
    case .unknownKey(let key): "the pairing URI has an unknown \"\(key)\""
    case .badCoding(let key): "the pairing URI's \"\(key)\" is not percent-coded UTF-8"
    case .badValue(let key, let value): "the pairing URI's \"\(key)\" can't be \"\(value)\""
    case .addressCount(let count): "a pairing URI has 1 to \(PairingURI.mostAddresses) addresses, not \(count)"
    case .badSecret: "the pairing URI's secret is not 26 characters of base32"
    }
  }

  package var nextStep: String {
    switch self {
    case .versionUnknown: "update this software"
    case .tooLong, .notAPairingURI, .missingKey, .repeatedKey, .unknownKey, .badCoding, .badValue, .addressCount,
      .badSecret:
      "copy all of what the glasses show, in quotation marks"
    }
  }
}
