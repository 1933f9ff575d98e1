import TestSupport
import Testing
import Units

@testable import LinkProtocol

@Suite("Send scheduler")
struct SchedulerTests {
  private let now = Instant(nanoseconds: 1_000_000_000)

  private func scheduler(_ limits: LinkLimits = LinkLimits()) -> SendScheduler {
    var scheduler = SendScheduler(limits: limits, deviceClock: DeviceClock(offset: .seconds(5), partsPerMillion: 0))
    scheduler.holdsBack = false
    return scheduler
  }

  /// The headers of the chunks in a write.
  private func headers(_ bytes: [UInt8]?) throws -> [ChunkHeader] {
    var headers: [ChunkHeader] = []
    var rest = (bytes ?? [])[...]
    while !rest.isEmpty {
      let header = try ChunkHeader(Array(rest.prefix(ChunkHeader.length)))
      headers.append(header)
      rest = rest.dropFirst(ChunkHeader.length + Int(header.payloadLength))
    }
    return headers
  }

  @Test("lets control overtake video, and video photos, at the next chunk")
  func priority() throws {
    var scheduler = scheduler()
    try scheduler.enqueue(PhotoID(1), bytes: [UInt8](repeating: 1, count: 20_000))
    let first = try headers(scheduler.nextBytes(atMost: 4096 + 16, at: now))
    #expect(first.map(\.channel) == [Channel.photo.rawValue])
    try scheduler.enqueue(.test(.sync, bytes: 9000), at: now)
    let second = try headers(scheduler.nextBytes(atMost: 4096 + 16, at: now))
    #expect(second.map(\.channel) == [Channel.video.rawValue])
    try scheduler.enqueue(.ping(Ping(number: 1)))
    let rest = try headers(scheduler.nextBytes(atMost: 65_536, at: now))
    #expect(rest.map(\.channel) == [0, 2, 2, 3, 3, 3, 3])
    #expect(rest.filter { $0.channel == 3 }.map(\.offset) == [4096, 8192, 12_288, 16_384])
    #expect(rest.last?.isLast == true)
    #expect(scheduler.isEmpty)
    #expect(scheduler.nextBytes(atMost: 65_536, at: now) == nil)
  }

  @Test("cuts units to the chunk size, at most 16 bits, and to the room there is", arguments: [1, 100, 4096, 100_000])
  func chunkSizes(size: Int) throws {
    var limits = LinkLimits()
    limits.chunkPayload = size
    var scheduler = scheduler(limits)
    let unit = AccessUnit.test(.sync, bytes: 70_000)
    try scheduler.enqueue(unit, at: now)
    var sum = 0
    while let bytes = scheduler.nextBytes(atMost: 3000, at: now) {
      #expect(bytes.count <= 3000)
      let headers = try headers(bytes)
      #expect(headers.allSatisfy { $0.payloadLength <= min(size, 65_535) && $0.sequence == 0 })
      sum += headers.reduce(0) { $0 + Int($1.payloadLength) }
    }
    #expect(sum == 70_020)
    #expect(scheduler.sent[2].units == 1)
  }

  @Test("begins nothing without room")
  func noRoom() throws {
    var scheduler = scheduler()
    try scheduler.enqueue(.test(.sync, bytes: 100), at: now)
    #expect(scheduler.nextBytes(atMost: 16, at: now) == nil)
    #expect(scheduler.queuedVideo.units == 1)
    #expect(scheduler.nextBytes(atMost: 17, at: now)?.count == 17)
  }

  @Test("stamps clock messages when they leave")
  func stamps() throws {
    var scheduler = scheduler()
    try scheduler.enqueue(.clockRequest(ClockRequest(number: 1, originated: now)))
    let requestBytes = scheduler.nextBytes(atMost: 1000, at: now + .seconds(1))
    let request = try #require(requestBytes)
    let originated = now + .seconds(1)
    #expect(
      try Message.decode(Array(request[16...]))
        == .clockRequest(ClockRequest(number: 1, originated: originated)))
    let time = DeviceTime(nanoseconds: 3)
    try scheduler.enqueue(
      .clockReply(ClockReply(number: 1, originated: originated, received: time, transmitted: time)))
    let replyBytes = scheduler.nextBytes(atMost: 1000, at: now + .seconds(2))
    let reply = try #require(replyBytes)
    #expect(
      try Message.decode(Array(reply[16...]))
        == .clockReply(
          ClockReply(
            number: 1, originated: originated, received: time,
            transmitted: DeviceTime(nanoseconds: 8_000_000_000))))
  }

  @Test("never drops a message or photo, but reports a backlog")
  func backlog() throws {
    var limits = LinkLimits()
    limits.controlQueueUnits = 2
    limits.photoQueueUnits = 1
    var scheduler = scheduler(limits)
    try scheduler.enqueue(.ping(Ping(number: 1)))
    try scheduler.enqueue(.ping(Ping(number: 2)))
    #expect(throws: LinkProtocolError(.backlog(.control), stage: .sending)) {
      try scheduler.enqueue(.ping(Ping(number: 3)))
    }
    try scheduler.enqueue(PhotoID(1), bytes: [1])
    #expect(throws: LinkProtocolError(.backlog(.photo), stage: .sending)) {
      try scheduler.enqueue(PhotoID(2), bytes: [1])
    }
    #expect(try headers(scheduler.nextBytes(atMost: 65_536, at: now)).count == 3)
  }

  @Test("begins no unit of a stream once the word that it stopped is queued")
  func stopped() throws {
    var scheduler = scheduler()
    try scheduler.enqueue(.test(stream: 1, .sync), at: now)
    try scheduler.enqueue(.test(stream: 2, .sync), at: now)
    try scheduler.enqueue(.streamStopped(StreamStopped(stream: StreamID(1), reason: .requested)))
    #expect(scheduler.queuedVideo.units == 1)
    #expect(scheduler.drops.isEmpty)
    #expect(try headers(scheduler.nextBytes(atMost: 65_536, at: now)).map(\.channel) == [0, 2])
  }

  @Test("refuses units that the peer would refuse")
  func limits() {
    var scheduler = scheduler()
    #expect(throws: LinkProtocolError(.unitTooShort(.video, length: 20), stage: .sending)) {
      try scheduler.enqueue(.test(bytes: 0), at: now)
    }
    #expect(throws: LinkProtocolError(.unitTooShort(.photo, length: 4), stage: .sending)) {
      try scheduler.enqueue(PhotoID(1), bytes: [])
    }
    #expect(
      throws: LinkProtocolError(.unitTooLong(.video, length: 8_388_609, limit: 8_388_608), stage: .sending)
    ) { try scheduler.enqueue(.test(.sync, bytes: 8_388_589), at: now) }
  }
}

