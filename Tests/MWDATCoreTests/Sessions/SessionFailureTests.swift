import LinkProtocol
import Testing
import Units

@testable import MWDATCore

@Suite("What the glasses and the link say, as errors of the interface")
struct SessionFailureTests {
  func close(_ cause: LinkClose.Cause) -> LinkClose { LinkClose(cause, at: Instant(nanoseconds: 0)) }

  @Test("Device health keeps its own cases")
  func health() {
    let expected: [(LinkErrorCode, DeviceSessionError)] = [
      (.thermalCritical, .thermalCritical), (.thermalEmergency, .thermalEmergency),
      (.batteryCritical, .batteryCritical), (.peakPowerShutdown, .peakPowerShutdown), (.timeout, .dwaUnavailable),
    ]
    for (code, error) in expected {
      #expect(SessionFailure.failed(code, text: "x") == SessionFailure(error, .reported(code), text: "x"))
    }
  }

  @Test(
    "Every other code is an unexpected error with a sentence and the glasses' own words",
    arguments: LinkErrorCode.allCases)
  func others(code: LinkErrorCode) {
    let failure = SessionFailure.failed(code, text: "details")
    #expect(failure.code == code)
    guard case .unexpectedError(let description) = failure.error else { return }
    #expect(description.hasSuffix("(details)"))
    #expect(description.count > 30)
  }

  @Test("However the glasses end an open session, it was ended by the device")
  func endedByDevice() {
    let ended = DeviceSessionError.unexpectedError(description: "Session ended by device")
    #expect(SessionFailure.closed(.endedByDevice, text: "", wasOpen: true).error == ended)
    #expect(SessionFailure.closed(.requested, text: "", wasOpen: true).error == ended)
    #expect(SessionFailure.closed(.failed(.hingeClosed), text: "", wasOpen: true).error == ended)
    #expect(SessionFailure.closed(.failed(.hingeClosed), text: "", wasOpen: false).error != ended)
    for reason in [Goodbye.Reason.finished, .poweringOff, .hingeClosed, .unpaired] {
      #expect(SessionFailure.linkClosed(close(.goodbye(Goodbye(reason: reason))), wasOpen: true).error == ended)
    }
  }

  @Test("Versions that don't fit say which side to update")
  func versions() {
    func mismatch(_ major: UInt8) -> DeviceSessionError {
      let cause = LinkProtocolError.Cause.versionMismatch(peer: ProtocolVersion(major: major, minor: 0))
      return SessionFailure.linkClosed(
        close(.protocolError(LinkProtocolError(cause, stage: .hello))), wasOpen: false
      ).error
    }
    #expect(mismatch(ProtocolVersion.current.major + 1) == .insufficientSDKVersion)
    #expect(mismatch(ProtocolVersion.current.major - 1) == .datAppOnTheGlassesUpdateRequired)
  }

  @Test("A link that never opened means unreachable glasses; one that broke says how")
  func links() {
    #expect(SessionFailure.linkClosed(close(.silent), wasOpen: false).error == .dwaUnavailable)
    #expect(SessionFailure.linkClosed(close(.transport(.failed("no route"))), wasOpen: false).error == .dwaUnavailable)
    let lost = SessionFailure.linkClosed(close(.transport(.failed("no route"))), wasOpen: true)
    #expect(lost.text == "no route")
    #expect(
      lost.error
        == .unexpectedError(description: "The link to the glasses was lost: the connection broke (no route)"))
  }
}
