// Cuts known units into chunks, brings them in any order, repeated, overlapping and cut anew, as the input says, and
// looks at what comes out: each unit whole, unchanged and in its turn. With time going on in between, some may be given
// up, and then they are counted and none comes late.

import Units

@testable import LinkProtocol

/// Fewer than the reassembler may hold at once, so that no unit has to be given up for room.
private let unitCount = 12

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzReassembly(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var plan = Plan(bytes: Array(UnsafeBufferPointer(start: start, count: count)))
  // The last numbers before the wrap, at times.
  let first: UInt32 = plan.next() & 1 == 0 ? 0 : .max - 5
  let timePasses = plan.next() & 1 == 1
  let channel: Channel = plan.next() & 1 == 0 ? .video : .photo
  var limits = LinkLimits()
  limits.firstSequence = first
  let portion = Int(plan.next()) + 1
  var run = Run(ChannelReassembler(channel: channel, limits: limits), channel, first, portion: portion)

  let units = (0..<unitCount).map { number in
    (0..<UnitHead.length(channel) + 1 + Int(plan.next())).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ number) }
  }
  var sent = 0
  while !plan.isEmpty {
    let number = Int(plan.next()) % unitCount
    let unit = units[number]
    let offset = Int(plan.next()) % unit.count
    let length = 1 + Int(plan.next()) % (unit.count - offset)
    run.send(number, Array(unit[offset..<offset + length]), at: offset, of: unit.count)
    sent += 1
    if timePasses, plan.next() & 7 == 0 { run.wait() }
  }
  // Whatever is missing still, in the order of the units.
  for (number, unit) in units.enumerated() { run.send(number, unit, at: 0, of: unit.count) }
  run.wait()
  run.check(against: units, mayLose: timePasses)
  return 0
}

/// The input as a row of decisions; zeros when it is used up.
private struct Plan {
  var bytes: [UInt8]
  var position = 0
  var isEmpty: Bool { position >= bytes.count }
  mutating func next() -> UInt8 {
    defer { position += 1 }
    return isEmpty ? 0 : bytes[position]
  }
}

private struct Run {
  private var reassembler: ChannelReassembler
  private let channel: Channel
  private let first: UInt32
  private let portion: Int
  private var deframer = Deframer()
  private var now = Instant(nanoseconds: 1_000_000_000)
  private var received: [ChannelReassembler.WholeUnit] = []

  init(_ reassembler: ChannelReassembler, _ channel: Channel, _ first: UInt32, portion: Int) {
    self.reassembler = reassembler
    self.channel = channel
    self.first = first
    self.portion = portion
  }

  mutating func send(_ number: Int, _ payload: [UInt8], at offset: Int, of total: Int) {
    var bytes: [UInt8] = []
    ChunkHeader(
      channel: channel.rawValue, payloadLength: UInt16(payload.count), sequence: first &+ UInt32(number),
      offset: UInt32(offset), total: UInt32(total)
    ).append(to: &bytes)
    bytes += payload
    do throws(LinkProtocolError) {
      for start in stride(from: 0, to: bytes.count, by: portion) {
        let input = Array(bytes[start..<min(start + portion, bytes.count)])
        var position = 0
        while let piece = try deframer.next(in: input, from: &position) {
          try reassembler.add(piece, of: input, at: now)
        }
        guard position == input.count else { fatalError("the deframer left bytes") }
      }
    } catch {
      fatalError("honest chunks were refused: \(error)")
    }
    take()
  }

  /// Longer than any patience.
  mutating func wait() {
    now = now + .milliseconds(60)
    do { try reassembler.timeout(at: now) } catch { fatalError("\(error)") }
    take()
  }

  private mutating func take() {
    while let unit = reassembler.nextUnit() { received.append(unit) }
  }

  func check(against units: [[UInt8]], mayLose: Bool) {
    var last = -1
    for unit in received {
      let number = Int(unit.sequence &- first)
      guard units.indices.contains(number), number > last else { fatalError("unit \(number) after \(last)") }
      guard unit.head + unit.body == units[number] else { fatalError("unit \(number) was changed") }
      last = number
    }
    guard received.count + Int(reassembler.lostUnits) == units.count, mayLose || received.count == units.count else {
      fatalError("\(received.count) units and \(reassembler.lostUnits) lost of \(units.count)")
    }
  }
}
