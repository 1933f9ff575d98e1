import LinkProtocol
import LinkTransport
import TestSupport
import Testing
import Units

/// What each fault does to the audio channel, between two connections.
@Suite("Faults on sound")
struct FaultsOnAudioTests {
  private final class World {
    let clock = ManualTimekeeper()
    let conditioner: LinkConditioner
    let app: LinkConnection
    let glasses: LinkConnection
    private let events = Observed<LinkEvent>()

    init() {
      conditioner = LinkConditioner(timekeeper: clock, seed: 3)
      let wire = MemoryLink.makePair(timekeeper: clock)
      let pair = conditioner.join(app: wire.app, glasses: wire.glasses)
      app = LinkConnection(
        endpoint: LinkEndpoint(hello: .testApp), transport: pair.app, timekeeper: clock, name: "app")
      glasses = LinkConnection(
        endpoint: LinkEndpoint(hello: .testGlasses), transport: pair.glasses, timekeeper: clock, name: "glasses")
      app.start { [events] in events.record($0) }
      glasses.start { _ in }
      clock.settle()
    }

    /// Sends ten units, one each 20 ms, each with a picture.
    func run() {
      for index in 0..<10 {
        glasses.send(AudioUnit.sound(filler: UInt8(index)))
        glasses.send(AccessUnit.test([.sync, .parameterSets], bytes: 100, filler: UInt8(index)))
        clock.advance(by: .milliseconds(20))
      }
      clock.advance(by: .milliseconds(200))
    }

    var sound: [ReceivedAudio] { events.values.compactMap { if case .audio(let unit) = $0 { unit } else { nil } } }
    /// Which of the ten arrived.
    var arrived: [UInt8] { sound.map { $0.unit.payload[1] } }
    var lost: [Int] { sound.map(\.lostBefore) }
    var isOpen: Bool { !events.values.contains { if case .closed = $0 { true } else { false } } }
    var pictures: Int { events.values.count { if case .accessUnit = $0 { true } else { false } } }
  }

  @Test("a unit that is dropped is told with the one after it, and pictures don't notice")
  func drop() {
    let world = World()
    world.conditioner.apply(.drop, to: .unit, .range(3..<5), on: .audio)
    world.run()
    #expect(world.arrived == [0, 1, 2, 5, 6, 7, 8, 9])
    #expect(world.lost == [0, 0, 0, 2, 0, 0, 0, 0])
    #expect(world.pictures == 10 && world.isOpen)
    #expect(world.app.statistics.lost(.audio) == 2 && world.app.statistics.lost(.video) == 0)
  }

  @Test("a short delay, a change of places and a repeat are made good")
  func harmless() {
    for action in [LinkConditioner.Action.delay(.milliseconds(45)), .reorder(behind: 2), .duplicate] {
      let world = World()
      world.conditioner.apply(action, to: .unit, .next(4), on: .audio)
      world.run()
      #expect(world.arrived == Array(0...9), "\(action)")
      #expect(world.lost.allSatisfy { $0 == 0 } && world.isOpen)
      let stamps = world.sound.map(\.presentation)
      #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
      #expect(world.sound.allSatisfy { $0.presentation <= $0.arrived })
    }
  }

  @Test("a unit that comes later than patience lasts is lost")
  func late() {
    let world = World()
    world.conditioner.apply(.delay(.milliseconds(150)), to: .unit, .next(4), on: .audio)
    world.run()
    #expect(world.arrived == [0, 1, 2, 3, 5, 6, 7, 8, 9])
    #expect(world.lost == [0, 0, 0, 0, 1, 0, 0, 0, 0] && world.isOpen)
  }

  @Test("a flipped bit is in a sample, never in the head")
  func corrupt() {
    let world = World()
    world.conditioner.apply(.corrupt, to: .unit, .all, on: .audio)
    world.run()
    #expect(world.arrived.count + Int(world.app.statistics.unusableAudioUnits) == 10 && world.isOpen)
    for (received, sent) in world.sound.map({ ($0.unit, AudioUnit.sound()) }) {
      #expect(received.frames == sent.frames && received.codec == sent.codec && received.stream == sent.stream)
      #expect(received.payload.count == sent.payload.count)
    }
    let events = world.conditioner.log.filter { $0.chunk?.channel == Channel.audio.rawValue }
    #expect(events.count == 10)
    for event in events {
      guard case .corrupted(let byte, _) = event.kind else {
        Issue.record("\(event)")
        continue
      }
      #expect(byte >= Channel.audio.headLength)
    }
  }

  @Test("a muted channel is silent alone; what comes after it tells what was lost")
  func mute() {
    let world = World()
    world.run()
    world.conditioner.mute(.audio)
    world.run()
    #expect(world.arrived.count == 10 && world.pictures == 20)
    world.conditioner.unmute(.audio)
    world.run()
    #expect(world.arrived.count == 20 && world.lost[10] == 10 && world.isOpen)
  }

  @Test("sound on a link at a hundredth of what it needs drops its oldest and keeps the link")
  func starved() {
    let world = World()
    world.conditioner.limit(.kilobitsPerSecond(6))
    for _ in 0..<20 { world.run() }
    let statistics = world.glasses.statistics
    #expect(statistics.droppedAudioUnits > 150 && statistics.queuedAudioUnits <= 26)
    world.conditioner.clear()
    world.run()
    #expect(world.isOpen)
    #expect(world.sound.contains { $0.unit.flags.contains(.discontinuity) })
  }
}
