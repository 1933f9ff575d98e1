import LinkProtocol
import TestSupport
import Testing
import Units

@Suite("Media over a link")
struct MediaTests {
  private let keyframe: AccessUnit.Flags = [.sync, .parameterSets]

  private func openPair(_ limits: LinkLimits = LinkLimits()) -> EndpointPair {
    var pair = EndpointPair(limits: limits)
    pair.open()
    _ = pair.takeAppEvents()
    _ = pair.takeGlassesEvents()
    return pair
  }

  private func units(_ events: [LinkEvent]) -> [ReceivedUnit] {
    events.compactMap { if case .accessUnit(let unit) = $0 { unit } else { nil } }
  }

  @Test("units arrive as they were sent, in order, with every field")
  func units() {
    var pair = openPair()
    let sent = (0..<50).map { index in
      AccessUnit.test(
        stream: 3, index == 0 ? keyframe : [], captured: DeviceTime(nanoseconds: Int64(index) * 40_000_000),
        bytes: 1 + index * 397, filler: UInt8(index))
    }
    for unit in sent {
      pair.input(.glasses) { glasses, now in glasses.send(unit, at: now) }
      pair.advance(by: .milliseconds(40))
    }
    let received = units(pair.takeAppEvents())
    #expect(received.map(\.unit) == sent)
    #expect(received.map(\.sequence) == Array(0..<50))
    #expect(received.allSatisfy { $0.lostBefore == 0 })
  }

