import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Testing

/// Every error that an app can meet, once.
enum EveryError {
  /// What stands for a text that differs from case to case.
  static let varying = "…"

  static let interface: [ErrorFacts] = wearables + session + stream + photo + mock

  private static let wearables: [ErrorFacts] = {
    let numbers = 0..<20
    return numbers.compactMap { WearablesError(rawValue: $0)?.facts }
      + numbers.compactMap { RegistrationError(rawValue: $0)?.facts }
      + numbers.compactMap { UnregistrationError(rawValue: $0)?.facts }
      + numbers.compactMap { WearablesHandleURLError(rawValue: $0)?.facts }
      + numbers.compactMap { NavigationError(rawValue: $0)?.facts }
      + [
        RegistrationRequestError.invalidRequest, .alreadyHandled, .configurationInvalid, .networkUnavailable,
        .metaAINotInstalled, .registrationFailed, .cancellationFailed,
      ].map(\.facts)
      + numbers.compactMap { PermissionError(rawValue: $0)?.facts }
  }()

  private static let session: [ErrorFacts] = [
    DeviceSessionError.noEligibleDevice, .sessionAlreadyStopped, .sessionAlreadyExists, .sessionIdle,
    .capabilityAlreadyActive, .capabilityNotFound, .unexpectedError(description: varying), .thermalCritical,
    .thermalEmergency, .peakPowerShutdown, .batteryCritical, .datAppOnTheGlassesUpdateRequired, .dwaUnavailable,
    .insufficientSDKVersion, .dwaOutOfStuRange,
  ].map(\.facts)

  private static let stream: [ErrorFacts] = [
    StreamError.internalError, .deviceNotFound(varying), .deviceNotConnected(varying), .timeout, .videoStreamingError,
    .audioStreamingError, .permissionDenied, .hingesClosed, .thermalHot, .batteryLow, .peakPowerLimit,
    .photoCaptureFailed,
  ].map(\.facts)

  private static let photo: [ErrorFacts] = [
    PhotoError.notReady, .captureFailure(underlying: nil), .sessionSetupFailed(underlying: nil), .busy,
    .serviceUnavailable, .permissionDenied, .deviceHealthCritical, .deviceDisconnected,
  ].map(\.facts)

  private static let mock: [ErrorFacts] = [MockDeviceKitError.notEnabled, .testServerUnavailable].map(\.facts)

  static let glasswing: [any GlasswingError] = [
    RecorderError.unknownContainer(path: varying), RecorderError.fileExists(path: varying),
    RecorderError.folderMissing(path: varying), RecorderError.notWritable(path: varying, reason: varying),
    RecorderError.diskFull(path: varying), RecorderError.writeFailed(path: varying, reason: varying),
    RecorderError.needsCompressedVideo(found: varying), RecorderError.unreadableSample(reason: varying),
    RecorderError.notRecording, RecorderError.nothingRecorded(path: varying), RecorderError.stalled(path: varying),
    RecorderError.unsupportedAudio(audio: varying, container: varying), RecorderError.needsAudio(found: varying),
    HEVCDecoderError.unavailable(reason: varying), HEVCDecoderError.notCompressedVideo,
    HEVCDecoderError.malformed(reason: varying), HEVCDecoderError.damaged(reason: varying), HEVCDecoderError.needsSync,
    GlassesFailure.heldByOther(retryAfter: nil), GlassesFailure.reported(cause: varying, text: varying),
    GlassesFailure.endedByGlasses(text: varying), GlassesFailure.silent(text: varying),
    GlassesFailure.linkLost(text: varying), GlassesFailure.incompatible(text: varying),
    GlassesFailure.here(text: varying),
    CameraFeedError.notPlayable(path: varying, reason: varying),
    AudioFeedError.notPlayable(path: varying, reason: varying), AudioFeedError.tooLate(by: .zero),
    AudioFeedError.tooMuchPending, AudioFeedError.notUsable,
  ]

  static let all: [ErrorFacts] = (interface + glasswing.map(\.facts)).sorted { $0.code < $1.code }
}

/// The facts of all errors, and the page that lists them.
@Suite("Facts of errors")
struct ErrorFactsTests {
  private static let root = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  @Test("ERR-1: names and numbers are one to an error, in one number space, and each has a sentence")
  func unique() {
    let all = EveryError.all
    #expect(all.count == 8 + 5 + 4 + 2 + 2 + 7 + 7 + 15 + 12 + 8 + 2 + 13 + 5 + 7 + 1 + 4)
    #expect(Set(all.map(\.name)).count == all.count)
    #expect(Set(all.map(\.code)).count == all.count)
    for facts in all {
      #expect(!facts.message.isEmpty)
      #expect(facts.name.split(separator: ".").count == 2, "\(facts.name)")
      #expect("\(facts)".hasPrefix("\(facts.name) (\(facts.code), "))
    }
  }

  @Test("ERR-1: an error that was caught as any Error has the same facts, and a stranger's has none")
  func erased() {
    let errors: [any Error] = [
      StreamError.timeout, DeviceSessionError.sessionIdle, PhotoError.busy, PermissionError.noDevice,
      RegistrationError.unknown, UnregistrationError.unknown, RegistrationRequestError.alreadyHandled,
      WearablesHandleURLError.registrationError, NavigationError.notRegistered, WearablesError.alreadyConfigured,
      RecorderError.notRecording, HEVCDecoderError.needsSync, CameraFeedError.notPlayable(path: "a", reason: "b"),
    ]
    let facts = errors.map { ErrorFacts($0) }
    #expect(facts.allSatisfy { $0 != nil })
    #expect(Set(facts.compactMap(\.?.name)).count == errors.count)
    #expect(zip(errors, facts).allSatisfy { $0.localizedDescription == $1?.message })
    #expect(ErrorFacts(CocoaError(.fileNoSuchFile)) == nil)
  }

  @Test("ERR-1: facts survive being stored as JSON")
  func stored() throws {
    let data = try JSONEncoder().encode(EveryError.all)
    #expect(try JSONDecoder().decode([ErrorFacts].self, from: data) == EveryError.all)
  }

  @Test("ERR-1: docs/errors.md lists every error as it is, and no other")
  func page() throws {
    let page = try String(contentsOf: Self.root.appendingPathComponent("docs/errors.md"), encoding: .utf8)
    let rows = page.split(separator: "\n").filter { $0.hasPrefix("| `") && $0.contains(".") }.map(String.init)
      .filter { $0.split(separator: "|").count == 6 }
    let written = EveryError.all.map { facts in
      "| `\(facts.name)` | \(facts.code) | \(facts.stage) | \(facts.severity) | \(facts.advice) | \(facts.message) |"
    }
    #expect(rows.filter { !written.contains($0) } == [], "on the page, and not so")
    #expect(written.filter { !rows.contains($0) }.joined(separator: "\n") == "", "missing on the page")
    #expect(rows == written, "in the order of the numbers")
  }

  @Test("Every severity that ends a stream or session is terminal, and the two that don't are not (ERR-2)")
  func severities() {
    let ending = EveryError.all.filter { $0.name.hasPrefix("stream.") }
    #expect(ending.filter { $0.severity != .terminal }.map(\.name) == ["stream.photoCaptureFailed"])
    #expect(DeviceSessionError.dwaOutOfStuRange.facts.severity == .informational)
  }
}
