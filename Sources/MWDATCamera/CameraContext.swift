import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization

/// What a camera and its children share: the session they work in, as seen from below.
struct CameraContext: Sendable {
  let device: DeviceIdentifier
  let session: SessionID
  let link: LinkConnection
  let environment: any WearablesEnvironment

  var timekeeper: any Timekeeper { environment.timekeeper }
}

/// Numbers of streams and photos. One count for the whole process, so that no number comes again on any link, however
/// many cameras come and go on it.
enum LinkNumbers {
  private static let last = Atomic<UInt32>(0)

  static func nextStream() -> StreamID { StreamID(next()) }
  static func nextPhoto() -> PhotoID { PhotoID(next()) }

  /// Never 0, which the protocol keeps free.
  private static func next() -> UInt32 {
    let value = last.wrappingAdd(1, ordering: .relaxed).newValue
    return value == 0 ? next() : value
  }
}
