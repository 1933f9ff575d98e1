import Foundation
import GlasswingTesting
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Units

// What a wearer does to glasses, and a test to the kit.
extension World {
  func pair() {
    guard let glasses = try? MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: .identity) else { return }
    expectEnd(of: glasses, "glasses \(glasses.deviceIdentifier)")
    expectEnd(of: glasses.agent, "agent of \(glasses.deviceIdentifier)")
    state.withLock { $0.allGlasses.append(Reference(glasses)) }
    let old = state.withLock { state in
      state.glasses.insert(glasses, at: 0)
      return state.glasses.count > 2 ? state.glasses.removeLast() : nil
    }
    if let old { MockKit.shared.unpairDevice(old) }
  }

  /// On a face, awake, cool and charged, with everything allowed.
  func recover() {
    MockKit.shared.permissions.set(.camera, .granted)
    MockKit.shared.permissions.set(.microphone, .granted)
    guard let glasses = pick(0, \.glasses) else { return }
    glasses.setThermalLevel(.none)
    glasses.setBatteryLevel(100)
    glasses.services.microphone.useCameraFeed()
    glasses.powerOn()
    glasses.don()
    if Wearables.shared.registrationState != .registered { startRegistration() }
  }

  func hardware(_ place: Int, _ action: WalkHardware) {
    guard let glasses = pick(place, \.glasses) else { return }
    switch action {
    case .powerOn: glasses.powerOn()
    case .powerOff: glasses.powerOff()
    case .don: glasses.don()
    case .doff: glasses.doff()
    case .fold: glasses.fold()
    case .unfold: glasses.unfold()
    case .tap: glasses.services.captouch.tap()
    case .tapAndHold: glasses.services.captouch.tapAndHold()
    case .battery(let level): glasses.setBatteryLevel(level)
    case .charging(let state): glasses.setChargingState(state)
    case .thermal(let level): glasses.setThermalLevel(level)
    }
  }

  func feed(_ place: Int, _ feed: WalkFeed) {
    guard let camera = pick(place, \.glasses)?.services.camera else { return }
    switch feed {
    case .pattern: camera.setCameraFeed(cameraFacing: .back)
    case .clip: camera.setCameraFeed(fileURL: media.clip)
    case .unplayable: camera.setCameraFeed(fileURL: media.unplayable)
    case .missing: camera.setCameraFeed(fileURL: URL(fileURLWithPath: "/nowhere/feed.mp4"))
    case .validate:
      awaits.begin("setCameraFeed(validating:)", within: .seconds(1)) { [media] in
        try? await camera.setCameraFeed(validating: media.unplayable)
      }
    }
  }

  func microphone(_ place: Int, _ change: WalkMicrophone) {
    guard let microphone = pick(place, \.glasses)?.services.microphone else { return }
    switch change {
    case .feed: microphone.useCameraFeed()
    case .tone: microphone.setTone(frequency: 440)
    case .silence: microphone.setSilence()
    case .file: microphone.setAudioFeed(fileURL: media.sound)
    case .missing: microphone.setAudioFeed(fileURL: URL(fileURLWithPath: "/nowhere.wav"))
    case .mute: microphone.setMuted(true)
    case .unmute: microphone.setMuted(false)
    case .fail: microphone.fail()
    case .inject:
      guard let buffer = Self.sound else { return }
      // Ahead, at hand, and too late.
      for offset: Duration in [.milliseconds(300), .zero, .seconds(-1)] {
        let instant: Instant = judge.now + offset
        let time = CMTime(value: instant.nanoseconds, timescale: 1_000_000_000)
        try? microphone.inject(buffer, at: time)
      }
    case .validate:
      awaits.begin("setAudioFeed(validating:)", within: .seconds(1)) { [media] in
        try? await microphone.setAudioFeed(validating: media.unplayable)
      }
    }
  }

  /// 20 ms of sound.
  static var sound: AVAudioPCMBuffer? {
    guard let format = AVAudioFormat(standardFormatWithSampleRate: 16_000, channels: 1),
      let buffer = AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 320)
    else { return nil }
    buffer.frameLength = 320
    return buffer
  }

  func image(_ place: Int, isReadable: Bool) {
    guard let services = pick(place, \.glasses)?.services else { return }
    services.camera.setCapturedImage(fileURL: isReadable ? media.picture : media.unplayable)
    if isReadable { services.cameraCapture.setCapturedPhoto(fileURL: media.picture) }
  }

  func unpair(_ place: Int, waits: Bool) {
    guard let glasses = take(place, \.glasses) else { return }
    guard waits else { return MockKit.shared.unpairDevice(glasses) }
    awaits.begin("unpairDevice", within: .seconds(2)) { await MockKit.shared.unpairDevice(glasses) }
  }

  func disable(waits: Bool) {
    letGoOfGlasses()
    guard waits else { return MockKit.shared.disable() }
    awaits.begin("disable", within: .seconds(2)) { await MockKit.shared.disable() }
  }
}
