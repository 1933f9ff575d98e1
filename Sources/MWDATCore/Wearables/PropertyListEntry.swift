import Foundation

/// A value of a property list, as far as an app's information has such.
///
/// Decoded, and not taken from `PropertyListSerialization`: that one trusts a damaged binary file and may end the
/// process.
indirect enum PropertyListEntry: Decodable {
  case text(String)
  case number(Int)
  case flag(Bool)
  case dictionary([String: PropertyListEntry])
  /// Dates, data, arrays, fractions: nothing that is asked for.
  case other

  /// Far deeper than anything that is asked for. A damaged binary file may have a dictionary inside itself.
  private static let maximumDepth = 8

  /// The dictionary that a file in XML or binary form holds; nil for anything else.
  static func dictionary(in file: Data) -> [String: Any]? {
    guard case .dictionary(let entries) = try? PropertyListDecoder().decode(PropertyListEntry.self, from: file) else {
      return nil
    }
    return entries.mapValues(\.value)
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let flag = try? container.decode(Bool.self) {
      self = .flag(flag)
    } else if let number = try? container.decode(Int.self) {
      self = .number(number)
    } else if let text = try? container.decode(String.self) {
      self = .text(text)
    } else if decoder.codingPath.count < Self.maximumDepth,
      let entries = try? container.decode([String: PropertyListEntry].self)
    {
      self = .dictionary(entries)
    } else {
      self = .other
    }
  }

  private var value: Any {
    switch self {
    case .text(let text): text
    case .number(let number): number
    case .flag(let flag): flag
    case .dictionary(let entries): entries.mapValues(\.value)
    case .other: Data()
    }
  }
}
