import Foundation
import GlassesAgent
import LinkProtocol
import LinkTransport
import MWDATCore

/// Glasses of the kit: the agent that boards run, here in this process, behind the interface of simulated glasses.
package final class SimulatedGlasses: MockGlasses {
  package let deviceIdentifier: DeviceIdentifier
  package let services: any MockGlassesServices
  /// What runs behind them.
  package let agent: GlassesAgent
  /// The faults of the links to them; every link runs through it.
  package let link: LinkConditioner
  let uuid: UUID
  let model: GlassesModel

  init(agent: GlassesAgent, link: LinkConditioner, uuid: UUID, model: GlassesModel) {
    self.agent = agent
    self.link = link
    self.uuid = uuid
    self.model = model
    deviceIdentifier = agent.identity.identifier
    services = SimulatedServices(agent: agent)
  }

  package func powerOn() { agent.hardware.powerOn() }
  package func powerOff() { agent.hardware.powerOff() }
  package func don() { agent.hardware.don() }
  package func doff() { agent.hardware.doff() }
  package func fold() { agent.hardware.fold() }
  package func unfold() { agent.hardware.unfold() }
  package func setBatteryLevel(_ level: Int?) { agent.hardware.setBatteryLevel(level) }
  package func setChargingState(_ state: ChargingState) { agent.hardware.setCharging(state.reported) }
  package func setThermalLevel(_ level: ThermalLevel) { agent.hardware.setThermal(level.reported) }

  /// Not by the identifier alone: a kit that was enabled anew with the same seed gives the same ones again.
  func isSame(as device: any MockDevice) -> Bool {
    if let glasses = device as? SimulatedGlasses { return glasses === self }
    return device.deviceIdentifier == deviceIdentifier
  }

  /// As apps see them now.
  var description: DeviceDescription {
    let hardware = agent.hardware.current
    let state = DeviceState(
      linkState: hardware.isReachable ? .connected : .disconnected,
      // Glasses that nobody can ask are of unknown compatibility.
      compatibility: hardware.isReachable ? .compatible : .undefined, batteryLevel: hardware.batteryLevel,
      chargingState: ChargingState(hardware.charging), donState: DonState(hardware.wear),
      hingeState: HingeState(hardware.hinge), thermalLevel: ThermalLevel(hardware.thermal))
    return DeviceDescription(
      identifier: deviceIdentifier, uuid: uuid, name: agent.identity.name, type: model.deviceType, state: state)
  }
}

package struct SimulatedServices: MockGlassesServices {
  package let camera: any MockCameraKit
  package let cameraCapture: any MockCameraCaptureKit
  package let captouch: any MockCaptouchKit
  /// For what the interface has no service for.
  package let microphone: GlassesMicrophone

  init(agent: GlassesAgent) {
    microphone = agent.microphone
    camera = SimulatedCamera(camera: agent.camera)
    cameraCapture = SimulatedCapture(camera: agent.camera)
    captouch = SimulatedTouchpad(agent: agent)
  }
}

private struct SimulatedCamera: MockCameraKit {
  let camera: GlassesCamera

  func setCameraFeed(fileURL: URL) { camera.setFeed(.file(path: fileURL.feedPath)) }

  // No camera of the host is opened: a test would depend on the machine it runs on.
  func setCameraFeed(cameraFacing: CameraFacing) { camera.setFeed(.pattern) }

  func setCapturedImage(fileURL: URL) { camera.setImage(path: fileURL.feedPath) }
}

private struct SimulatedCapture: MockCameraCaptureKit {
  let camera: GlassesCamera

  func setCapturedPhoto(fileURL: URL) { camera.setCapturedPhoto(path: fileURL.feedPath) }
  func simulateCaptureFailure() { camera.failNextCapture() }
}

private struct SimulatedTouchpad: MockCaptouchKit {
  let agent: GlassesAgent

  func tap() {
    warnWithoutSession("tap")
    agent.hardware.tap()
  }

  func tapAndHold() {
    warnWithoutSession("tapAndHold")
    agent.hardware.tapAndHold()
  }

  private func warnWithoutSession(_ touch: String) {
    guard agent.sessionCount == 0 else { return }
    Log.warning("\(touch) on \(agent.identity.name): there is no session, so nothing happens")
  }
}

extension URL {
  /// What names a local file to the agent; for any other URL the whole text, which then shows in the error.
  package var feedPath: String { isFileURL ? path : absoluteString }
}
