import Foundation
import MWDATCamera
import MWDATCore
import MWDATMockDevice

extension OpenCamera {
  /// Simulated glasses that see and encode what the arguments say.
  static func openSimulated(
    _ arguments: Arguments, _ configuration: StreamConfiguration
  ) async throws(CommandFailure) -> OpenCamera {
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
      guard let camera = try await begin(session, configuration) else {
        throw CommandFailure(subject: "simulated glasses", "the session ended before it began", next: "try again")
      }
      return OpenCamera(session: session, camera: camera, simulated: glasses)
    } catch let failure as CommandFailure {
      throw failure
    } catch {
      throw CommandFailure(subject: "simulated glasses", error.localizedDescription, next: "try again")
    }
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
