import Foundation
import TestSupport

/// A WAV file of 32-bit floating point samples in the temporary folder (RIFF, format 3: IEEE float).
enum WAVFile {
  /// - Parameter channels: the samples of each, all of one length.
  static func write(_ channels: [[Float]], sampleRate: Int) throws -> URL {
    let samples = SineTone.interleaved(channels)
    var bytes = Data()
    func number<Value: FixedWidthInteger>(_ value: Value) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    func text(_ text: String) { bytes.append(contentsOf: Array(text.utf8)) }
    let dataLength = UInt32(samples.count * 4)
    text("RIFF")
    number(36 + dataLength)
    text("WAVEfmt ")
    number(UInt32(16))
    number(UInt16(3))
    number(UInt16(channels.count))
    number(UInt32(sampleRate))
    number(UInt32(sampleRate * channels.count * 4))
    number(UInt16(channels.count * 4))
    number(UInt16(32))
    text("data")
    number(dataLength)
    samples.map(\.bitPattern.littleEndian).withUnsafeBytes { bytes.append(contentsOf: $0) }
    let url = URL(fileURLWithPath: try MediaFactory.newPath("wav"))
    try bytes.write(to: url)
    return url
  }
}
