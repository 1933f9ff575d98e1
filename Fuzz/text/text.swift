// Texts that people and files bring: command lines, amounts, an Info.plist, names of recordings. The first byte says
// which; words are separated by zeros.

import Foundation
import Units

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzText(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: start, count: count))
  guard let choice = bytes.first else { return 0 }
  let words = bytes.dropFirst().split(separator: 0, omittingEmptySubsequences: false).map {
    String(decoding: $0, as: UTF8.self)
  }
  switch choice % 5 {
  case 0: parseArguments(words)
  case 1: for word in words { parseAmounts(word) }
  case 2: readInformation(of: bytes.dropFirst())
  case 4:
    var reader = InfoPlist()
    if let dictionary = PropertyListEntry.dictionary(in: Data(bytes.dropFirst())) {
      check(reader.information(from: dictionary), reader.problems)
    }
  default: for word in words { namePart(of: word, part: Int(choice)) }
  }
  return 0
}

private func parseArguments(_ words: [String]) {
  do throws(CommandFailure) {
    guard case .run(let arguments) = try ArgumentParser.parse(words) else { return }
    let spec = OptionTable.spec(arguments.command)
    for (option, value) in arguments.values {
      guard spec.options.contains(option) else { fatalError("\(option) is none of \(spec.name)'s") }
      switch (OptionTable.spec(option).value, value) {
      case (nil, .flag), (.file, .text), (.folder, .text): break
      case (.duration(let least), .duration(let duration)) where duration >= least: break
      case (.bitrate(let range), .bitrate(let bitrate)) where range.contains(bitrate): break
      case (.count(let range), .count(let count)) where range.contains(count): break
      case (.choice(let names), .text(let name)) where names.contains(name): break
      case (_, _): fatalError("\(option) is \(value)")
      }
    }
    for option in spec.required where !arguments.has(option) { fatalError("\(option) is missing") }
  } catch {
    guard !error.line.contains(where: \.isNewline), error.status == .couldNotStart else { fatalError(error.line) }
  }
}

private func parseAmounts(_ word: String) {
  if let duration = AmountText.duration(word) {
    let whole = Duration.milliseconds(duration.nanoseconds / 1_000_000)
    guard duration >= .zero, AmountText.duration(AmountText.words(whole)) == whole else { fatalError("\(duration)") }
  }
  if let bitrate = AmountText.bitrate(word) {
    guard bitrate.bitsPerSecond >= 0, AmountText.bitrate(AmountText.words(bitrate)) == bitrate else {
      fatalError("\(bitrate)")
    }
  }
}

/// A dictionary of the right names and of any values, which bytes of a file rarely make.
private func readInformation(of bytes: ArraySlice<UInt8>) {
  var rest = bytes
  var reader = InfoPlist()
  check(reader.information(from: dictionary(&rest, depth: 0)), reader.problems)
}

private func check(_ information: AppInformation, _ problems: [ConfigurationProblem]) {
  guard problems.isEmpty else { return }
  guard !information.bundleIdentifier.isEmpty, !information.name.isEmpty,
    information.isDeveloperMode || information.metaAppID?.isEmpty == false
  else { fatalError("\(information)") }
}

private let keys = [
  "CFBundleIdentifier", "CFBundleDisplayName", "CFBundleName", "CFBundleShortVersionString", "CFBundleVersion",
  "MWDAT", "AppLinkURLScheme", "MetaAppID", "ClientToken", "TeamID", "Analytics", "CrashReporting", "OptOut",
]

private func dictionary(_ rest: inout ArraySlice<UInt8>, depth: Int) -> [String: Any] {
  var dictionary: [String: Any] = [:]
  while let key = rest.popFirst(), key != 0xff {
    dictionary[keys[Int(key) % keys.count]] = value(&rest, depth: depth)
  }
  return dictionary
}

private func value(_ rest: inout ArraySlice<UInt8>, depth: Int) -> Any {
  switch (rest.popFirst() ?? 0) % 7 {
  case 0:
    let length = Int(rest.popFirst() ?? 0)
    defer { rest = rest.dropFirst(length) }
    return String(decoding: rest.prefix(length), as: UTF8.self)
  case 1: return Int(rest.popFirst() ?? 0) - 128
  case 2: return Double(rest.popFirst() ?? 0) * 1e300
  case 3: return (rest.popFirst() ?? 0) & 1 == 0
  case 4: return depth < 4 ? dictionary(&rest, depth: depth + 1) : [:]
  case 5: return Data(rest.prefix(4))
  default: return UInt64.max as NSNumber
  }
}

private func namePart(of path: String, part: Int) {
  guard RecordingName.path(path, part: 1) == path else { fatalError("the first part has another name") }
  let name = RecordingName.path(path, part: part + 2)
  guard name != path, name != RecordingName.path(path, part: part + 3) else { fatalError("\(name) names two parts") }
}
