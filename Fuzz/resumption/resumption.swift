// Joins two ends of a resumable stream by connections that break where the input says, and looks at what comes out: what
// was written, once and in order. At times it brings bytes of the input's own instead, as a hostile peer would: then
// nothing is promised but that neither end traps.

import Units

@testable import LinkProtocol

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzResumption(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var plan = Array(UnsafeBufferPointer(start: start, count: count))[...]
  func next() -> Int { Int(plan.popFirst() ?? 0) }
  guard let token = StreamToken(Array(1...16)) else { return 0 }
  var pair = Pair(server: ResumableStream(token: token))
  pair.connect()
  while !plan.isEmpty, !pair.isOver {
    switch next() % 8 {
    case 0:
      pair.cut()
      pair.connect()
    case 1, 2: pair.writeUp(next() * 3)
    case 3: pair.writeDown(next() * 40)
    case 4 where next() % 4 == 0:
      let bytes = Array(plan.prefix(next()))
      plan = plan.dropFirst(bytes.count)
      pair.attack(bytes)
    case _: pair.carry(next() * 7)
    }
  }
  guard !pair.isOver, !pair.wasAttacked else { return 0 }
  pair.cut()
  pair.connect()
  while !pair.isIdle { pair.carry(.max) }
  precondition(pair.readUp == pair.writtenUp && pair.readDown == pair.writtenDown, "bytes are missing")
  return 0
}

private struct Pair {
  var client = ResumableStream()
  var server: ResumableStream
  var greeting: StreamRecordReader? = StreamRecordReader()
  var toServer: [UInt8] = []
  var toClient: [UInt8] = []
  var writtenUp = 0
  var writtenDown = 0
  var readUp = 0
  var readDown = 0
  var wasAttacked = false

  var isOver: Bool { client.isOver || server.isOver }
  var isIdle: Bool { isOver || (toServer.isEmpty && toClient.isEmpty) }

  /// The byte at a place of either stream.
  static func byte(_ place: Int) -> UInt8 { UInt8(truncatingIfNeeded: place &* 31 ^ place >> 8) }

  mutating func connect() {
    greeting = StreamRecordReader()
    fromClient(client.connected())
  }

  mutating func cut() {
    client.disconnected()
    server.disconnected()
    toServer = []
    toClient = []
  }

  mutating func writeUp(_ count: Int) {
    fromClient(client.write((writtenUp..<writtenUp + count).map(Self.byte)))
    writtenUp += count
  }

  mutating func writeDown(_ count: Int) {
    fromServer(server.write((writtenDown..<writtenDown + count).map(Self.byte)))
    writtenDown += count
  }

  mutating func carry(_ most: Int) {
    let up = Array(toServer.prefix(most))
    toServer.removeFirst(up.count)
    take(up: up)
    let down = Array(toClient.prefix(most))
    toClient.removeFirst(down.count)
    if let outputs = try? client.received(down) { fromClient(outputs) }
  }

  /// Bytes that neither end has sent.
  mutating func attack(_ bytes: [UInt8]) {
    wasAttacked = true
    toServer = []
    toClient = []
    take(up: bytes)
    if let outputs = try? client.received(bytes) { for case .send(let bytes) in outputs { toServer += bytes } }
  }

  private mutating func take(up bytes: [UInt8]) {
    guard var reader = greeting else {
      if let outputs = try? server.received(bytes) { fromServer(outputs) }
      return
    }
    var position = 0
    let item = try? reader.next(in: bytes, from: &position)
    greeting = reader
    guard case .record(.begin(_, let count)) = item else { return }
    greeting = nil
    fromServer(server.connected(received: count, reader: reader))
    if let outputs = try? server.received(Array(bytes[position...])) { fromServer(outputs) }
  }

  private mutating func fromClient(_ outputs: [ResumableStream.Output]) {
    for output in outputs {
      switch output {
      case .send(let bytes): toServer += bytes
      case .deliver(let bytes): check(bytes, at: &readDown)
      case .attached, .refused, .ended: break
      }
    }
  }

  private mutating func fromServer(_ outputs: [ResumableStream.Output]) {
    for output in outputs {
      switch output {
      case .send(let bytes): toClient += bytes
      case .deliver(let bytes): check(bytes, at: &readUp)
      case .attached, .refused, .ended: break
      }
    }
  }

  private func check(_ bytes: [UInt8], at place: inout Int) {
    for byte in bytes {
      precondition(wasAttacked || byte == Self.byte(place), "byte \(place) is not the one that was written")
      place += 1
    }
  }
}
