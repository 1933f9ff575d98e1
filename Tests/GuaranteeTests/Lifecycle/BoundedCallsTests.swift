import Foundation
import Glasswing
import GlasswingTesting
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// Whatever the peer does, a call ends.
@Suite(.exclusive(.mockKit))
struct BoundedCallsTests {
  /// A call of the public interface, followed to what its documentation says it ends in.
  struct Call: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bound: Duration
    let run: @Sendable (Scene) async -> Void

    init(_ name: String, within bound: Duration, _ run: @escaping @Sendable (Scene) async -> Void) {
      testDescription = name
      self.bound = bound
      self.run = run
    }
  }

  @Test(
    "LIFE-1: every call comes to its end in bounded time, whatever the glasses do",
    arguments: Peer.allCases)
  func everyCall(peer: Peer) async throws {
    for call in Self.calls {
      try await Scene.run { scene in
        peer.become(scene.glasses)
        let isEnded = await scene.ends(within: call.bound) { await call.run(scene) }
        #expect(isEnded, "\(call.testDescription) has not ended within \(call.bound) of a peer that is \(peer)")
      }
    }
  }

  @Test(
    "LIFE-1: every call comes to its end where the glasses have been so for a second",
    arguments: Peer.allCases)
  func everyCallLater(peer: Peer) async throws {
    for call in Self.calls {
      try await Scene.run { scene in
        peer.become(scene.glasses)
        scene.clock.advance(by: .seconds(1))
        let isEnded = await scene.ends(within: call.bound) { await call.run(scene) }
        #expect(isEnded, "\(call.testDescription) has not ended within \(call.bound) of a peer that is \(peer)")
      }
    }
  }

  private static let calls = endings + starts + questions + kit

  private static let endings: [Call] = [
    Call("stop of a session, to the end of its states", within: .seconds(2)) { scene in
      let states = scene.session.stateStream()
      scene.session.stop()
      for await _ in states {}
    },
    Call("stop of a session, to the end of its errors", within: .seconds(2)) { scene in
      let errors = scene.session.errorStream()
      scene.session.stop()
      for await _ in errors {}
    },
    Call("stop of a stream, to stopped", within: .seconds(2)) { scene in
      scene.stream.stream.stop()
      await scene.stream.reaches(.stopped)
    },
    Call("stop of a camera", within: .zero) { scene in scene.camera.stop() },
    Call("stop of a camera, to its stream's stopped", within: .seconds(2)) { scene in
      scene.camera.stop()
      await scene.stream.reaches(.stopped)
    },
    Call("cancel of a token", within: .zero) { scene in
      await scene.camera.stream.videoFramePublisher.listen { _ in }.cancel()
    },
    Call("cancelAll of a bag", within: .zero) { scene in
      let bag = ListenerTokenBag()
      scene.session.statePublisher.listen { _ in }.store(in: bag)
      scene.camera.photo.statePublisher.listen { _ in }.store(in: bag)
      await bag.cancelAll()
    },
    Call("finish of a recorder", within: .seconds(10)) { scene in _ = try? await scene.recorder.finish() },
  ]

  private static let starts: [Call] = [
    Call("start of a stream, to streaming or stopped", within: .seconds(45)) { scene in
      scene.stream.stream.stop()
      await scene.stream.reaches(.stopped)
      scene.stream.stream.start()
      await scene.stream.reaches(.streaming, orStopsAgain: true)
    },
    Call("capturePhoto of a stream, to its result", within: .seconds(12)) { scene in
      let results = Observed<Bool>()
      let tokens = [
        scene.stream.stream.photoDataPublisher.listen { _ in results.record(true) },
        scene.stream.stream.errorPublisher.listen { if $0 == .photoCaptureFailed { results.record(false) } },
      ]
      if scene.stream.stream.capturePhoto(format: .jpeg) { _ = try? await results.first("the photo's result") }
      withExtendedLifetime(tokens) {}
    },
    Call("start of photos, to started or stopped", within: .seconds(30)) { scene in
      let states = Observed<PhotoState>()
      let errors = Observed<Int>()
      let tokens = [
        scene.camera.photo.statePublisher.listen { states.record($0) },
        scene.camera.photo.errorPublisher.listen { _ in errors.record(0) },
      ]
      scene.camera.photo.start()
      // A photo of a camera that is gone answers by an error alone.
      if scene.camera.state == .started {
        try? await states.wait { $0.last == .started || $0.last == .stopped }
      } else {
        try? await errors.wait { !$0.isEmpty }
      }
      withExtendedLifetime(tokens) {}
    },
    Call("start of a session, to started or stopped", within: .seconds(14)) { scene in
      scene.session.stop()
      for await _ in scene.session.stateStream() {}
      let selector = SpecificDeviceSelector(device: scene.glasses.deviceIdentifier)
      guard let next = try? Wearables.shared.createSession(deviceSelector: selector) else { return }
      let states = next.stateStream()
      do { try next.start() } catch { return }
      for await state in states where state == .started { return }
    },
  ]

  private static let questions: [Call] = [
    Call("checkPermissionStatus", within: .seconds(2)) { _ in
      _ = try? await Wearables.shared.checkPermissionStatus(.camera)
    },
    Call("requestPermission", within: .seconds(2)) { _ in
      _ = try? await Wearables.shared.requestPermission(.microphone)
    },
    Call("startRegistration", within: .seconds(2)) { _ in try? await Wearables.shared.startRegistration() },
    Call("startUnregistration", within: .seconds(2)) { _ in try? await Wearables.shared.startUnregistration() },
    Call("handleUrl", within: .seconds(2)) { _ in
      guard let url = URL(string: "app://x?metaWearablesAction=register") else { return }
      _ = try? await Wearables.shared.handleUrl(url)
      _ = try? await Wearables.shared.handleUrl(url) { _ in }
    },
    Call("openFirmwareUpdate, openDATGlassesAppUpdate", within: .seconds(2)) { _ in
      try? await Wearables.shared.openFirmwareUpdate()
      try? await Wearables.shared.openDATGlassesAppUpdate()
    },
    Call("readiness", within: .seconds(2)) { scene in
      _ = await Wearables.readiness(for: scene.glasses.deviceIdentifier)
    },
    Call("activeDeviceStream of one device, to its end", within: .zero) { scene in
      for await _ in SpecificDeviceSelector(device: scene.glasses.deviceIdentifier).activeDeviceStream() {}
    },
  ]

  private static let kit: [Call] = [
    Call("disable", within: .seconds(2)) { _ in await MockDeviceKit.shared.disable() },
    Call("unpairDevice", within: .seconds(2)) { scene in await MockDeviceKit.shared.unpairDevice(scene.glasses) },
    Call("unpairDevice, twice at once", within: .seconds(2)) { scene in
      async let first: Void = MockDeviceKit.shared.unpairDevice(scene.glasses)
      async let second: Void = MockDeviceKit.shared.unpairDevice(scene.glasses)
      _ = await (first, second)
    },
    Call("startTestServer, stopTestServer", within: .seconds(2)) { _ in
      _ = try? await MockDeviceKit.shared.startTestServer()
      await MockDeviceKit.shared.stopTestServer()
    },
  ]

  @Test("LIFE-1: a task that is cancelled gets out of every endless sequence at once")
  func cancellation() async throws {
    try await Scene.run { scene in
      let automatic = AutoDeviceSelector(wearables: Wearables.shared)
      let readers: [(String, @Sendable () async -> Void)] = [
        ("registrationStateStream", { for await _ in Wearables.shared.registrationStateStream() {} }),
        ("devicesStream", { for await _ in Wearables.shared.devicesStream() {} }),
        ("stateStream", { for await _ in scene.session.stateStream() {} }),
        ("errorStream", { for await _ in scene.session.errorStream() {} }),
        ("activeDeviceStream", { for await _ in automatic.activeDeviceStream() {} }),
      ]
      for (name, read) in readers {
        let ended = Observed<Bool>()
        let task = Task.immediate {
          await read()
          ended.record(true)
        }
        scene.clock.settle()
        #expect(ended.values.isEmpty)
        task.cancel()
        let isOver = (try? await ended.first("the end", within: .seconds(5))) != nil
        #expect(isOver, "\(name) holds its reader")
      }
    }
  }

  @Test("LIFE-1: a feed that can't be opened, or that never gives anything, is refused in bounded time")
  func validatedFeeds() async throws {
    try await withGlasses { glasses in
      let pipe = try MediaFactory.newPath("mp4")
      try CommandLineTool.run("mkfifo", [pipe])
      for path in [pipe, "/dev/zero", "/nowhere.mp4", "/"] {
        let refused = Observed<Bool>()
        let task = Task {
          do {
            try await glasses.services.camera.setCameraFeed(validating: URL(fileURLWithPath: path))
            refused.record(false)
          } catch {
            refused.record(true)
          }
        }
        #expect(try await refused.first("an answer for \(path)", within: .seconds(2)))
        task.cancel()
      }
    }
  }
}

extension WatchedStream {
  /// Returns when the state has been announced last, or never.
  fileprivate func reaches(_ state: StreamState, orStopsAgain: Bool = false) async {
    let before = states.count { $0 == .stopped }
    if stream.state == state { return }
    try? await events.wait("\(state)") { events in
      events.last == .state(state) || orStopsAgain && events.count { $0 == .state(.stopped) } > before
        // Starting what is over is answered by an error alone.
        || orStopsAgain && events.last == .error(.internalError)
    }
  }
}