/// PERF-2: the queue is bounded by time; overflow drops to the next keyframe and is counted.
@Suite("Video queue")
struct VideoQueueTests {
  private let start = Instant(nanoseconds: 1_000_000_000)
  private let keyframe: AccessUnit.Flags = [.sync, .parameterSets]

  private func queue(bytes: Int = 1_000_000) -> VideoQueue {
    VideoQueue(ageLimit: .milliseconds(500), byteLimit: bytes)
  }

  private func drain(_ queue: inout VideoQueue, at now: Instant) -> [AccessUnit] {
    var units: [AccessUnit] = []
    while let unit = queue.popFirst(at: now).unit { units.append(unit) }
    return units
  }

  @Test("keeps everything while its oldest unit is at most 500 ms old")
  func within() {
    var queue = queue()
    for index in 0...10 { #expect(queue.append(.test(), at: start + .milliseconds(50 * index)).isEmpty) }
    #expect(queue.count == 11)
    #expect(drain(&queue, at: start + .milliseconds(500)).count == 11)
  }

  @Test("drops up to a waiting sync unit and marks it as a discontinuity")
  func dropsToSync() throws {
    var queue = queue()
    _ = queue.append(.test(filler: 1), at: start)
    _ = queue.append(.test(filler: 2), at: start + .milliseconds(100))
    _ = queue.append(.test(keyframe, filler: 3), at: start + .milliseconds(200))
    _ = queue.append(.test(filler: 4), at: start + .milliseconds(300))
    let dropped = queue.append(.test(filler: 5), at: start + .milliseconds(501))
    #expect(dropped.count == 1)
    #expect(dropped.first?.units == 2)
    #expect(dropped.first?.needsSync == false)
    #expect(dropped.first?.begins == true)
    let units = drain(&queue, at: start + .milliseconds(510))
    #expect(units.map { $0.payload[0] } == [3, 4, 5])
    #expect(units.map { $0.flags.contains(.discontinuity) } == [true, false, false])
    #expect(queue.bytes == 0)
  }

  @Test("takes nothing until a sync unit comes when none waits")
  func awaitsSync() {
    var queue = queue()
    _ = queue.append(.test(keyframe, filler: 1), at: start)
    let dropped = queue.append(.test(filler: 2), at: start + .milliseconds(600))
    #expect(dropped.map(\.units) == [2])
    #expect(dropped.map(\.needsSync) == [true])
    let more = queue.append(.test(filler: 3), at: start + .milliseconds(610))
    #expect(more.map(\.units) == [1])
    #expect(more.map(\.begins) == [false])
    #expect(queue.count == 0)
    #expect(queue.append(.test(keyframe, filler: 4), at: start + .milliseconds(620)).isEmpty)
    let units = drain(&queue, at: start + .milliseconds(620))
    #expect(units.map(\.flags) == [[.sync, .parameterSets, .discontinuity]])
  }

  @Test("drops what has grown old while nothing came")
  func stale() {
    var queue = queue()
    _ = queue.append(.test(keyframe), at: start)
    let (unit, dropped) = queue.popFirst(at: start + .seconds(1))
    #expect(unit == nil)
    #expect(dropped.map(\.needsSync) == [true])
  }

  @Test("is bounded by bytes as well")
  func bytes() {
    var queue = queue(bytes: 10_000)
    _ = queue.append(.test(keyframe, bytes: 6000), at: start)
    let dropped = queue.append(.test(keyframe, bytes: 9000), at: start)
    #expect(dropped.map(\.units) == [1])
    #expect(queue.bytes == 9000)
    let all = queue.append(.test(keyframe, bytes: 11_000), at: start)
    #expect(all.map(\.units) == [2])
    #expect(all.map(\.needsSync) == [true])
    #expect(queue.bytes == 0)
  }

  @Test("deals with each stream by itself, and forgets one that stopped")
  func streams() {
    var queue = queue()
    _ = queue.append(.test(stream: 1, keyframe, filler: 1), at: start)
    _ = queue.append(.test(stream: 2, keyframe, filler: 2), at: start + .milliseconds(400))
    let dropped = queue.append(.test(stream: 1, filler: 3), at: start + .milliseconds(501))
    #expect(dropped.map(\.stream) == [StreamID(1)])
    #expect(dropped.map(\.units) == [2])
    #expect(queue.count == 1)
    queue.forget(StreamID(2))
    #expect(queue.count == 0)
    #expect(queue.bytes == 0)
  }
}
