// Any bytes as a media file, of a container that FFmpeg reads: opening and reading end, with units and pictures or with
// an error. The file is in memory and has a path through /proc.

import Glibc
import PortableMedia
import Units

@testable import MediaEngine

/// Glibc's module map hides it (a GNU extension).
@_silgen_name("memfd_create")
private func memoryFile(_ name: UnsafePointer<CChar>, _ flags: UInt32) -> Int32

/// One file for all inputs.
private let descriptor: Int32 = {
  let descriptor = memoryFile("media", 0)
  guard descriptor >= 0 else { fatalError("no file in memory") }
  return descriptor
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzMediaFile(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  guard let start, let mode = UnsafeBufferPointer(start: start, count: count).first else { return 0 }
  guard ftruncate(descriptor, 0) == 0, pwrite(descriptor, start + 1, count - 1, 0) == count - 1 else {
    fatalError("the file can't be written")
  }
  let path = "/proc/self/fd/\(descriptor)"
  if mode & 1 == 0 { readUnits(path) } else { readPictures(path, loops: mode & 2 != 0) }
  return 0
}

private func readUnits(_ path: String) {
  guard let reader = try? AccessUnitReader(path: path) else { return }
  for _ in 0..<64 {
    guard let unit = try? reader.next() else { return }
    _ = unit.bytes.count
  }
}

private func readPictures(_ path: String, loops: Bool) {
  guard let reader = try? VideoFileReader(path: path, loops: loops) else { return }
  var last: Duration?
  for _ in 0..<24 {
    guard let picture = try? reader.next() else { return }
    if let last, picture.stamp <= last, picture.stamp < .nanoseconds(Int64.max) {
      fatalError("stamps do not rise: \(picture.stamp) after \(last)")
    }
    last = picture.stamp
  }
}
