import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport

// What an app does.
extension World {
  /// The next thing on the way to a stream.
  func proceed(_ configuration: WalkConfiguration) {
    guard pick(0, \.glasses) != nil else { return pair() }
    guard let session = pick(0, \.sessions)?.session else { return createSession(0, automatic: false) }
    switch session.state {
    case .idle: return startSession(0)
    case .stopped:
      // Let go, so that what comes next is not what came before.
      releaseSession(0)
      return createSession(0, automatic: false)
    case .starting, .paused, .stopping: return
    case .started: break
    }
    guard let camera = pick(0, \.cameras)?.camera, camera.state == .started else {
      return addCamera(0, configuration)
    }
    if camera.stream.state == .stopped { camera.stream.start() }
  }

  /// With the stream where one runs, apart from it where none does.
  func photograph(_ format: PhotoCaptureFormat) {
    guard let entry = pick(0, \.cameras) else { return }
    if entry.camera.stream.state != .stopped { return capturePhoto(0, format) }
    if entry.watch.photoState == .started { takePhoto(0, .small, .low) } else { entry.camera.photo.start() }
  }

  func createSession(_ place: Int, automatic: Bool) {
    // What stands behind `Wearables` without the kit has threads and a clock of its own.
    guard MockKit.shared.isEnabled else { return }
    let selector: any DeviceSelector
    if automatic {
      // Chooses later, so what was made earlier is asked, and another is made for the next time.
      let new = AutoDeviceSelector(wearables: Wearables.shared)
      let present = pick(0, \.selectors)
      let old = add(new, \.selectors)
      withExtendedLifetime(old) {}
      selector = present ?? new
    } else {
      guard let glasses = pick(place, \.glasses) else { return }
      selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
    }
    guard let session = try? Wearables.shared.createSession(deviceSelector: selector) else { return }
    let name = "session \(number())"
    let watch = SessionWatch(session, name: name, judge)
    expectEnd(of: session, name)
    state.withLock { $0.sessionWatches.append(watch) }
    let old = add(SessionEntry(session: session, watch: watch), \.sessions)
    old?.watch.endWished()
  }

  func startSession(_ place: Int) {
    guard let entry = pick(place, \.sessions) else { return }
    do {
      try entry.session.start()
    } catch {
      switch error {
      case .noEligibleDevice, .sessionAlreadyStopped: break
      default: judge.report(["start() threw \(error)"])
      }
    }
  }

  func stopSession(_ place: Int) {
    guard let entry = pick(place, \.sessions) else { return }
    entry.watch.endWished()
    entry.session.stop()
  }

  func releaseSession(_ place: Int) {
    let entry = take(place, \.sessions)
    entry?.watch.endWished()
  }

  func addCamera(_ place: Int, _ configuration: WalkConfiguration) {
    guard let entry = pick(place, \.sessions) else { return }
    do {
      guard let camera = try entry.session.addCamera(config: configuration.configuration) else { return }
      let name = "\(number()) of \(entry.watch.description.prefix { $0 != "," })"
      let watch = CameraWatch(camera, of: entry.watch, name: name, judge)
      expectEnd(of: camera, "camera \(name)")
      expectEnd(of: camera.stream, "stream \(name)")
      expectEnd(of: camera.photo, "photo \(name)")
      state.withLock { $0.cameraWatches.append(watch) }
      let old = add(CameraEntry(camera: camera, watch: watch), \.cameras)
      withExtendedLifetime(old) {}
    } catch {
      if error != .capabilityAlreadyActive { judge.report(["addCamera threw \(error)"]) }
    }
  }

  func stopCamera(_ place: Int) {
    guard let entry = pick(place, \.cameras) else { return }
    entry.watch.cameraEndWished()
    entry.camera.stop()
  }

  func startStream(_ place: Int) { pick(place, \.cameras)?.camera.stream.start() }

  func stopStream(_ place: Int) {
    guard let entry = pick(place, \.cameras) else { return }
    entry.watch.streamEndWished()
    entry.camera.stream.stop()
  }

  func capturePhoto(_ place: Int, _ format: PhotoCaptureFormat) {
    guard let entry = pick(place, \.cameras) else { return }
    entry.watch.capture(format, of: entry.camera.stream)
  }