  @Test("payload survives reordered, repeated and recut writes, across the sequence wrap (LOSS-4)", arguments: 0..<10)
  func scrambled(seed: UInt64) {
    var limits = LinkLimits()
    limits.firstSequence = .max - 4
    limits.chunkPayload = 700
    var generator = SeededGenerator(seed: seed)
    var pair = openPair(limits)
    pair.alter = { side, bytes in
      guard side == .glasses else { return [bytes] }
      // Whole chunks in another order, some twice.
      var chunks: [[UInt8]] = []
      var rest = bytes[...]
      while rest.count >= ChunkHeader.length {
        let length = ChunkHeader.length + Int(rest[rest.startIndex + 2]) << 8 + Int(rest[rest.startIndex + 3])
        chunks.append(Array(rest.prefix(length)))
        rest = rest.dropFirst(length)
      }
      chunks += chunks.filter { _ in Bool.random(using: &generator) }
      chunks.shuffle(using: &generator)
      return chunks
    }
    let photo = (0..<30_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let sent = (0..<12).map { AccessUnit.test($0 == 0 ? keyframe : [], bytes: 5000 + $0, filler: UInt8($0)) }
    pair.input(.glasses) { glasses, now in
      for unit in sent { glasses.send(unit, at: now) }
      glasses.send(photo: PhotoID(1), bytes: photo, at: now)
    }
    pair.advance(by: .seconds(1))
    let events = pair.takeAppEvents()
    #expect(units(events).map(\.unit) == sent)
    #expect(events.contains(.photo(PhotoID(1), bytes: photo)))
    #expect(pair.app.statistics.lost(.video) == 0)
  }

  @Test("a photo reports its progress and does not hold video up")
  func photo() {
    var pair = openPair()
    pair.rate = [.glasses: 1_000_000]
    pair.writeLimit = 4200
    let bytes = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    pair.input(.glasses) { glasses, now in glasses.send(photo: PhotoID(9), bytes: bytes, at: now) }
    var events: [LinkEvent] = []
    for index in 0..<20 {
      let unit = AccessUnit.test(index == 0 ? keyframe : [], captured: DeviceTime(nanoseconds: 0), bytes: 4000)
      pair.input(.glasses) { glasses, now in glasses.send(unit, at: now) }
      pair.advance(by: .milliseconds(40))
      // At 1 MB/s: what has begun of the photo, then the unit itself.
      events += pair.takeAppEvents()
      #expect(units(events).count == index + 1)
    }
    let progress = events.compactMap {
      if case .photoProgress(_, let received, let total) = $0 { (received, total) } else { nil }
    }
    #expect(progress.allSatisfy { $0.1 == bytes.count && $0.0 <= bytes.count })
    #expect(progress.map(\.0) == progress.map(\.0).sorted())
    #expect(progress.last?.0 == bytes.count)
    #expect(events.filter { $0 == .photo(PhotoID(9), bytes: bytes) }.count == 1)
  }

  @Test("a link that is too slow drops to sync units, says so, and stays under the bound (PERF-2)")
  func overflow() {
    var pair = openPair()
    pair.rate = [.glasses: 50_000]
    pair.writeLimit = 4200
    var needsSync = true
    var generator = SeededGenerator(seed: 3)
    var sentAt: [UInt8: Instant] = [:]
    var worst = Duration.zero
    var overflows = 0
    var received: [ReceivedUnit] = []
    for index in 0..<240 {
      let filler = UInt8(truncatingIfNeeded: index)
      let unit = AccessUnit.test(
        needsSync ? keyframe : [], bytes: Int.random(in: 3000...6000, using: &generator), filler: filler)
      needsSync = false
      sentAt[filler] = pair.now
      pair.input(.glasses) { glasses, now in glasses.send(unit, at: now) }
      pair.advance(by: .milliseconds(40))
      for event in pair.takeGlassesEvents() {
        if case .videoDropped(_, _, true) = event {
          needsSync = true
          overflows += 1
        }
      }
      for unit in units(pair.takeAppEvents()) {
        received.append(unit)
        if let sent = sentAt[unit.unit.payload[0]] { worst = max(worst, unit.arrived - sent) }
      }
    }
    let statistics = pair.glasses.statistics
    #expect(overflows > 0)
    #expect(statistics.droppedVideoUnits > 0)
    #expect(statistics.videoOverflows == UInt64(overflows))
    // 500 ms in the queue, and a unit or two that had begun: 6 kB at 50 kB/s.
    #expect(worst < .milliseconds(500 + 300))
    // What was dropped left no gap in the numbers, but a mark.
    #expect(received.allSatisfy { $0.lostBefore == 0 })
    #expect(received.filter { $0.unit.flags.contains(.discontinuity) }.count >= overflows - 1)
    #expect(received.allSatisfy { !$0.unit.flags.contains(.discontinuity) || $0.unit.flags.isSuperset(of: keyframe) })
    #expect(received.count + Int(statistics.droppedVideoUnits) + statistics.queuedVideoUnits >= 238)
  }

  @Test("a lost unit is reported to each stream once, with the unit after it")
  func loss() {
    var pair = openPair()
    var dropped = false
    pair.alter = { side, bytes in
      // The first chunk of the third write of video.
      guard side == .glasses, bytes[0] == 2, bytes[7] == 2, !dropped else { return [bytes] }
      dropped = true
      return []
    }
    for (index, stream) in [UInt32(1), 2, 1, 2, 1, 2].enumerated() {
      let unit = AccessUnit.test(stream: stream, keyframe, bytes: 100 + index)
      pair.input(.glasses) { glasses, now in glasses.send(unit, at: now) }
      pair.advance(by: .milliseconds(10))
    }
    pair.advance(by: .milliseconds(100))
    let received = units(pair.takeAppEvents())
    #expect(received.map(\.unit.stream.value) == [1, 2, 2, 1, 2])
    #expect(received.map(\.lostBefore) == [0, 0, 1, 1, 0])
    #expect(pair.app.statistics.lost(.video) == 1)
  }

  @Test("no unit of a stream follows the word that it stopped")
  func stopped() {
    var pair = openPair()
    pair.rate = [.glasses: 100_000]
    pair.writeLimit = 1000
    pair.input(.glasses) { glasses, now in
      for _ in 0..<4 { glasses.send(.test(stream: 1, keyframe), at: now) }
      glasses.send(.test(stream: 2, keyframe), at: now)
      glasses.send(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)), at: now)
    }
    pair.advance(by: .seconds(1))
    let events = pair.takeAppEvents()
    #expect(events.first == .message(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested))))
    #expect(units(events).map(\.unit.stream) == [StreamID(2)])
  }

  @Test("feedback tells the sender what arrived, each interval while units do")
  func feedback() {
    var pair = openPair()
    pair.latency = [.glasses: .milliseconds(20)]
    for _ in 0..<25 {
      pair.input(.glasses) { glasses, now in glasses.send(.test(keyframe, bytes: 1000), at: now) }
      pair.advance(by: .milliseconds(40))
    }
    pair.advance(by: .seconds(2))
    let feedback = pair.takeGlassesEvents().compactMap { event -> Feedback? in
      if case .message(.feedback(let feedback)) = event { feedback } else { nil }
    }
    #expect((8...11).contains(feedback.count))
    #expect(feedback.allSatisfy { $0.channel == .video && $0.unitsLost == 0 })
    #expect(feedback.last?.highestSequence == 24)
    #expect(feedback.last?.unitsReceived == 25)
    #expect(feedback.last?.bytesReceived == 25 * 1020)
  }

  @Test("any portions of the same bytes give the same events, and damage never traps")
  func verified() {
    let now = Instant(nanoseconds: 1_000_000_000)
    var source = LinkEndpoint(hello: .testGlasses, limits: LinkLimits())
    source.opened(at: now)
    source.received(chunk(0, 0, Message.hello(.testApp).encoded()), at: now)
    source.send(.test(stream: 1, keyframe, bytes: 300), at: now)
    source.send(photo: PhotoID(2), bytes: Array(0..<100), at: now)
    source.send(.sessionOpened(SessionOpened(session: SessionID(1))), at: now)
    var bytes: [UInt8] = []
    while let more = source.nextBytes(atMost: 400, at: now) { bytes += more }
    DecoderVerifier.verifyStream(bytes) { portions -> [LinkEvent] in
      var app = LinkEndpoint(hello: .testApp)
      app.opened(at: now)
      for portion in portions { app.received(portion, at: now) }
      while app.nextBytes(atMost: 65_536, at: now) != nil {}
      var events: [LinkEvent] = []
      while let event = app.nextEvent() {
        // How often progress is told depends on the portions.
        if case .photoProgress = event { continue }
        events.append(event)
      }
      return events
    }
  }
}
