import LinkProtocol
import Units

/// Takes photos on a lane of its own.
final class Photographer: Sendable {
  enum Outcome: Sendable {
    case taken(PhotoFacts, [UInt8])
    case failed(LinkErrorCode, String)
  }

  init(timekeeper: any Timekeeper, deviceClock: DeviceClock) {}

  func take(
    _ key: PhotoKey, _ request: PhotoRequest, of shot: Shot, running: VideoOutlet?,
    done: @escaping @Sendable (Outcome) -> Void
  ) {
    done(.failed(.photoFailed, "no photographer yet"))
  }

  func drop(_ key: PhotoKey) {}
  func end() {}
}
