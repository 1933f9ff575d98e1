import Foundation
import Glasswing
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Units

/// Glasses with a camera that an app has opened, by the way that any app takes: session, camera, stream.
struct OpenCamera: Sendable {
  let session: DeviceSession
  let camera: Camera
  /// The glasses of a simulation; nil of real ones.
  var simulated: (any MockGlasses)?

  var stream: MWDATCamera.Stream { camera.stream }

  /// Of simulated glasses where the arguments say so, or the command knows no others; else of paired ones.
  ///
  /// - Parameter configuration: of the stream, which is not started.
  static func open(
    _ arguments: Arguments, _ configuration: StreamConfiguration
  ) async throws(CommandFailure) -> OpenCamera {
    arguments.isSimulated
      ? try await openSimulated(arguments, configuration) : try await openPaired(arguments, configuration)
  }

  /// Starts the session and adds the camera; nil when the session ends before.
  static func begin(_ session: DeviceSession, _ configuration: StreamConfiguration) async throws -> Camera? {
    let states = session.stateStream()
    try session.start()
    for await state in states where state == .started || state == .stopped { break }
    return session.state == .started ? try session.addCamera(config: configuration) : nil
  }

  /// Ends the stream and awaits its last sound, so that a recorder which is completed then has it; two seconds at most,
  /// the bound of any stop.
  func stop(_ timekeeper: any Timekeeper) async {
    let stopped = ResumeOnce<Void>()
    let watch = StreamWatch(stream) { _ in stopped.resume(with: ()) }
    stream.stop()
    if stream.state != .stopped { await stopped.value(within: .seconds(2), on: timekeeper, else: ()) }
    watch.end()
  }

  /// Ends stream and session, and takes the simulation away.
  func close() async {
    session.stop()
    guard simulated == nil else { return await MockDeviceKit.shared.disable() }
    // What tells the glasses has a second; then the process may end.
    for await state in session.stateStream() where state == .stopped { break }
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

  /// Without glasses of its own a command uses paired ones.
  var isSimulated: Bool { !OptionTable.spec(command).options.contains(.simulate) || has(.simulate) }

  /// - Throws: for what is said of simulated glasses where there are none, and the other way round.
  func checkGlasses() throws(CommandFailure) {
    if isSimulated, has(.device) {
      throw CommandFailure(
        subject: command.rawValue, "--device names paired glasses, and --simulate wants none",
        next: "leave one of them out")
    }
    guard !isSimulated, let option = [Option.feed, .bitrate].first(where: has) else { return }
    throw CommandFailure(
      subject: command.rawValue, "--\(option.rawValue) is for simulated glasses",
      next: "add --simulate, or leave it out")
  }
}
