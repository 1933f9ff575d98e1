import LinkProtocol
import Units

// The first byte says which side listens and how the input is cut; the rest are the peer's bytes, half of the time
// behind a hello, so that what follows it is reached.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzLink(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard let mode = input.first else { return 0 }
  let bytes = Array(input.dropFirst())
  if mode & 0x80 != 0 {
    decodeMessage(bytes, peerIsNewer: mode & 1 != 0)
  } else {
    runEndpoint(bytes, isGlasses: mode & 1 != 0, greets: mode & 2 != 0, isNewer: mode & 4 != 0, cut: Int(mode >> 3))
  }
  return 0
}

/// What decodes must survive its own encoding.
private func decodeMessage(_ bytes: [UInt8], peerIsNewer: Bool) {
  guard let message = try? Message.decode(bytes, peerIsNewer: peerIsNewer) else { return }
  guard let again = try? Message.decode(message.encoded()), again == message else {
    fatalError("\(message) does not decode from its own encoding")
  }
}

private func runEndpoint(_ bytes: [UInt8], isGlasses: Bool, greets: Bool, isNewer: Bool, cut: Int) {
  var now = Instant(nanoseconds: 1_000_000_000)
  var endpoint = LinkEndpoint(hello: hello(isGlasses ? .glasses : .app, minor: 0))
  endpoint.opened(at: now)
  var portions: [[UInt8]] = []
  if greets {
    var peer = LinkEndpoint(hello: hello(isGlasses ? .app : .glasses, minor: isNewer ? 9 : 0))
    peer.opened(at: now)
    if let greeting = peer.nextBytes(atMost: 4096, at: now) { portions.append(greeting) }
  }
  let size = cut == 0 ? max(1, bytes.count) : cut * cut
  portions += stride(from: 0, to: bytes.count, by: size).map { Array(bytes[$0..<min($0 + size, bytes.count)]) }

  var isClosed = false
  var last: [StreamID: Instant] = [:]
  var lastAudio: [StreamID: Instant] = [:]
  func drain() {
    while endpoint.nextBytes(atMost: 512, at: now) != nil {}
    while let event = endpoint.nextEvent() {
      guard !isClosed else { fatalError("\(event) after closed") }
      switch event {
      case .closed: isClosed = true
      case .accessUnit(let unit):
        guard unit.presentation <= unit.arrived, unit.presentation > last[unit.unit.stream] ?? .distantPast else {
          fatalError("presentation \(unit.presentation), arrived \(unit.arrived)")
        }
        last[unit.unit.stream] = unit.presentation
      case .audio(let audio):
        guard audio.presentation <= audio.arrived, audio.presentation > lastAudio[audio.unit.stream] ?? .distantPast
        else { fatalError("audio's presentation \(audio.presentation), arrived \(audio.arrived)") }
        guard audio.unit.isPlausible else { fatalError("\(audio.unit) is not what it says") }
        lastAudio[audio.unit.stream] = audio.presentation
      case .opened, .message, .photoProgress, .photo, .videoDropped, .audioDropped, .silent, .heardAgain,
        .clockRealigned:
        break
      }
    }
  }
  for portion in portions {
    endpoint.received(portion, at: now)
    drain()
    now = now + .milliseconds(7)
    if let deadline = endpoint.nextDeadline, deadline <= now { endpoint.timeout(at: now) }
    drain()
  }
  now = now + .seconds(60)
  endpoint.timeout(at: now)
  endpoint.transportClosed(.peerClosed, at: now)
  drain()
  guard isClosed else { fatalError("never closed") }
}

private func hello(_ role: LinkRole, minor: UInt8) -> Hello {
  var zeros = Zeros()
  return Hello(
    version: ProtocolVersion(major: 1, minor: minor), role: role, capabilities: [], identifier: "f", name: "f",
    softwareVersion: "1", nonce: Nonce(from: &zeros))
}

private struct Zeros: RandomNumberGenerator {
  mutating func next() -> UInt64 { 0 }
}
