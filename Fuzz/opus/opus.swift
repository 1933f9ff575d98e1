// Any bytes as Opus packets, one after the other: each decodes, to whole frames of at most 120 ms, all of them numbers,
// or is refused, and the next one is decoded all the same.

import MediaEngine
import Units

/// Kept over all inputs, as nothing of an input may outlast a reset.
private let decoders = [1, 2].map { channels -> OpusDecoder in
  guard let decoder = try? OpusDecoder(PCMFormat(sampleRate: 48_000, channels: channels)) else {
    fatalError("no decoder")
  }
  return decoder
}

/// The first byte says for how many channels; before each packet stands its length, in one byte, two where that is 255.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOpus(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  var input = UnsafeBufferPointer(start: start, count: count)[...]
  guard let mode = input.popFirst() else { return 0 }
  let decoder = decoders[Int(mode & 1)]
  decoder.reset()
  while let first = input.popFirst() {
    let length = first == 255 ? 255 + Int(input.popFirst() ?? 0) : Int(first)
    let packet = Array(input.prefix(length))
    input = input.dropFirst(length)
    guard let samples = try? decoder.decode(packet) else { continue }
    guard samples.count <= 5760 * decoder.format.channels, samples.count % decoder.format.channels == 0 else {
      fatalError("\(samples.count) samples")
    }
    guard samples.allSatisfy(\.isFinite) else { fatalError("not a number") }
  }
  return 0
}
