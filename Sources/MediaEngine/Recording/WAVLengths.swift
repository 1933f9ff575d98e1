import Units

/// The lengths in the header of a WAV file (RIFF: of the file, of its data), kept up to date while it grows: with none
/// in it, readers take the file's end for damage.
///
/// They have 32 bits. A file that needs more becomes RF64 (EBU Tech 3306): the place that the header keeps free in
/// front ("JUNK") takes lengths of 64 bits ("ds64"), and those of 32 are all ones.
///
///     0  RIFF | RF64      4  length of what follows | ffffffff      8  WAVE
///     12 JUNK | ds64      16 28
///     20 length of the file less 8      28 length of the data      36 frames      44 0
struct WAVLengths {
  private static let offsetOfLength = 4

  private let file: OutputFile
  private let frameBytes: Int
  /// Where the samples begin; their length stands before them.
  private let dataStart: Int
  private var stated = 0

  /// The header has just been written, with the free place in it.
  init(file: OutputFile, frameBytes: Int) {
    self.file = file
    self.frameBytes = frameBytes
    dataStart = file.writtenBytes
  }

  mutating func update(frames: Int, every step: Int) {
    guard frames - stated >= step else { return }
    stated = frames
    let data = frames.multipliedSaturating(by: frameBytes)
    let whole = data.addingSaturating(dataStart - 8)
    guard whole < Int(UInt32.max) else { return writeLong(whole: whole, data: data, frames: frames) }
    file.overwrite(Self.bytes(UInt32(clamping: data)), at: dataStart - 4)
    file.overwrite(Self.bytes(UInt32(clamping: whole)), at: Self.offsetOfLength)
  }

  private func writeLong(whole: Int, data: Int, frames: Int) {
    let unknown = Self.bytes(UInt32.max)
    file.overwrite(unknown, at: dataStart - 4)
    // In one piece: no reader meets half of it.
    let lengths = [whole, data, frames].flatMap { Self.bytes(UInt64(clamping: $0)) }
    file.overwrite(
      Array("RF64".utf8) + unknown + Array("WAVEds64".utf8) + Self.bytes(UInt32(28)) + lengths + Self.bytes(UInt32(0)),
      at: 0)
  }

  private static func bytes<Value: FixedWidthInteger>(_ value: Value) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian) { Array($0) }
  }
}
