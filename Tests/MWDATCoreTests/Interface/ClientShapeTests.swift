import Foundation
import LinkProtocol
import MWDATCore
import TestSupport
import Testing

/// Runs `ClientShape.swift`, which is written as an app would be.
@Suite("The interface as an app uses it", .timeLimit(.minutes(5)))
struct ClientShapeTests {
  @Test("A view model's whole life compiles and runs")
  func viewModel() async throws {
    let timekeeper = ManualTimekeeper()
    let environment = FakeEnvironment(timekeeper, devices: [.glasses("A", name: "Mine")])
    let model = ViewModel(wearables: SharedWearables(environment: environment))
    timekeeper.settle()
    let session = try model.makeSession()
    timekeeper.advance(by: .milliseconds(100))
    for await state in session.stateStream() where state == .started { break }
    session.stop()
    timekeeper.advance(by: .seconds(1))
    #expect(session.state == .stopped)
    #expect(model.heard.values.contains("list 1"))
    #expect(model.heard.values.contains("device connected"))
    #expect(model.heard.values.contains("session started"))
    await model.tearDown()
  }

  @Test("Every asynchronous call has its typed error")
  func typedErrors() async {
    let wearables: any WearablesInterface = SharedWearables(
      environment: CompanionEnvironment(timekeeper: ManualTimekeeper(), dial: nil))
    do { try await wearables.startRegistration() } catch {
      switch error {
      case .alreadyRegistered, .configurationInvalid, .metaAINotInstalled, .networkUnavailable, .unknown: break
      }
    }
    do { try await wearables.startUnregistration() } catch {
      switch error {
      case .alreadyUnregistered, .configurationInvalid, .metaAINotInstalled, .unknown: break
      }
    }
    do { _ = try await wearables.requestPermission(.microphone) } catch {
      switch error {
      case .noDevice, .noDeviceWithConnection, .connectionError, .metaAINotInstalled, .requestInProgress,
        .requestTimeout, .internalError:
        break
      }
    }
    do { try await wearables.openFirmwareUpdate() } catch {
      switch error {
      case .metaAINotInstalled, .notRegistered: break
      }
    }
    do { _ = try wearables.createSession(deviceSelector: AutoDeviceSelector(wearables: wearables)) } catch {
      switch error {
      case .noEligibleDevice, .sessionAlreadyStopped, .sessionAlreadyExists, .sessionIdle,
        .capabilityAlreadyActive, .capabilityNotFound, .thermalCritical, .thermalEmergency, .peakPowerShutdown,
        .batteryCritical, .datAppOnTheGlassesUpdateRequired, .dwaUnavailable, .insufficientSDKVersion,
        .dwaOutOfStuRange:
        break
      case .unexpectedError(let description): _ = description
      }
    }
  }
}
