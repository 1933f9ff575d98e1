import CameraFeature
import Foundation
import MWDATCore
import MWDATMockDevice
import Observation
import Testing

/// The mock kit belongs to the whole process, so these tests take turns.
@Suite(.serialized) @MainActor
struct CameraModelTests {
  private func withGlasses(_ test: (CameraModel, any MockGlasses) async throws -> Void) async throws {
    MockDeviceKit.shared.enable()
    let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
    glasses.powerOn()
    glasses.don()
    let model = CameraModel(wearables: Wearables.shared)
    try await test(model, glasses)
    model.stop()
    await MockDeviceKit.shared.disable()
  }

  @Test("a preview shows frames and takes a photo", .timeLimit(.minutes(1)))
  func preview() async throws {
    try await withGlasses { model, glasses in
      await model.startSession(on: glasses.deviceIdentifier)
      await model.startPreview()
      await eventually { model.state == .streaming && model.framesSeen > 10 }
      #expect(model.takePhoto())
      await eventually { model.photo != nil }
      #expect(model.problem == nil)
    }
  }

  @Test("folding the glasses ends the preview and says why", .timeLimit(.minutes(1)))
  func fold() async throws {
    try await withGlasses { model, glasses in
      await model.startSession(on: glasses.deviceIdentifier)
      await model.startPreview()
      await eventually { model.state == .streaming }
      glasses.fold()
      await eventually { model.state == .stopped }
      #expect(model.problem != nil)
    }
  }

  @Test("a denied camera is said before anything starts")
  func denied() async throws {
    try await withGlasses { model, glasses in
      MockDeviceKit.shared.permissions.set(.camera, .denied)
      await model.startSession(on: glasses.deviceIdentifier)
      await model.startPreview()
      #expect(model.problem != nil)
      #expect(model.state == .stopped)
    }
  }

  /// Returns once the condition holds: looks again whenever something that it read is about to change. The test's
  /// time limit ends it otherwise.
  private func eventually(_ condition: @MainActor () -> Bool) async {
    while !condition() {
      await withCheckedContinuation { continuation in
        withObservationTracking {
          _ = condition()
        } onChange: {
          continuation.resume()
        }
      }
    }
  }
}
