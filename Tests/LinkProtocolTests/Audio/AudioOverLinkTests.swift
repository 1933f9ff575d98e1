import TestSupport
import Testing
import Units

@testable import LinkProtocol

@Suite("Sound over a link")
struct AudioOverLinkTests {
  private let keyframe: AccessUnit.Flags = [.sync, .parameterSets]

  private func openPair(_ limits: LinkLimits = LinkLimits(), deviceClock: DeviceClock = .identity) -> EndpointPair {
    var pair = EndpointPair(deviceClock: deviceClock, limits: limits)
    pair.open()
    _ = pair.takeAppEvents()
    _ = pair.takeGlassesEvents()
    return pair
  }

  private func sound(_ events: [LinkEvent]) -> [ReceivedAudio] {
    events.compactMap { if case .audio(let unit) = $0 { unit } else { nil } }
  }

  @Test("units arrive as they were sent, in order, with every field, and are acknowledged")
  func arrives() {
    var pair = openPair()
    let sent = (0..<50).map { AudioUnit.sound(stream: 3, frames: UInt16(1 + $0), filler: UInt8($0)) }
    for unit in sent {
      pair.input(.glasses) { glasses, now in glasses.send(unit, at: now) }
      pair.advance(by: .milliseconds(20))
    }
    let received = sound(pair.takeAppEvents())
    #expect(received.map(\.unit) == sent)
    #expect(received.map(\.sequence) == Array(0..<50))
    #expect(received.allSatisfy { $0.lostBefore == 0 && $0.presentation <= $0.arrived })
    let feedback = pair.takeGlassesEvents().compactMap { event -> Feedback? in
      if case .message(.feedback(let feedback)) = event { feedback } else { nil }
    }
    #expect((8...11).contains(feedback.count))
    #expect(feedback.allSatisfy { $0.channel == .audio && $0.unitsLost == 0 })
    #expect(pair.glasses.statistics.sent(.audio).units == 50)
    #expect(pair.app.statistics.received(.audio).units == 50)
  }

  @Test("sound leaves before pictures that were queued earlier, and after messages")
  func order() {
    var pair = openPair()
    pair.rate = [.glasses: 100_000]
    pair.writeLimit = 4200
    pair.input(.glasses) { glasses, now in
      for _ in 0..<4 { glasses.send(.test(keyframe, bytes: 9000), at: now) }
      glasses.send(.sound(), at: now)
      glasses.send(.sessionOpened(SessionOpened(session: SessionID(1))), at: now)
    }
    pair.advance(by: .seconds(2))
    let kinds = pair.takeAppEvents().compactMap { event -> String? in
      switch event {
      case .message: "message"
      case .audio: "audio"
      case .accessUnit: "video"
      default: nil
      }
    }
    #expect(kinds == ["message", "audio", "video", "video", "video", "video"])
  }

