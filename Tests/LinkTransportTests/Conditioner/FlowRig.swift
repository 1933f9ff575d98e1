import LinkProtocol
import Testing
import Units

@testable import LinkTransport

/// One direction under faults, driven by hand.
struct FlowRig {
  var rules: FaultRules
  var flow: ConditionedFlow
  var now = Instant(nanoseconds: 0)
  private(set) var written = 0

  init(seed: UInt64 = 1, _ settings: ConditionedFlow.Settings = .init()) {
    rules = FaultRules(seed: seed)
    flow = ConditionedFlow(direction: .toApp, link: 0, settings: settings, seed: seed)
  }

  mutating func apply(
    _ action: LinkConditioner.Action, to part: LinkConditioner.Part, _ which: LinkConditioner.Which,
    on channel: Channel = .video, syncOnly: Bool? = nil
  ) {
    rules.add(action, to: part, which, on: channel, .toApp, syncOnly: syncOnly)
  }

  mutating func write(_ chunks: [UInt8]...) {
    let bytes = chunks.flatMap { $0 }
    written += bytes.count
    flow.write(bytes, rules: &rules, at: now)
  }

  mutating func advance(to milliseconds: Int) {
    now = Instant(nanoseconds: Int64(milliseconds) * 1_000_000)
    flow.advance(to: now)
  }

  /// What has passed since the last call, chunk by chunk as it was handed over.
  mutating func passed() -> [[UInt8]] {
    var all: [[UInt8]] = []
    while let portion = flow.nextPassed() {
      switch portion {
      case .bytes(let bytes): all.append(bytes)
      case .end: all.append([])
      }
    }
    return all
  }

  var log: [LinkConditioner.Event] { rules.log.waiting }
}

/// A chunk, its header and its payload.
func chunk(
  _ channel: Channel, _ sequence: UInt32, at offset: UInt32 = 0, of total: UInt32? = nil, _ payload: [UInt8]
) -> [UInt8] {
  var bytes: [UInt8] = []
  ChunkHeader(
    channel: channel.rawValue, payloadLength: UInt16(payload.count), sequence: sequence, offset: offset,
    total: total ?? offset + UInt32(payload.count)
  ).append(to: &bytes)
  return bytes + payload
}

/// A whole unit in one chunk.
func unit(_ number: UInt32, on channel: Channel = .video, isSync: Bool = false, bytes count: Int = 40) -> [UInt8] {
  var payload = (0..<count).map { UInt8(truncatingIfNeeded: $0) &+ UInt8(truncatingIfNeeded: number) }
  if count > 16 { payload[16] = isSync ? 1 : 0 }
  return chunk(channel, number, payload)
}
