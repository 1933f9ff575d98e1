import LinkProtocol
import Synchronization
import Units

/// What has stopped coming in a stall.
struct MissingMedia: OptionSet, Sendable {
  let rawValue: UInt8
  static let pictures = MissingMedia(rawValue: 1 << 0)
  static let sound = MissingMedia(rawValue: 1 << 1)

  /// The one that counts.
  var medium: StreamMachine.Medium { contains(.pictures) || isEmpty ? .pictures : .sound }
}

/// What a stream hears of its sound.
protocol AudioOwner: AnyObject, Sendable {
  /// Sound has come while it was missing. On the link lane.
  func missingAudioCame()
}

/// When sound came last. Fifty times a second, so that it takes no lock that pictures need.
final class AudioArrivals: Sendable {
  private struct Owner { weak var object: (any AudioOwner)? }

  private let lastNanoseconds = Atomic<Int64>(Instant.distantPast.nanoseconds)
  private let missing = Atomic<Bool>(false)
  private let owner = Mutex(Owner())

  func serve(_ object: any AudioOwner) { owner.withLock { $0.object = object } }

  var last: Instant { Instant(nanoseconds: lastNanoseconds.load(ordering: .relaxed)) }

  /// Whether the next arrival is to be told.
  var isMissing: Bool {
    get { missing.load(ordering: .relaxed) }
    set { missing.store(newValue, ordering: .relaxed) }
  }

  /// On the link lane.
  func came(at now: Instant) {
    lastNanoseconds.store(now.nanoseconds, ordering: .relaxed)
    if isMissing { owner.withLock { $0.object }?.missingAudioCame() }
  }
}
