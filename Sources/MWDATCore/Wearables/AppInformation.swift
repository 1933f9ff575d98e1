import Foundation

/// What an app says of itself in its Info.plist.
package struct AppInformation: Hashable, Sendable {
  package var bundleIdentifier: String
  package var name: String
  package var version: String
  package var build: String
  /// The scheme of the URLs that the companion answers with; nil without one.
  package var appLinkScheme: String?
  /// The app's number in the developer registry; nil in developer mode.
  package var metaAppID: String?
  package var clientToken: String?
  package var teamID: String?
  package var optsOutOfAnalytics: Bool
  package var optsOutOfCrashReporting: Bool

  /// Without an entry in the developer registry: for programs under development.
  package var isDeveloperMode: Bool { metaAppID == nil }

  /// What a program without an Info.plist is: named as its executable, in developer mode.
  package static func developerMode(executable: String) -> AppInformation {
    let name = executable.split(separator: "/").last.map(String.init) ?? "app"
    return AppInformation(
      bundleIdentifier: name, name: name, version: "0", build: "0", optsOutOfAnalytics: true,
      optsOutOfCrashReporting: true)
  }
}

/// One thing that is wrong with an app's configuration.
package struct ConfigurationProblem: Hashable, Sendable {
  package var error: WearablesError
  /// Which entry, what is wrong with it, what it should be.
  package var text: String
  package init(_ error: WearablesError, _ text: String) {
    self.error = error
    self.text = text
  }
}

/// Finds and reads an app's Info.plist: `GLASSWING_INFO_PLIST` names it, or it lies beside the executable. A program
/// without one runs in developer mode.
struct InfoPlist {
  static let pathVariable = "GLASSWING_INFO_PLIST"

  /// Everything that is wrong; the information is complete only when that is nothing.
  private(set) var problems: [ConfigurationProblem] = []

  /// The information for this process, or all that is wrong with it, the gravest first.
  static func read(
    environment: [String: String] = ProcessInfo.processInfo.environment,
    executable: String = Bundle.main.executablePath ?? CommandLine.arguments.first ?? "app"
  ) -> (information: AppInformation, problems: [ConfigurationProblem]) {
    var reader = InfoPlist()
    let fallback = AppInformation.developerMode(executable: executable)
    let named = environment[pathVariable].flatMap { $0.isEmpty ? nil : $0 }
    let folder = executable.lastIndex(of: "/").map { executable[...$0] } ?? ""
    let path = named ?? folder + "Info.plist"
    guard named != nil || FileManager.default.fileExists(atPath: path) else { return (fallback, []) }
    guard let data = FileManager.default.contents(atPath: path) else {
      return (fallback, [ConfigurationProblem(.missingInfoDictionary, "\(path) can't be read")])
    }
    guard let dictionary = PropertyListEntry.dictionary(in: data) else {
      return (fallback, [ConfigurationProblem(.missingInfoDictionary, "\(path) is not a property list dictionary")])
    }
    let information = reader.information(from: dictionary)
    return (information, reader.problems)
  }

  mutating func information(from dictionary: [String: Any]) -> AppInformation {
    let identifier = text(dictionary, "CFBundleIdentifier", else: .missingBundleIdentifier)
    let nameKey = dictionary["CFBundleDisplayName"] == nil ? "CFBundleName" : "CFBundleDisplayName"
    let name = text(dictionary, nameKey, else: .missingAppName)
    let version = text(dictionary, "CFBundleShortVersionString", else: .missingAppVersion)
    let build = text(dictionary, "CFBundleVersion", else: .missingBuildNumber)
    var information = AppInformation(
      bundleIdentifier: identifier, name: name, version: version, build: build, optsOutOfAnalytics: false,
      optsOutOfCrashReporting: false)
    guard let entry = dictionary["MWDAT"] else {
      problem("MWDAT is missing; add the dictionary (MetaAppID 0 is developer mode)")
      return information
    }
    guard let settings = entry as? [String: Any] else {
      problem("MWDAT must be a dictionary")
      return information
    }
    read(settings, into: &information)
    return information
  }

  private mutating func read(_ settings: [String: Any], into information: inout AppInformation) {
    information.appLinkScheme = optionalText(settings, "AppLinkURLScheme")
    information.metaAppID = registryNumber(settings)
    information.clientToken = optionalText(settings, "ClientToken")
    information.teamID = optionalText(settings, "TeamID")
    information.optsOutOfAnalytics = optOut(settings, "Analytics")
    information.optsOutOfCrashReporting = optOut(settings, "CrashReporting")
    if let scheme = information.appLinkScheme, !Self.isScheme(scheme) {
      problem("MWDAT.AppLinkURLScheme \"\(scheme)\" is not a URL scheme (a letter, then letters, digits, + - .)")
    }
    guard !information.isDeveloperMode else { return }
    if settings["AppLinkURLScheme"] == nil {
      problem("MWDAT.AppLinkURLScheme is missing; the companion answers to it")
    }
    if settings["ClientToken"] == nil { problem("MWDAT.ClientToken is missing; the developer registry gives it") }
  }

  private mutating func problem(_ text: String, _ error: WearablesError = .configurationError) {
    problems.append(ConfigurationProblem(error, text))
  }

  private mutating func text(_ dictionary: [String: Any], _ key: String, else error: WearablesError) -> String {
    guard let value = dictionary[key] as? String, !value.isEmpty else {
      problem("\(key) is missing or not a text", error)
      return ""
    }
    return value
  }

  private mutating func optionalText(_ settings: [String: Any], _ key: String) -> String? {
    guard let value = settings[key] else { return nil }
    guard let text = value as? String else {
      problem("MWDAT.\(key) must be a text")
      return nil
    }
    return text.isEmpty || Self.isPlaceholder(text) ? nil : text
  }

  /// Nil, for developer mode, when it is missing, empty, 0, or a build variable that nothing replaced. Written as a
  /// number it counts as well.
  private mutating func registryNumber(_ settings: [String: Any]) -> String? {
    guard let value = settings["MetaAppID"] else { return nil }
    if let number = value as? Int { return number == 0 ? nil : String(number) }
    guard let text = value as? String else {
      problem("MWDAT.MetaAppID must be a text or a number")
      return nil
    }
    let trimmed = text.trimmingCharacters(in: .whitespaces)
    return trimmed.isEmpty || trimmed == "0" || Self.isPlaceholder(trimmed) ? nil : trimmed
  }

  private mutating func optOut(_ settings: [String: Any], _ key: String) -> Bool {
    guard let value = settings[key] else { return false }
    guard let dictionary = value as? [String: Any] else {
      problem("MWDAT.\(key) must be a dictionary with OptOut")
      return false
    }
    guard let choice = dictionary["OptOut"] else { return false }
    guard let optsOut = choice as? Bool else {
      problem("MWDAT.\(key).OptOut must be true or false")
      return false
    }
    return optsOut
  }

  /// `$(NAME)` or `${NAME}`, which a build should have replaced.
  private static func isPlaceholder(_ text: String) -> Bool {
    (text.hasPrefix("$(") && text.hasSuffix(")")) || (text.hasPrefix("${") && text.hasSuffix("}"))
  }

  /// RFC 3986, 3.1.
  private static func isScheme(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first) else { return false }
    return text.utf8.allSatisfy { byte in
      isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
  }
}
