import FoundationEssentials

/// A value of a dictionary that a client passes in: what a property list can hold.
///
/// Dictionaries arrive as `[String: Any]`, which can neither be compared nor shared between threads; this can.
indirect enum PropertyValue: Hashable, Sendable {
  case bool(Bool)
  case integer(Int64)
  case real(Double)
  case string(String)
  case data(Data)
  case array([PropertyValue])
  case dictionary([String: PropertyValue])

  /// Nil for a value that no property list can hold.
  init?(_ value: Any) {
    switch value {
    case let value as Bool: self = .bool(value)
    case let value as String: self = .string(value)
    case let value as Data: self = .data(value)
    case let value as [UInt8]: self = .data(Data(value))
    case let value as any BinaryInteger:
      guard let integer = Int64(exactly: value) else { return nil }
      self = .integer(integer)
    case let value as any BinaryFloatingPoint: self = .real(Double(value))
    case let value as [Any]:
      guard let values = Self.all(value) else { return nil }
      self = .array(values)
    case let value as [String: Any]:
      guard let values = Self.all(value) else { return nil }
      self = .dictionary(values)
    default: return nil
    }
  }

  /// Each value of an array, or nil if one can't be held.
  static func all(_ values: [Any]) -> [PropertyValue]? {
    let held = values.compactMap(PropertyValue.init)
    return held.count == values.count ? held : nil
  }

  /// Each value of a dictionary, or nil if one can't be held.
  static func all(_ values: [String: Any]) -> [String: PropertyValue]? {
    let held = values.compactMapValues(PropertyValue.init)
    return held.count == values.count ? held : nil
  }

  /// The plain value, as clients get it back.
  var any: Any {
    switch self {
    case .bool(let value): value
    case .integer(let value): Int(truncatingIfNeeded: value)
    case .real(let value): value
    case .string(let value): value
    case .data(let value): value
    case .array(let values): values.map(\.any)
    case .dictionary(let values): values.mapValues(\.any)
    }
  }

  /// As a count or size, if it is a whole number.
  var integer: Int? {
    switch self {
    case .integer(let value): Int(exactly: value)
    case .real(let value): Int(exactly: value)
    case .bool, .string, .data, .array, .dictionary: nil
    }
  }
}
