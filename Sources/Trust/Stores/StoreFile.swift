import Foundation

/// A store that is one JSON file: `{"version": 1, …}`.
package protocol StoreContent: Codable, Equatable, Sendable {
  /// Of a store that nobody has written yet.
  init()
  /// Longest file that is read, in bytes.
  static var longest: Int { get }
}

/// What a file had for its store.
package enum StoreLoad<Content: StoreContent>: Equatable, Sendable {
  /// No file: an empty store.
  case new(Content)
  case loaded(Content)
  /// The file was damaged. It has another name now, under which it can be looked at; the store is empty.
  case setAside(Content, path: String, reason: String)

  package var content: Content {
    switch self {
    case .new(let content), .loaded(let content), .setAside(let content, _, _): content
    }
  }

  /// For people, where there is something to be told.
  package var message: String? {
    guard case .setAside(_, let path, let reason) = self else { return nil }
    return "damaged (\(reason)); set aside as \(path), and begun anew: what was paired must be paired again"
  }
}

/// Why a store can't be used. The file is as it was.
package enum StoreError: Error, Hashable, Sendable {
  case file(PrivateFileError)
  /// Written by a later version.
  case newer(version: Int, path: String)
  /// More than its file may hold.
  case full(limit: Int)
}

extension StoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .file(let error): error.description
    case .newer(let version, let path):
      "\(path) was written by a later version of this software (format \(version)); update it, or name another folder"
    case .full(let limit): "a store holds at most \(limit) bytes; remove what is not used any more"
    }
  }
}

/// Reads and writes a store. Blocks; any thread, but of two writers at once the last one wins.
package struct StoreFile<Content: StoreContent>: Sendable {
  package let path: String

  package init(_ path: String) { self.path = path }

  /// A file that can't be read, or that others could have changed, is an error and stays as it is. One that can be read
  /// and makes no sense is set aside, never emptied.
  package func load() throws(StoreError) -> StoreLoad<Content> {
    let bytes: [UInt8]?
    do { bytes = try PrivateFile.read(path, atMost: Content.longest) } catch {
      guard case .tooLong(let limit) = error.cause else { throw .file(error) }
      return try setAside("longer than \(limit) bytes")
    }
    guard let bytes else { return .new(Content()) }
    let data = Data(bytes)
    guard let version = try? JSONDecoder().decode(StoreVersion.self, from: data).version else {
      return try setAside("not a store")
    }
    // Its content may be sound: who downgrades must not lose it.
    guard version <= StoreVersion.current else { throw .newer(version: version, path: path) }
    do {
      return .loaded(try JSONDecoder().decode(Content.self, from: data))
    } catch {
      return try setAside(Self.reason(error))
    }
  }

  /// On the disk, whole, when this returns.
  package func save(_ content: Content) throws(StoreError) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(StoreEnvelope(content: content)), data.count < Content.longest else {
      throw .full(limit: Content.longest)
    }
    do { try PrivateFile.write(path, Array(data) + [UInt8(ascii: "\n")]) } catch { throw .file(error) }
  }

  private func setAside(_ reason: String) throws(StoreError) -> StoreLoad<Content> {
    do { return .setAside(Content(), path: try PrivateFile.setAside(path), reason: reason) } catch {
      throw .file(error)
    }
  }

  private static func reason(_ error: any Error) -> String {
    switch error as? DecodingError {
    case .keyNotFound(let key, _): "\"\(key.stringValue)\" is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      ([context.codingPath.map(\.stringValue).joined(separator: ".")] + [context.debugDescription])
        .filter { !$0.isEmpty }.joined(separator: ": ")
    case nil, .some: "not a store"
    }
  }
}

private struct StoreVersion: Codable {
  static let current = 1
  let version: Int
}

/// The content's own keys, and the version beside them.
private struct StoreEnvelope<Content: StoreContent>: Encodable {
  let content: Content

  func encode(to encoder: any Encoder) throws {
    try StoreVersion(version: StoreVersion.current).encode(to: encoder)
    try content.encode(to: encoder)
  }
}
