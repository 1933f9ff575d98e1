// Units of sound that say anything of themselves, through decoder, timeline and resampler: what comes out follows itself
// to the sample, by its times, its positions, and what it says is missing.

import LinkProtocol
import MediaEngine
import Units

private let rates: [UInt32] = [16_000, 44_100, 48_000, 8000, 24_000, 192_000, 12_000, 96_000]

/// The first byte says what is asked for. Then units: what each is (codec, channels, flags, what else follows), its rate,
/// frames, time since the one before, units lost, length and payload.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAudioPath(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = UnsafeBufferPointer(start: start, count: count)[...]
  guard let mode = input.popFirst() else { return 0 }
  let format = PCMFormat(sampleRate: Int(rates[Int(mode & 3) % 3]), channels: mode & 4 == 0 ? 1 : 2)
  var path = AudioPath(format)
  var check = Check(format)
  var time = Instant(nanoseconds: 1_000_000_000)
  var sequence: UInt32 = 0
  while let received = nextUnit(&input, &time, &sequence) {
    var pieces: [AudioPath.Piece] = []
    try? path.take(received, into: &pieces)
    for piece in pieces { check.take(piece) }
    if received.sequence % 16 == 15, mode & 8 != 0 { path.rest() }
  }
  if let piece = path.finish() { check.take(piece) }
  return 0
}

private func nextUnit(
  _ input: inout Slice<UnsafeBufferPointer<UInt8>>, _ time: inout Instant, _ sequence: inout UInt32
) -> ReceivedAudio? {
  guard let kind = input.popFirst(), let rate = input.popFirst(), let frames = input.popFirst(),
    let pace = input.popFirst(), let length = input.popFirst()
  else { return nil }
  let isPCM = kind & 1 != 0
  let channels = kind & 2 == 0 ? 1 : 2
  // As PCM, samples are a pattern of few bytes, so that most inputs are whole.
  let payload: [UInt8]
  if isPCM {
    let samples = Array(input.prefix(8))
    input = input.dropFirst(8)
    let size = (Int(frames) * 8 + 1) * channels * 4
    payload = (0..<size).map { samples.isEmpty ? 0 : samples[$0 % samples.count] }
  } else {
    payload = Array(input.prefix(Int(length)))
    input = input.dropFirst(Int(length))
  }
  // Steps of 20 ms and a jitter; some of seconds, and one of centuries.
  let step = Int64(Int8(bitPattern: pace))
  let passed: Duration =
    switch kind >> 4 {
    case 15: Duration.nanoseconds(Int64.max)
    case 14: .seconds(step)
    case 13: .milliseconds(step)
    default: .milliseconds(20) + .microseconds(step * 100)
    }
  time = max(time + .nanoseconds(1), time + passed)
  sequence &+= 1
  var flags: AudioUnit.Flags = kind & 4 == 0 ? [] : .discontinuity
  if kind >> 4 == 12 { flags.insert(.history) }
  let unit = AudioUnit(
    stream: StreamID(1), flags: flags, codec: isPCM ? .pcmFloat32 : .opus,
    sampleRate: rates[Int(rate & 7)], channels: UInt8(channels), frames: UInt16(frames) * 8 + 1,
    captured: DeviceTime(nanoseconds: time.nanoseconds), payload: payload)
  // What is not plausible goes no further than the link, but is not to hurt here either.
  guard unit.isPlausible || rate & 8 != 0 else { return ReceivedAudio(silence: time, sequence) }
  return ReceivedAudio(
    unit: unit, sequence: sequence, presentation: time, arrived: time, lostBefore: kind & 8 == 0 ? 0 : Int(rate >> 4))
}

extension ReceivedAudio {
  fileprivate init(silence time: Instant, _ sequence: UInt32) {
    self.init(
      unit: AudioUnit(
        stream: StreamID(1), codec: .pcmFloat32, sampleRate: 16_000, channels: 1, frames: 320,
        captured: DeviceTime(nanoseconds: time.nanoseconds), payload: [UInt8](repeating: 0, count: 1280)),
      sequence: sequence, presentation: time, arrived: time, lostBefore: 0)
  }
}

/// What must hold of pieces that follow each other.
private struct Check {
  private let format: PCMFormat
  private var first: Instant?
  private var position: Int64 = 0

  init(_ format: PCMFormat) { self.format = format }

  mutating func take(_ piece: AudioPath.Piece) {
    let frames = piece.samples.count / format.channels
    guard frames > 0, piece.samples.count % format.channels == 0, piece.missing >= 0 else { fatalError("\(piece)") }
    position += Int64(piece.missing)
    guard piece.position == position else { fatalError("at \(piece.position), not \(position)") }
    if let first {
      guard piece.start.nanoseconds == .max || isNear(piece.start - first, format.duration(frames: Int(position)))
      else {
        fatalError("at \(piece.start - first), not \(format.duration(frames: Int(position)))")
      }
    } else {
      // Before it may be missing what a filter took of units before.
      first = piece.start - format.duration(frames: Int(position))
    }
    position += Int64(frames)
  }

  private func isNear(_ a: Duration, _ b: Duration) -> Bool {
    a.nanoseconds.subtractingSaturating(b.nanoseconds).magnitude <= 2
  }
}