  func startPhoto(_ place: Int) { pick(place, \.cameras)?.camera.photo.start() }

  func stopPhoto(_ place: Int) {
    guard let entry = pick(place, \.cameras) else { return }
    entry.watch.photoEndWished()
    entry.camera.photo.stop()
  }

  func takePhoto(_ place: Int, _ resolution: PhotoResolution, _ quality: PhotoQuality) {
    guard let entry = pick(place, \.cameras) else { return }
    entry.watch.captured()
    entry.camera.photo.capturePhoto(resolution: resolution, quality: quality)
  }

  // MARK: Calls that are awaited

  func checkPermission(_ permission: Permission) {
    awaits.begin("checkPermissionStatus", within: .seconds(2)) {
      _ = try? await Wearables.shared.checkPermissionStatus(permission)
    }
  }

  func requestPermission(_ permission: Permission) {
    awaits.begin("requestPermission", within: .seconds(2)) {
      _ = try? await Wearables.shared.requestPermission(permission)
    }
  }

  func startRegistration() {
    awaits.begin("startRegistration", within: .seconds(2)) { try? await Wearables.shared.startRegistration() }
  }

  func startUnregistration() {
    awaits.begin("startUnregistration", within: .seconds(2)) { try? await Wearables.shared.startUnregistration() }
  }

  func handleURL() {
    guard let url = URL(string: "app://back?metaWearablesAction=register") else { return }
    awaits.begin("handleUrl", within: .seconds(2)) { _ = try? await Wearables.shared.handleUrl(url) }
  }

  func openUpdates() {
    awaits.begin("openFirmwareUpdate", within: .seconds(2)) { try? await Wearables.shared.openFirmwareUpdate() }
    awaits.begin("openDATGlassesAppUpdate", within: .seconds(2)) {
      try? await Wearables.shared.openDATGlassesAppUpdate()
    }
  }

  /// Everything that may be read at any time.
  func readEverything(_ place: Int) {
    if let camera = pick(place, \.cameras)?.camera {
      _ = camera.stream.statistics
      _ = camera.stream.negotiatedConfiguration
      _ = (camera.state, camera.stream.state)
      _ = (camera.stream.lastFailure, camera.stream.frameListeners, camera.stream.audioListeners)
      _ = (camera.stream.audioStatus, camera.stream.wallClockTime(of: CMTime(value: 1, timescale: 1)))
    }
    if let session = pick(place, \.sessions)?.session {
      _ = (session.state, session.device?.name, session.deviceId, session.lastFailure, session.pauseReason)
    }
    _ = (Wearables.shared.registrationState, pick(place, \.selectors)?.activeDevice)
    for identifier in Wearables.shared.devices {
      let device = Wearables.shared.deviceForIdentifier(identifier)
      _ = (device?.batteryLevel, device?.linkState, device?.compatibility(), device?.nameOrId())
    }
    _ = pick(place, \.recorders)?.statistics
    awaits.begin("readiness", within: .seconds(2)) { _ = await Wearables.readiness() }
  }

  // MARK: Recording

  func startRecorder(_ place: Int) {
    guard let stream = pick(place, \.cameras)?.camera.stream, let path = try? MediaFactory.newPath("mp4"),
      let recorder = try? Recorder(
        to: URL(fileURLWithPath: path), options: Recorder.Options(), timekeeper: judge.timekeeper)
    else { return }
    expectEnd(of: recorder, "recorder \(number())")
    do {
      try recorder.record(stream)
    } catch {
      if case .needsCompressedVideo = error {} else { judge.report(["record threw \(error)"]) }
    }
    let old = add(recorder, \.recorders)
    withExtendedLifetime(old) {}
  }

  func appendSound(_ place: Int) {
    guard let recorder = pick(place, \.recorders), let sound = Self.sound else { return }
    _ = try? recorder.append(sound, at: CMTime(value: judge.now.nanoseconds, timescale: 1_000_000_000))
  }

  func finishRecorder(_ place: Int) {
    guard let recorder = pick(place, \.recorders) else { return }
    awaits.begin("finish of a recorder", within: Recorder.Options().finishDeadline) {
      _ = try? await recorder.finish()
    }
  }
}
