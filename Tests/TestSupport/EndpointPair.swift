import LinkProtocol
import Units

/// Two endpoints joined by a scripted pipe, with the time moved by hand: a minute of link in a few milliseconds, the
/// same each time.
package struct EndpointPair {
  package enum Side: Hashable, Sendable { case app, glasses }

  package var app: LinkEndpoint
  package var glasses: LinkEndpoint
  package private(set) var now = Instant(nanoseconds: 1_000_000_000)

  /// How long bytes travel, by the side that sends them.
  package var latency: [Side: Duration] = [:]
  /// Added to one delivery's latency; order is kept.
  package var jitter: (() -> Duration)?
  /// Bytes a second, by the side that sends them; unlimited if absent.
  package var rate: [Side: Int] = [:]
  /// Bytes that are written at once at most.
  package var writeLimit = 65_536
  /// What becomes of a write of a side; nothing by default.
  package var alter: ((Side, [UInt8]) -> [[UInt8]])?
  /// Sides whose bytes vanish.
  package var muted: Set<Side> = []

  package private(set) var appEvents: [LinkEvent] = []
  package private(set) var glassesEvents: [LinkEvent] = []

  private var underWay = DeadlineHeap<(from: Side, bytes: [UInt8])>()
  private var wireFree: [Side: Instant] = [:]
  private var lastArrival: [Side: Instant] = [:]

  package init(
    appHello: Hello = .testApp, glassesHello: Hello = .testGlasses, deviceClock: DeviceClock = .identity,
    limits: LinkLimits = LinkLimits()
  ) {
    app = LinkEndpoint(hello: appHello, limits: limits)
    glasses = LinkEndpoint(hello: glassesHello, deviceClock: deviceClock, limits: limits)
  }

  /// Opens both sides and lets the hellos pass.
  package mutating func open() {
    app.opened(at: now)
    glasses.opened(at: now)
    settle()
  }

  /// Carries out an input at the current time, then what follows from it without time passing.
  package mutating func input(_ side: Side, _ input: (inout LinkEndpoint, Instant) -> Void) {
    switch side {
    case .app: input(&app, now)
    case .glasses: input(&glasses, now)
    }
    settle()
  }

  /// Lets the next write of each side leave now, whatever a rate that has been lifted still has on its way.
  package mutating func freeWires() {
    wireFree.removeAll()
    lastArrival.removeAll()
  }

  package mutating func settle() { advance(by: .zero) }

  /// Moves the time, stopping at each delivery and deadline on the way.
  package mutating func advance(by duration: Duration) {
    let target = now + duration
    drain()
    while let next = nextMoment, next <= target {
      now = max(now, next)
      while let (from, bytes) = underWay.popDue(at: now) {
        switch from {
        case .app: glasses.received(bytes, at: now)
        case .glasses: app.received(bytes, at: now)
        }
      }
      if let deadline = app.nextDeadline, deadline <= now { app.timeout(at: now) }
      if let deadline = glasses.nextDeadline, deadline <= now { glasses.timeout(at: now) }
      drain()
    }
    now = target
  }

  package mutating func takeAppEvents() -> [LinkEvent] {
    defer { appEvents.removeAll() }
    return appEvents
  }

  package mutating func takeGlassesEvents() -> [LinkEvent] {
    defer { glassesEvents.removeAll() }
    return glassesEvents
  }

  private var nextMoment: Instant? {
    let wires = [Side.app, .glasses].compactMap { side -> Instant? in
      // A full wire is looked at again when it has room.
      guard let free = wireFree[side], free > now else { return nil }
      return free
    }
    return ([underWay.earliest, app.nextDeadline, glasses.nextDeadline].compactMap { $0 } + wires).min()
  }

  private mutating func drain() {
    var isBusy = true
    while isBusy {
      isBusy = false
      while let bytes = nextBytes(.app) {
        carry(bytes, from: .app)
        isBusy = true
      }
      while let bytes = nextBytes(.glasses) {
        carry(bytes, from: .glasses)
        isBusy = true
      }
      while let event = app.nextEvent() { appEvents.append(event) }
      while let event = glasses.nextEvent() { glassesEvents.append(event) }
    }
  }

  private mutating func nextBytes(_ side: Side) -> [UInt8]? {
    guard wireFree[side].map({ $0 <= now }) ?? true else { return nil }
    switch side {
    case .app: return app.nextBytes(atMost: writeLimit, at: now)
    case .glasses: return glasses.nextBytes(atMost: writeLimit, at: now)
    }
  }

  private mutating func carry(_ bytes: [UInt8], from side: Side) {
    guard !muted.contains(side) else { return }
    var departure = now
    if let rate = rate[side] {
      departure = max(now, wireFree[side] ?? now) + .nanoseconds(Int64(bytes.count) * 1_000_000_000 / Int64(rate))
      wireFree[side] = departure
    }
    let travel = (latency[side] ?? .zero) + (jitter?() ?? .zero)
    let arrival = max(departure + travel, lastArrival[side] ?? departure)
    lastArrival[side] = arrival
    for portion in alter?(side, bytes) ?? [bytes] { underWay.insert((side, portion), at: arrival) }
  }
}

extension Hello {
  package static let testApp = Hello(
    role: .app, capabilities: [.videoHEVC, .photoJPEG], identifier: "app.test", name: "Test app", softwareVersion: "1",
    nonce: .test)
  package static let testGlasses = Hello(
    role: .glasses, capabilities: [.videoHEVC, .photoJPEG, .photoHEIC], identifier: "GW-TEST", name: "Test glasses",
    model: "Simulated", softwareVersion: "1", nonce: .test)
}

extension Nonce {
  package static var test: Nonce {
    var generator = SeededGenerator(seed: 1)
    return Nonce(from: &generator)
  }
}

extension AccessUnit {
  /// A unit of a stream with this much payload, whose bytes tell it apart.
  package static func test(
    stream: UInt32 = 1, _ flags: Flags = [], captured: DeviceTime = DeviceTime(nanoseconds: 0), bytes count: Int = 3000,
    filler: UInt8 = 1
  ) -> AccessUnit {
    AccessUnit(
      stream: StreamID(stream), flags: flags, codec: .hevc, size: PixelSize(width: 504, height: 896),
      captured: captured, payload: (0..<count).map { UInt8(truncatingIfNeeded: $0) &+ filler })
  }
}

extension AudioUnit {
  /// 20 ms of 16 kHz mono as PCM, whose samples tell it apart.
  package static func sound(
    stream: UInt32 = 1, _ flags: Flags = [], captured: DeviceTime = DeviceTime(nanoseconds: 0), frames: UInt16 = 320,
    filler: UInt8 = 1
  ) -> AudioUnit {
    AudioUnit(
      stream: StreamID(stream), flags: flags, codec: .pcmFloat32, sampleRate: 16_000, channels: 1, frames: frames,
      captured: captured,
      payload: (0..<Int(frames)).flatMap { [UInt8(truncatingIfNeeded: $0), filler, 0x40, 0x3e] })
  }
}
