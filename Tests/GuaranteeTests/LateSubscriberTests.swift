import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing
import Units

/// What somebody hears who begins to listen late.
@Suite(.exclusive(.mockKit))
struct LateSubscriberTests {
  @Test("LIFE-6: a late listener for registration, devices or a device's state hears the current value at once")
  func replaying() async throws {
    try await withGlassesByHand { glasses, clock in
      clock.advance(by: .seconds(60))
      let wearables = Wearables.shared
      let registration = Observed<RegistrationState>()
      let devices = Observed<[DeviceIdentifier]>()
      let states = Observed<DeviceState>()
      let device = try #require(wearables.deviceForIdentifier(glasses.deviceIdentifier))
      let tokens = ListenerTokenBag()
      wearables.addRegistrationStateListener { registration.record($0) }.store(in: tokens)
      wearables.addDevicesListener { devices.record($0) }.store(in: tokens)
      device.addDeviceStateListener { states.record($0) }.store(in: tokens)
      clock.settle()
      #expect(registration.values == [.registered])
      #expect(devices.values == [[glasses.deviceIdentifier]])
      #expect(states.values.count == 1)
      #expect(states.values.first?.linkState == .connected)
      #expect(states.values.first?.donState == .donned)

      // What comes next is heard once, after it.
      glasses.setBatteryLevel(41)
      clock.settle()
      #expect(states.values.map(\.batteryLevel).last == 41)
      #expect(states.values.count == 2)
      let again = Observed<DeviceState>()
      device.addDeviceStateListener { again.record($0) }.store(in: tokens)
      clock.settle()
      #expect(again.values.map(\.batteryLevel) == [41])
      #expect(states.values.count == 2)
      await tokens.cancelAll()
    }
  }

  @Test("LIFE-6: a late reader of an asynchronous sequence gets the current value first")
  func sequences() async throws {
    try await withGlassesByHand { glasses, clock in
      let wearables = Wearables.shared
      let selector = AutoDeviceSelector(wearables: wearables)
      let session = try startedSession(with: glasses, clock)
      clock.advance(by: .seconds(10))
      let registration = wearables.registrationStateStream()
      let devices = wearables.devicesStream()
      let states = session.stateStream()
      let active = selector.activeDeviceStream()
      // They come over the publishers' lanes, which run when the clock is moved.
      clock.settle()
      for await state in registration {
        #expect(state == .registered)
        break
      }
      for await list in devices {
        #expect(list == [glasses.deviceIdentifier])
        break
      }
      for await identifier in active {
        #expect(identifier == glasses.deviceIdentifier)
        break
      }
      let errors = session.errorStream()
      session.stop()
      clock.advance(by: .seconds(3))
      var seen: [DeviceSessionState] = []
      for await state in states { seen.append(state) }
      #expect(seen == [.started, .stopping, .stopped])
      // Nothing of the past, and an end.
      for await error in errors { Issue.record("\(error)") }
      for await state in session.stateStream() { Issue.record("\(state) after the end") }
      for await error in session.errorStream() { Issue.record("\(error) after the end") }
    }
  }

  @Test("LIFE-6: announcers, and a device's link and compatibility listeners, tell what is new and replay nothing")
  func announcing() async throws {
    try await withGlassesByHand { glasses, clock in
      let session = try startedSession(with: glasses, clock)
      let camera = try #require(try session.addCamera())
      camera.stream.start()
      for _ in 0..<10_000 where camera.stream.state != .streaming {
        clock.advance(by: .microseconds(100))
        await Task.yield()
      }
      #expect(camera.stream.capturePhoto(format: .jpeg))
      clock.advance(by: .seconds(5))
      let device = try #require(session.device)

      let heard = Observed<String>()
      let tokens = ListenerTokenBag()
      session.statePublisher.listen { heard.record("session \($0)") }.store(in: tokens)
      session.errorPublisher.listen { heard.record("session error \($0)") }.store(in: tokens)
      camera.statePublisher.listen { heard.record("camera \($0)") }.store(in: tokens)
      camera.stream.statePublisher.listen { heard.record("stream \($0)") }.store(in: tokens)
      camera.stream.errorPublisher.listen { heard.record("stream error \($0)") }.store(in: tokens)
      camera.stream.photoDataPublisher.listen { _ in heard.record("photo") }.store(in: tokens)
      camera.photo.statePublisher.listen { heard.record("photo \($0)") }.store(in: tokens)
      camera.photo.photoDataPublisher.listen { _ in heard.record("standalone photo") }.store(in: tokens)
      device.addLinkStateListener { heard.record("link \($0)") }.store(in: tokens)
      device.addCompatibilityListener { heard.record("compatibility \($0)") }.store(in: tokens)
      clock.settle()
      #expect(heard.values == [])

      camera.stream.stop()
      clock.advance(by: .seconds(1))
      #expect(heard.values == ["stream stopping", "stream stopped"])
      session.stop()
      clock.advance(by: .seconds(3))
      glasses.powerOff()
      clock.advance(by: .seconds(1))
      #expect(
        Set(heard.values.dropFirst(2)) == [
          "session stopping", "session stopped", "camera stopping", "camera stopped", "link disconnected",
          "compatibility undefined",
        ])
      await tokens.cancelAll()
    }
  }

  @Test("LIFE-6: registration, devices and their state are known though nobody ever listened, and never lag behind")
  func hot() async throws {
    try await withGlassesByHand { glasses, clock in
      // Nobody has listened, and no lane has run since.
      let wearables = Wearables.shared
      #expect(wearables.registrationState == .registered)
      #expect(wearables.devices == [glasses.deviceIdentifier])
      let device = try #require(wearables.deviceForIdentifier(glasses.deviceIdentifier))
      #expect(device.linkState == .connected)
      glasses.setBatteryLevel(17)
      #expect(device.batteryLevel == 17)
      glasses.powerOff()
      #expect(device.linkState == .disconnected)
      #expect(wearables.devices == [glasses.deviceIdentifier])
      glasses.powerOn()
      #expect(device.linkState == .connected)
      let second = try MockKit.shared.pairGlasses(model: .rayBanMeta, deviceClock: .identity)
      second.powerOn()
      second.unfold()
      #expect(wearables.devices == [glasses.deviceIdentifier, second.deviceIdentifier])
      unpair(second)
      #expect(wearables.devices == [glasses.deviceIdentifier])
      clock.settle()
      #expect(wearables.devices == [glasses.deviceIdentifier])
    }
  }

  /// Without waiting for the links to end, which they do when the clock moves.
  private func unpair(_ glasses: any MockGlasses) { MockDeviceKit.shared.unpairDevice(glasses) }
}
