import Synchronization

/// A registration that the user began inside the companion and that waits for this app's word.
public final class RegistrationRequest: Sendable {
  package typealias Answer = @Sendable () async throws(RegistrationRequestError) -> Void

  /// Names the request in logs of both sides.
  public let flowID: String
  /// The version of the exchange that the companion speaks.
  public let protocolVersion: Int

  private let continueAction: Answer
  private let cancelAction: Answer
  private let isHandled = Atomic<Bool>(false)

  package init(
    flowID: String, protocolVersion: Int, continueRegistration: @escaping Answer,
    cancelRegistration: @escaping Answer
  ) {
    self.flowID = flowID
    self.protocolVersion = protocolVersion
    continueAction = continueRegistration
    cancelAction = cancelRegistration
  }

  /// Goes on with the registration; its outcome arrives as registration state.
  ///
  /// Throws `alreadyHandled` when the request was answered before or is being answered now. A failed answer leaves
  /// the request open for another.
  public func continueRegistration() async throws(RegistrationRequestError) { try await answer(continueAction) }

  /// Refuses the registration. Throws as `continueRegistration()` does.
  public func cancelRegistration() async throws(RegistrationRequestError) { try await answer(cancelAction) }

  private func answer(_ action: Answer) async throws(RegistrationRequestError) {
    guard !isHandled.exchange(true, ordering: .acquiringAndReleasing) else { throw .alreadyHandled }
    do {
      try await action()
    } catch {
      isHandled.store(false, ordering: .releasing)
      throw error
    }
  }
}
