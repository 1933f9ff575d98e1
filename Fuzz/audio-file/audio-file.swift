// Any bytes as a file with sound, of a container and codec that FFmpeg reads: opening and reading end, with samples or
// with an error; as many samples come as were asked for, from wherever. The file is in memory and has a path through
// /proc.

import Glibc
import MediaEngine
import Units

/// Glibc's module map hides it (a GNU extension).
@_silgen_name("memfd_create")
private func memoryFile(_ name: UnsafePointer<CChar>, _ flags: UInt32) -> Int32

/// One file for all inputs.
private let descriptor: Int32 = {
  let descriptor = memoryFile("sound", 0)
  guard descriptor >= 0 else { fatalError("no file in memory") }
  return descriptor
}()

private let rates = [16_000, 44_100, 48_000, 8000]

/// The first byte says what is asked for: rate, channels, and where reading begins.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzAudioFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, let mode = UnsafeBufferPointer(start: start, count: count).first else { return 0 }
  guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, start + 1, count - 1, 0) == count - 1 else {
    fatalError("the file can't be written")
  }
  let format = PCMFormat(sampleRate: rates[Int(mode & 3)], channels: mode & 4 == 0 ? 1 : 2)
  guard let reader = try? AudioFileReader(path: "/proc/self/fd/\(descriptor)", format: format) else { return 0 }
  let end = reader.description.duration ?? .seconds(1)
  let places: [Duration] =
    switch mode >> 3 & 3 {
    case 0: [.zero, .milliseconds(20), .milliseconds(40), .milliseconds(-7)]
    case 1: [reader.description.start, end, end - .milliseconds(30), .zero]
    case 2: [.seconds(3600), .milliseconds(500), .seconds(7), .milliseconds(490)]
    default: [.nanoseconds(Int64.max), .nanoseconds(Int64.min), .seconds(200_000_000), .milliseconds(1)]
    }
  for place in places {
    guard let samples = try? reader.read(from: place, frames: 700) else { continue }
    guard samples.count == 700 * format.channels else { fatalError("\(samples.count) samples") }
  }
  return 0
}
