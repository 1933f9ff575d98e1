import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Testing

/// docs/faq.md is keyed by texts that the product really prints.
struct FAQTests {
  private static let texts: Set<String> = [
    DeviceSessionError.noEligibleDevice.localizedDescription,
    DeviceSessionError.sessionAlreadyExists.localizedDescription,
    DeviceSessionError.sessionIdle.localizedDescription,
    DeviceSessionError.unexpectedError(description: "Session ended by device").localizedDescription,
    StreamError.permissionDenied.localizedDescription,
    StreamError.videoStreamingError.localizedDescription,
    StreamError.audioStreamingError.localizedDescription,
    StreamError.timeout.localizedDescription,
    StreamError.internalError.localizedDescription,
    StreamError.hingesClosed.localizedDescription,
    StreamError.photoCaptureFailed.localizedDescription,
    RecorderError.needsCompressedVideo(found: "decoded video; ask the stream for .hvc1").localizedDescription,
    PermissionError.metaAINotInstalled.localizedDescription,
    MockDeviceKitError.testServerUnavailable.localizedDescription,
  ]

  @Test("each quoted heading of the page is a text of the product")
  func headingsAreTexts() throws {
    let root = URL(fileURLWithPath: #filePath)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    let page = try String(contentsOf: root.appendingPathComponent("docs/faq.md"), encoding: .utf8)
    let quoted = page.split(separator: "\n").filter { $0.hasPrefix("## \"") }.map { String($0.dropFirst(4).dropLast()) }
    #expect(quoted.count >= 10)
    #expect(quoted.filter { !Self.texts.contains($0) } == [])
  }
}
