import Foundation
import MediaEncoding
import PortableMedia
import TestSupport
import Testing

@testable import MediaEngine

/// Every reader of outer bytes against bytes that were cut or changed: a value in range or a typed error, and never a
/// trap, a hang, or a decoder that is of no use afterwards.
@Suite struct DamagedBytesTests {
  @Test("damaged access units: the readers of lengths agree on what is whole", arguments: VideoCoding.allCases)
  func lengths(_ coding: VideoCoding) throws {
    let stream = try CodedStream(coding == .hevc ? .hevc : .h264)
    let unit = lengthPrefixed(stream.parameterSets) + (stream.units.min { $0.count < $1.count } ?? [])
    for damaged in DecoderVerifier.damaged(unit) {
      damaged.withUnsafeBytes { bytes in
        let outline = try? AccessUnitOutline(bytes, coding: coding, while: .decoding)
        #expect((outline != nil) == LengthPrefixedUnits(bytes: bytes).isWellFormed)
        for set in outline?.parameterSets ?? [] { #expect(bytes.indices.contains(set.upperBound - 1)) }
      }
    }
  }

  @Test(
    "a decoder gives a picture or a typed error for each damaged unit, and decodes what comes next",
    arguments: VideoCoding.allCases)
  func decoder(_ coding: VideoCoding) throws {
    let stream = try CodedStream(coding == .hevc ? .hevc : .h264)
    let decoder = try VideoDecoder(codec: coding)
    let sync = lengthPrefixed(stream.parameterSets) + stream.units[0]
    for damaged in DecoderVerifier.damaged(sync, limit: 700) {
      let picture = try? decoder.decode(damaged, sets: stream.parameterSets)
      if let picture { #expect(picture.pixelWidth > 0 && picture.pixelHeight > 0) }
      #expect(try decoder.decode(sync, sets: nil) != nil)
    }
  }

  @Test("a damaged image is refused or read, in a size within the limits", arguments: StillFormat.allCases)
  func stills(_ format: StillFormat) throws {
    let picture = try filled(64, 64, luma: 120, cb: 90, cr: 160)
    let bytes =
      switch format {
      case .jpeg: try JPEGEncoder.encode(picture)
      case .png: try PNGCoder.encode(picture)
      case .heic: try HEICEncoder.encode(picture).bytes
      }
    for damaged in DecoderVerifier.damaged(bytes, limit: 600) {
      guard let still = try? StillDecoder.decode(damaged) else { continue }
      #expect(1...StillLimits.maximumSide ~= still.picture.pixelWidth)
      #expect(1...StillLimits.maximumSide ~= still.picture.pixelHeight)
    }
  }

  @Test(
    "a damaged media file is refused in words that name it, or read to its end",
    arguments: [MediaFactory.Kind.hevc, .h264, .rotated90, .widePixels, .transportStream, .vp9])
  func files(_ kind: MediaFactory.Kind) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: MediaFactory.path(kind))))
    let path = try MediaFactory.newPath(URL(fileURLWithPath: try MediaFactory.path(kind)).pathExtension)
    // What a reader decides by stands at the beginning and at the end.
    let edge = min(1500, bytes.count)
    let inputs =
      Array(DecoderVerifier.damaged(bytes, limit: 30))
      + DecoderVerifier.flipped(Array(bytes.prefix(edge)), limit: 30).map { $0 + bytes.dropFirst(edge) }
      + DecoderVerifier.flipped(Array(bytes.suffix(edge)), limit: 30).map { bytes.dropLast(edge) + $0 }
    for damaged in inputs {
      try Data(damaged).write(to: URL(fileURLWithPath: path))
      expectTyped(path) {
        let reader = try AccessUnitReader(path: path)
        while try reader.next() != nil {}
      }
      expectTyped(path) {
        let reader = try VideoFileReader(path: path, loops: true)
        var last: Duration?
        for _ in 0..<40 {
          guard let picture = try reader.next() else { break }
          if let last { #expect(picture.stamp > last) }
          last = picture.stamp
        }
      }
    }
  }

  private func expectTyped(_ path: String, sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Void)
  {
    do {
      try body()
    } catch let error as MediaError {
      #expect(error.description.contains(path), sourceLocation: sourceLocation)
    } catch {
      Issue.record(error, sourceLocation: sourceLocation)
    }
  }
}
