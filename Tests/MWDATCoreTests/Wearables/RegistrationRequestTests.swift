import MWDATCore
import TestSupport
import Testing

@Suite("Registrations begun in the companion")
struct RegistrationRequestTests {
  func request(failing error: RegistrationRequestError? = nil, log: Observed<String>) -> RegistrationRequest {
    RegistrationRequest(
      flowID: "f", protocolVersion: 2,
      continueRegistration: { () async throws(RegistrationRequestError) in
        log.record("continue")
        if let error { throw error }
      },
      cancelRegistration: { log.record("cancel") })
  }

  @Test("A request is answered once")
  func once() async throws {
    let log = Observed<String>()
    let request = request(log: log)
    #expect(request.flowID == "f")
    #expect(request.protocolVersion == 2)
    try await request.continueRegistration()
    await #expect(throws: RegistrationRequestError.alreadyHandled) { try await request.cancelRegistration() }
    await #expect(throws: RegistrationRequestError.alreadyHandled) { try await request.continueRegistration() }
    #expect(log.values == ["continue"])
  }

  @Test("A failed answer leaves it open for another")
  func failed() async throws {
    let log = Observed<String>()
    let request = request(failing: .networkUnavailable, log: log)
    await #expect(throws: RegistrationRequestError.networkUnavailable) { try await request.continueRegistration() }
    try await request.cancelRegistration()
    #expect(log.values == ["continue", "cancel"])
  }
}