  @Test(
    "what was queued of a stream's sound arrives before the word that ends it, on a slow link too (AUD-5)",
    arguments: [
      Message.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)),
      .sessionClosed(SessionClosed(session: SessionID(1), reason: .requested)),
      .sessionPaused(SessionPaused(session: SessionID(1), reason: .wearer)),
    ])
  func tail(_ end: Message) {
    var pair = openPair()
    // 10 units of 1.3 kB take 350 ms.
    pair.rate = [.glasses: 40_000]
    pair.writeLimit = 700
    let sent = (0..<10).map { AudioUnit.sound(filler: UInt8($0)) }
    pair.input(.glasses) { glasses, now in
      glasses.send(.test(keyframe, bytes: 9000), at: now)
      for unit in sent { glasses.send(unit, at: now) }
      glasses.send(end, at: now)
      glasses.send(.deviceState(DeviceStateReport()), at: now)
      glasses.send(.sound(stream: 2, filler: 77), at: now)
    }
    pair.advance(by: .seconds(1))
    let events = pair.takeAppEvents()
    #expect(sound(events).map(\.unit) == sent + [.sound(stream: 2, filler: 77)])
    let place = events.firstIndex(of: .message(end))
    #expect(place == 10, "\(events.count)")
    #expect(events.firstIndex(of: .message(.deviceState(DeviceStateReport()))) == 11)
  }

  @Test("the word that ends a stream waits for its sound half a second at most, however long nothing leaves")
  func tailIsBounded() {
    var pair = openPair()
    pair.rate = [.glasses: 1000]
    pair.writeLimit = 700
    pair.input(.glasses) { glasses, now in
      for _ in 0..<10 { glasses.send(.sound(), at: now) }
      glasses.send(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)), at: now)
    }
    pair.advance(by: .milliseconds(1500))
    pair.rate = [:]
    pair.advance(by: .seconds(2))
    let events = pair.takeAppEvents()
    // What had begun is finished.
    #expect(sound(events).count <= 1)
    #expect(events.last == .message(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested))))
    #expect(pair.glasses.statistics.droppedAudioUnits >= 9)
    #expect(pair.glasses.statistics.queuedAudioUnits == 0)
  }

  @Test("a side that leaves does not wait for its sound")
  func leaving() {
    var pair = openPair()
    pair.rate = [.glasses: 20_000]
    pair.writeLimit = 700
    pair.input(.glasses) { glasses, now in
      for _ in 0..<40 { glasses.send(.sound(), at: now) }
      glasses.send(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)), at: now)
      glasses.finish(Goodbye(reason: .poweringOff), at: now)
    }
    pair.advance(by: .milliseconds(200))
    let events = pair.takeAppEvents()
    guard case .closed(let close) = events.last else {
      Issue.record("\(events)")
      return
    }
    #expect(close.cause == .goodbye(Goodbye(reason: .poweringOff)))
    #expect(events.contains(.message(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)))))
  }

  @Test("a unit that was lost is told with the next; one before the stream's end holds nothing up (AUD-5)")
  func loss() {
    var pair = openPair()
    pair.alter = { side, bytes in
      // The third and the ninth unit.
      side == .glasses && bytes[0] == 1 && [2, 8].contains(bytes[7]) ? [] : [bytes]
    }
    for index in 0..<10 {
      pair.input(.glasses) { glasses, now in glasses.send(.sound(filler: UInt8(index)), at: now) }
      pair.advance(by: .milliseconds(20))
    }
    // The tenth still waits for the ninth.
    pair.input(.glasses) { glasses, now in
      glasses.send(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)), at: now)
    }
    let events = pair.takeAppEvents()
    #expect(sound(events).map { $0.unit.payload[1] } == [0, 1, 3, 4, 5, 6, 7, 9])
    #expect(sound(events).map(\.lostBefore) == [0, 0, 1, 0, 0, 0, 0, 1])
    #expect(pair.app.statistics.lost(.audio) == 2)
    #expect(pair.app.statistics.lost(.video) == 0)
    #expect(events.last == .message(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested))))
    // And nothing after it.
    pair.input(.glasses) { glasses, now in glasses.send(.sound(), at: now) }
    #expect(sound(pair.takeAppEvents()).isEmpty)
  }

  @Test("a unit that is not what it says counts as lost and ends nothing")
  func unusable() {
    var pair = openPair()
    pair.alter = { side, bytes in
      guard side == .glasses, bytes[0] == 1 else { return [bytes] }
      var bytes = bytes
      switch bytes[7] {
      // Stream 0; an unknown codec; three channels; a frame more than there is.
      case 1: bytes[16 + 3] = 0
      case 2: bytes[16 + 19] = 9
      case 4: bytes[16 + 20] = 3
      case 5: bytes[16 + 17] &+= 1
      default: break
      }
      return [bytes]
    }
    for index in 0..<7 {
      pair.input(.glasses) { glasses, now in glasses.send(.sound(filler: UInt8(index)), at: now) }
    }
    let events = pair.takeAppEvents()
    #expect(sound(events).map { $0.unit.payload[1] } == [0, 3, 6])
    #expect(sound(events).map(\.lostBefore) == [0, 2, 2])
    #expect(events.count == 3)
    #expect(pair.app.statistics.unusableAudioUnits == 4)
    #expect(pair.app.statistics.lost(.audio) == 4)
  }

  @Test("a queue that runs over drops the oldest, says so on both sides, and sound is half a second late at most")
  func overflow() {
    var pair = openPair()
    // 67 kB a second are to leave.
    pair.rate = [.glasses: 40_000]
    pair.writeLimit = 1400
    var dropped = 0
    var worst = Duration.zero
    var received: [ReceivedAudio] = []
    for _ in 0..<300 {
      pair.input(.glasses) { glasses, now in
        glasses.send(.sound(captured: DeviceTime(nanoseconds: now.nanoseconds)), at: now)
      }
      pair.advance(by: .milliseconds(20))
      for event in pair.takeGlassesEvents() {
        if case .audioDropped(let stream, let units) = event {
          #expect(stream == StreamID(1))
          dropped += units
        }
      }
      for unit in sound(pair.takeAppEvents()) {
        received.append(unit)
        worst = max(worst, unit.arrived - Instant(nanoseconds: unit.unit.captured.nanoseconds))
      }
    }
    let statistics = pair.glasses.statistics
    #expect(dropped > 80 && statistics.droppedAudioUnits == UInt64(dropped))
    #expect(received.count + dropped + statistics.queuedAudioUnits >= 299)
    #expect(worst <= .milliseconds(600))
    #expect(received.allSatisfy { $0.lostBefore == 0 })
    #expect(received.filter { $0.unit.flags.contains(.discontinuity) }.count > 10)
  }

  @Test("a unit that is empty, or longer than any, is left out and counted, the next one says so, and the link goes on")
  func leftOut() {
    var pair = openPair()
    var empty = AudioUnit.sound()
    empty.payload = []
    var endless = AudioUnit.sound()
    endless.payload = [UInt8](repeating: 0, count: LinkLimits().audioUnit)
    for unit in [.sound(), empty, endless, .sound(), .sound()] {
      pair.input(.glasses) { glasses, now in glasses.send(unit, at: now) }
      pair.advance(by: .milliseconds(20))
    }
    #expect(
      pair.takeGlassesEvents().filter { if case .audioDropped = $0 { true } else { false } }
        == Array(repeating: .audioDropped(StreamID(1), units: 1), count: 2))
    #expect(pair.glasses.statistics.droppedAudioUnits == 2)
    let heard = sound(pair.takeAppEvents())
    #expect(heard.map { $0.unit.flags.contains(.discontinuity) } == [false, true, false])
  }

  @Test("glasses that send a unit without payload lose that unit alone: it counts as unusable, the next one says so")
  func emptyUnit() throws {
    var app = LinkEndpoint(hello: .testApp)
    let now = Instant(nanoseconds: 1_000_000_000)
    app.opened(at: now)
    app.received(chunk(0, 0, Message.hello(.testGlasses).encoded()), at: now)
    let unit = AudioUnit.sound()
    let head = UnitHead.encode(unit)
    for (number, payload) in [unit.payload, [], unit.payload].enumerated() {
      app.received(chunk(1, UInt32(number), head + payload), at: now + .milliseconds(20 * Int64(number)))
    }
    var events: [LinkEvent] = []
    while let event = app.nextEvent() { events.append(event) }
    #expect(sound(events).map(\.lostBefore) == [0, 1])
    #expect(app.statistics.unusableAudioUnits == 1 && app.statistics.lost(.audio) == 1)
    // One that has no whole head is no unit at all.
    app.received(chunk(1, 3, Array(head.dropLast())), at: now + .milliseconds(60))
    while let event = app.nextEvent() { events.append(event) }
    let error = LinkProtocolError(.unitTooShort(.audio, length: 23), stage: .reassembly)
    while app.nextBytes(atMost: 65_536, at: now + .milliseconds(60)) != nil {}
    while let event = app.nextEvent() { events.append(event) }
    guard case .closed(let close) = events.last else {
      Issue.record("still open")
      return
    }
    #expect(close.cause == .protocolError(error))
  }

  @Test(
    "sound and pictures taken at one moment get one presentation time, whatever the clock of the glasses (SYNC-2)",
    arguments: [-300.0, 0, 300])
  func oneClock(partsPerMillion: Double) {
    let clock = DeviceClock(offset: .seconds(-77_777), partsPerMillion: partsPerMillion)
    var pair = openPair(deviceClock: clock)
    pair.latency = [.app: .milliseconds(15), .glasses: .milliseconds(30)]
    let generator = Jitter()
    pair.jitter = { .milliseconds(generator.next(20)) }
    var video: [Instant] = []
    var audio: [Instant] = []
    for index in 0..<2500 {
      pair.input(.glasses) { glasses, now in
        let captured = clock.time(at: now)
        glasses.send(.sound(captured: captured), at: now)
        if index.isMultiple(of: 2) { glasses.send(.test(keyframe, captured: captured, bytes: 50), at: now) }
      }
      pair.advance(by: .milliseconds(20))
      for event in pair.takeAppEvents() {
        switch event {
        case .audio(let unit): audio.append(unit.presentation)
        case .accessUnit(let unit): video.append(unit.presentation)
        default: break
        }
      }
    }
    let pairs = zip(video, stride(from: 0, to: audio.count, by: 2).map { audio[$0] })
    #expect(video.count > 1240 && audio.count > 2480)
    #expect(pairs.allSatisfy { $0 == $1 })
    #expect(zip(audio, audio.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test("any portions of the same bytes give the same events, and damage never traps")
  func verified() {
    let now = Instant(nanoseconds: 1_000_000_000)
    var source = LinkEndpoint(hello: .testGlasses)
    source.opened(at: now)
    source.received(chunk(0, 0, Message.hello(.testApp).encoded()), at: now)
    source.send(.sound(stream: 1, frames: 20), at: now)
    source.send(
      .audioChanged(
        AudioChanged(
          stream: StreamID(1), audio: AudioParameters(codec: .opus, sampleRate: 48_000, channels: 2), source: .feed)),
      at: now)
    source.send(.sound(stream: 1, .discontinuity, frames: 30), at: now)
    source.send(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)), at: now)
    var bytes: [UInt8] = []
    while let more = source.nextBytes(atMost: 100, at: now) { bytes += more }
    DecoderVerifier.verifyStream(bytes) { portions -> [LinkEvent] in
      var app = LinkEndpoint(hello: .testApp)
      app.opened(at: now)
      for portion in portions { app.received(portion, at: now) }
      while app.nextBytes(atMost: 65_536, at: now) != nil {}
      var events: [LinkEvent] = []
      while let event = app.nextEvent() {
        // How often progress of a photo is told depends on the portions.
        if case .photoProgress = event { continue }
        events.append(event)
      }
      return events
    }
  }
}

private final class Jitter {
  private var generator = SeededGenerator(seed: 5)
  func next(_ bound: Int) -> Int { Int.random(in: 0...bound, using: &generator) }
}
