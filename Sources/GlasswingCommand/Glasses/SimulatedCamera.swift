import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Units

/// Simulated glasses with a camera that an app has opened, by the way that any app takes: session, camera, stream.
struct SimulatedCamera: Sendable {
  let glasses: any MockGlasses
  let session: DeviceSession
  let camera: Camera

  var stream: MWDATCamera.Stream { camera.stream }

  /// Sees and encodes what the arguments say.
  ///
  /// - Parameter configuration: of the stream, which is not started.
  static func open(
    _ arguments: Arguments, _ configuration: StreamConfiguration
  ) async throws(CommandFailure) -> SimulatedCamera {
    let feed = arguments.givenText(.feed)
    if let feed { try check(feed: feed) }
    MockDeviceKit.shared.enable()
    do {
      let glasses = try MockDeviceKit.shared.pairGlasses(model: .rayBanMeta)
      if let feed { glasses.services.camera.setCameraFeed(fileURL: URL(filePath: feed)) }
      // The interface of simulated glasses has no bit rate; the agent behind them has.
      if let simulated = glasses as? SimulatedGlasses {
        simulated.agent.camera.setBitrate(arguments.bitrate(.bitrate))
      }
      glasses.powerOn()
      glasses.don()
      let selector = SpecificDeviceSelector(device: glasses.deviceIdentifier)
      let session = try Wearables.shared.createSession(deviceSelector: selector)
      let states = session.stateStream()
      try session.start()
      for await state in states where state == .started || state == .stopped { break }
      guard let camera = try session.addCamera(config: configuration) else {
        throw CommandFailure(subject: "simulated glasses", "the session ended before it began", next: "try again")
      }
      return SimulatedCamera(glasses: glasses, session: session, camera: camera)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(subject: "simulated glasses", error.localizedDescription, next: "try again")
    }
  }

  /// Ends the stream and awaits its last sound, so that a recorder which is completed then has it; two seconds at most,
  /// the bound of any stop.
  func stop(_ timekeeper: any Timekeeper) async {
    let stopped = ResumeOnce<Void>()
    let watch = StreamWatch(stream) { _ in stopped.resume(with: ()) }
    let lane = timekeeper.makeLane("stop")
    lane.run(at: timekeeper.now + .seconds(2)) { stopped.resume(with: ()) }
    stream.stop()
    if stream.state != .stopped { await stopped.value() }
    lane.end()
    watch.end()
  }

  /// Ends stream and session, and takes the simulation away.
  func close() async {
    session.stop()
    await MockDeviceKit.shared.disable()
  }

  /// What can be told of a feed without opening it. What is wrong inside it, the glasses will say.
  private static func check(feed: String) throws(CommandFailure) {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: feed, isDirectory: &isFolder) else {
      throw CommandFailure(subject: feed, "there is no such file", next: "name a video file after --feed")
    }
    guard !isFolder.boolValue else {
      throw CommandFailure(subject: feed, "is a folder", next: "name a video file after --feed")
    }
    guard FileManager.default.isReadableFile(atPath: feed) else {
      throw CommandFailure(subject: feed, "may not be read", next: "change its permissions, or name another file")
    }
  }
}

extension Arguments {
  /// What the options say of a stream.
  func configuration(_ codec: VideoCodec) -> StreamConfiguration {
    let resolution: StreamingResolution =
      switch text(.resolution) {
      case "low": .low
      case "high": .high
      case _: .medium
      }
    return StreamConfiguration(
      videoCodec: codec, audioCodec: audioCodec, resolution: resolution,
      frameRate: text(.fps).flatMap { UInt($0) } ?? 30)
  }

  /// Sound, for the commands that can leave it out and weren't asked to.
  private var audioCodec: AudioCodec? {
    guard OptionTable.spec(command).options.contains(.noAudio), !has(.noAudio) else { return nil }
    let rate = text(.audioRate).flatMap { UInt($0) }.flatMap { AudioSampleRate(rawValue: $0) } ?? .rate48000
    return .pcm(sampleRate: rate, numberOfChannels: text(.audioChannels).flatMap { UInt32($0) } ?? 2)
  }

  /// - Throws: for what is said of sound where none is wanted.
  func checkAudio() throws(CommandFailure) {
    guard has(.noAudio), let option = [Option.audioRate, .audioChannels].first(where: { givenText($0) != nil }) else {
      return
    }
    throw CommandFailure(
      subject: command.rawValue, "--\(option.rawValue) is of sound, and --no-audio wants none",
      next: "leave one of them out")
  }

  /// Real glasses need a companion, which this version doesn't have.
  func checkSimulated() throws(CommandFailure) {
    guard has(.simulate) else {
      throw CommandFailure(
        subject: command.rawValue, "no glasses can be reached: this version has simulated ones only",
        next: "add --simulate")
    }
  }
}
