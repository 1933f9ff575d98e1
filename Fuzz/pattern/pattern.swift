// Reads the test pattern from any picture: bytes as they come, with a geometry that the input chooses, honest or not;
// and from one that was painted and then damaged, where what is read must be right or nothing.

import Units

private let header = 12

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzPattern(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let input = Array(UnsafeBufferPointer(start: start, count: count))
  guard input.count >= header else { return 0 }
  func short(_ index: Int) -> Int { Int(input[index]) << 8 | Int(input[index + 1]) }
  if input[0] & 1 == 0 {
    let size = PixelSize(width: short(2) - 4, height: short(4) - 4)
    let pixel = Int(input[6]) % 20 - 1
    let row = input[7] & 1 == 0 ? size.width * pixel + Int(input[8]) : short(8) - 100
    input[header...].withUnsafeBufferPointer { bytes in
      _ = PatternReader.read(
        bytes, first: Int(input[10]) % 20 - 1, bytesPerPixel: pixel, bytesPerRow: row, size: size)
    }
  } else {
    damagePainted(input[header...], size: PixelSize(width: 64 + short(2) % 200, height: 64 + short(4) % 200))
  }
  return 0
}

private func damagePainted(_ damage: ArraySlice<UInt8>, size: PixelSize) {
  let mark = PatternMark(frameNumber: UInt32(damage.count) &* 2_654_435_761, milliseconds: UInt32(size.width) * 977)
  let half = (width: (size.width + 1) / 2, height: (size.height + 1) / 2)
  var luma = [UInt8](repeating: 0, count: size.width * size.height)
  var chroma = [UInt8](repeating: 0, count: half.width * half.height * 2)
  luma.withUnsafeMutableBufferPointer { luma in
    chroma.withUnsafeMutableBufferPointer { chroma in
      guard let y = luma.baseAddress, let c = chroma.baseAddress else { return }
      let count = half.width * half.height
      let canvas = PatternCanvas(
        luma: .init(base: y, stride: size.width, width: size.width, height: size.height),
        cb: .init(base: c, stride: half.width, width: half.width, height: half.height),
        cr: .init(base: c + count, stride: half.width, width: half.width, height: half.height))
      let painter = PatternPainter(size: size)
      painter.paintBackground(on: canvas)
      painter.paint(mark, on: canvas)
    }
  }
  func reading() -> PatternReader.Reading? {
    luma.withUnsafeBufferPointer { PatternReader.read($0, bytesPerRow: size.width, size: size) }
  }
  guard reading()?.mark == mark else { fatalError("a painted pattern of \(size) is not read") }
  // Three bytes each: where, as a part of the picture, and what. A checksum of 16 bits can be met by many changes, but
  // not by as few as these.
  for place in stride(from: damage.startIndex, to: min(damage.endIndex - 2, damage.startIndex + 9), by: 3) {
    let position = (Int(damage[place]) << 8 | Int(damage[place + 1])) * luma.count >> 16
    luma[position] = damage[place + 2]
  }
  if let read = reading(), read.mark != mark { fatalError("\(read.mark) was read where \(mark) was painted") }
}
