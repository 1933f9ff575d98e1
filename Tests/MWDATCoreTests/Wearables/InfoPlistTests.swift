import Foundation
import TestSupport
import Testing

@testable import MWDATCore

@Suite("Info.plist")
struct InfoPlistTests {
  static var complete: [String: Any] {
    [
      "CFBundleIdentifier": "org.example.app", "CFBundleName": "App", "CFBundleShortVersionString": "1.2",
      "CFBundleVersion": "7", "MWDAT": ["AppLinkURLScheme": "example", "MetaAppID": "42", "ClientToken": "t"],
    ]
  }

  func read(_ dictionary: [String: Any]) throws -> (information: AppInformation, problems: [ConfigurationProblem]) {
    let data = try PropertyListSerialization.data(fromPropertyList: dictionary, format: .xml, options: 0)
    return try read(data)
  }

  func read(_ data: Data) throws -> (information: AppInformation, problems: [ConfigurationProblem]) {
    let directory = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let file = directory.appendingPathComponent("Info.plist")
    try data.write(to: file)
    let beside = InfoPlist.read(environment: [:], executable: directory.appendingPathComponent("app").path)
    let named = InfoPlist.read(environment: [InfoPlist.pathVariable: file.path], executable: "/nowhere/app")
    #expect(beside.information == named.information)
    #expect(beside.problems.map(\.error) == named.problems.map(\.error))
    return beside
  }

  @Test("A complete one is read, beside the executable or where the environment says")
  func readsAll() throws {
    var dictionary = Self.complete
    dictionary["CFBundleDisplayName"] = "The App"
    dictionary["MWDAT"] = [
      "AppLinkURLScheme": "ex-1.a+b", "MetaAppID": 42, "ClientToken": "t", "TeamID": "T", "DAMEnabled": true,
      "Analytics": ["OptOut": true], "CrashReporting": ["OptOut": false],
    ]
    let (information, problems) = try read(dictionary)
    #expect(problems.isEmpty)
    #expect(
      information
        == AppInformation(
          bundleIdentifier: "org.example.app", name: "The App", version: "1.2", build: "7",
          appLinkScheme: "ex-1.a+b", metaAppID: "42", clientToken: "t", teamID: "T", optsOutOfAnalytics: true,
          optsOutOfCrashReporting: false))
    #expect(!information.isDeveloperMode)
  }

  @Test("A program without one runs in developer mode, under its own name")
  func none() {
    let (information, problems) = InfoPlist.read(environment: [:], executable: "/nowhere/bin/tool")
    #expect(problems.isEmpty)
    #expect(information.isDeveloperMode)
    #expect(information.name == "tool")
  }

  @Test("An app number that is empty, 0, or an unexpanded placeholder is developer mode")
  func developerMode() throws {
    for number in ["", "0", " 0 ", "$(META_APP_ID)", "${META_APP_ID}"] {
      var dictionary = Self.complete
      dictionary["MWDAT"] = ["MetaAppID": number]
      let (information, problems) = try read(dictionary)
      #expect(problems.isEmpty, "\(number)")
      #expect(information.isDeveloperMode, "\(number)")
    }
    var dictionary = Self.complete
    dictionary["MWDAT"] = ["MetaAppID": 0]
    #expect(try read(dictionary).information.isDeveloperMode)
  }

  @Test("What is missing gives its own error")
  func missing() throws {
    let errors: [(String, WearablesError)] = [
      ("CFBundleIdentifier", .missingBundleIdentifier), ("CFBundleName", .missingAppName),
      ("CFBundleShortVersionString", .missingAppVersion), ("CFBundleVersion", .missingBuildNumber),
      ("MWDAT", .configurationError),
    ]
    for (key, error) in errors {
      var dictionary = Self.complete
      dictionary[key] = nil
      #expect(try read(dictionary).problems.map(\.error) == [error], "\(key)")
    }
    #expect(try read(Data("no property list".utf8)).problems.map(\.error) == [.missingInfoDictionary])
    let absent = InfoPlist.read(environment: [InfoPlist.pathVariable: "/nowhere/Info.plist"], executable: "app")
    #expect(absent.problems.map(\.error) == [.missingInfoDictionary])
  }

  @Test("A damaged file gives information or says what is wrong, as XML and in binary", arguments: [true, false])
  func damaged(asXML: Bool) throws {
    let file = try PropertyListSerialization.data(
      fromPropertyList: Self.complete, format: asXML ? .xml : .binary, options: 0)
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: path) }
    for damaged in DecoderVerifier.damaged([UInt8](file), limit: 600) {
      try Data(damaged).write(to: path)
      let (information, problems) = InfoPlist.read(
        environment: [InfoPlist.pathVariable: path.path], executable: "/nowhere/app")
      #expect(!problems.isEmpty || !information.bundleIdentifier.isEmpty)
      for problem in problems { #expect(!problem.text.isEmpty) }
    }
  }

  @Test("Every mistake is found at once, in words, the first one first (PERM-3)")
  func allAtOnce() throws {
    let (_, problems) = try read([
      "CFBundleIdentifier": "", "CFBundleName": 3, "CFBundleVersion": "1",
      "MWDAT": [
        "AppLinkURLScheme": "1 bad", "MetaAppID": "42", "TeamID": 5, "Analytics": true,
        "CrashReporting": ["OptOut": "yes"],
      ],
    ])
    #expect(
      problems.map(\.error) == [
        .missingBundleIdentifier, .missingAppName, .missingAppVersion, .configurationError, .configurationError,
        .configurationError, .configurationError, .configurationError,
      ])
    for word in ["TeamID", "Analytics", "CrashReporting.OptOut", "AppLinkURLScheme", "ClientToken"] {
      #expect(problems.contains { $0.text.contains(word) }, "\(word)")
    }
  }
}
