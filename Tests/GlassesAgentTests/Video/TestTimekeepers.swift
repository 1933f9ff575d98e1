import LinkProtocol
import PortableMedia
import Synchronization
import Units

@testable import GlassesAgent

/// Each of the first pictures, 40 ms apart, takes 100 ms to decode. (Of the first only: while each takes longer than the
/// next is away, something is always due, and a clock moved by hand would never arrive.)
final class SlowSource: VideoSource {
  private let inner = SteppedSource(frameRate: 25)
  private let extra: SlowedTimekeeper.Extra
  private let given = Mutex<Duration>(.zero)
  let frameRate = 25.0
  var nativeSize: PixelSize { inner.nativeSize }

  init(_ extra: SlowedTimekeeper.Extra) { self.extra = extra }

  func nextPictureTime(from elapsed: Duration) throws(SourceError) -> Duration {
    max(given.withLock { $0 } + .milliseconds(40), inner.evenTime(from: elapsed))
  }

  func picture(at elapsed: Duration) throws(SourceError) -> SourcePicture {
    let time = given.withLock { given in
      if given < .seconds(2) { extra.add(.milliseconds(100)) }
      if elapsed >= given + .milliseconds(40) { given += .milliseconds(40) }
      return given
    }
    var picture = try inner.picture(at: time)
    picture.time = time
    return picture
  }

  func still() throws(SourceError) -> CVPixelBuffer { try inner.still() }
}

/// A clock that runs on by itself while a source works.
final class SlowedTimekeeper: Timekeeper {
  final class Extra: Sendable {
    private let total = Mutex<Duration>(.zero)
    var value: Duration { total.withLock { $0 } }
    func add(_ duration: Duration) { total.withLock { $0 += duration } }
  }

  private final class SlowedLane: Lane {
    let inner: any Lane
    let extra: Extra
    var name: String { inner.name }

    init(_ inner: any Lane, extra: Extra) {
      self.inner = inner
      self.extra = extra
    }

    func run(_ work: @escaping @Sendable () -> Void) { inner.run(work) }
    func run(at deadline: Instant, _ work: @escaping @Sendable () -> Void) -> LaneTimer {
      inner.run(at: deadline - extra.value, work)
    }
    func end() { inner.end() }
  }

  private let inner: ManualTimekeeper
  private let extra: Extra

  init(_ inner: ManualTimekeeper, extra: Extra) {
    self.inner = inner
    self.extra = extra
  }

  var now: Instant { inner.now + extra.value }
  var wallClockSeconds: Double { inner.wallClockSeconds }
  func makeLane(_ name: String) -> any Lane { SlowedLane(inner.makeLane(name), extra: extra) }
}

/// Makes lanes of which some run nothing until they are opened, like an encoder that is busy.
final class GatedTimekeeper: Timekeeper {
  final class Gates: Sendable {
    private let held = Mutex<[@Sendable () -> Void]?>([])

    func open() {
      let all = held.withLock { held in
        defer { held = nil }
        return held ?? []
      }
      for work in all { work() }
    }

    fileprivate func pass(_ work: @escaping @Sendable () -> Void) {
      let isOpen = held.withLock { held in
        held?.append(work)
        return held == nil
      }
      if isOpen { work() }
    }
  }

  private final class GatedLane: Lane {
    let inner: any Lane
    let gates: Gates
    var name: String { inner.name }

    init(_ inner: any Lane, gates: Gates) {
      self.inner = inner
      self.gates = gates
    }

    func run(_ work: @escaping @Sendable () -> Void) { gates.pass { [inner] in inner.run(work) } }
    func run(at deadline: Instant, _ work: @escaping @Sendable () -> Void) -> LaneTimer {
      inner.run(at: deadline, work)
    }
    func end() { inner.end() }
  }

  private let inner: ManualTimekeeper
  private let gates: Gates
  private let closed: String

  init(_ inner: ManualTimekeeper, gates: Gates, closing closed: String) {
    self.inner = inner
    self.gates = gates
    self.closed = closed
  }

  var now: Instant { inner.now }
  var wallClockSeconds: Double { inner.wallClockSeconds }
  func makeLane(_ name: String) -> any Lane {
    name == closed ? GatedLane(inner.makeLane(name), gates: gates) : inner.makeLane(name)
  }
}
