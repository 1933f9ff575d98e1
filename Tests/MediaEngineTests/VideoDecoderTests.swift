import PortableMedia
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite struct VideoDecoderTests {
  @Test(
    "one unit in, its picture out", arguments: [MediaFactory.Kind.hevc, .h264], [VideoDecoder.Output.biPlanar, .planar])
  func noDelay(_ kind: MediaFactory.Kind, _ output: VideoDecoder.Output) throws {
    let stream = try CodedStream(kind)
    let decoder = try VideoDecoder(codec: stream.coding)
    for (number, unit) in stream.units.enumerated() {
      let picture = try #require(try decoder.decode(unit, sets: stream.parameterSets, output: output))
      let wanted =
        output == .biPlanar
        ? kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange : kCVPixelFormatType_420YpCbCr8Planar
      #expect(picture.pixelFormat == wanted)
      #expect(PixelSize(width: picture.pixelWidth, height: picture.pixelHeight) == PixelSize(width: 160, height: 120))
      #expect(abs(luma(picture) - MediaFactory.luma(ofPicture: number)) <= 2)
      #expect(abs(sample(picture, plane: 1, x: 40, y: 30) - 128) <= 2)
    }
  }

  @Test("pictures keep their pixels while later ones are decoded, and memory is used again after them")
  func lifetime() throws {
    let stream = try CodedStream(.hevc)
    let decoder = try VideoDecoder(codec: .hevc)
    var kept: [CVPixelBuffer] = []
    for unit in stream.units { kept.append(try #require(try decoder.decode(unit, sets: stream.parameterSets))) }
    for (number, picture) in kept.enumerated() {
      #expect(abs(luma(picture) - MediaFactory.luma(ofPicture: number)) <= 2)
    }
    let addresses = Set(kept.compactMap { $0.plane(0)?.base })
    #expect(addresses.count == kept.count)
    kept = []
    let next = try #require(try decoder.decode(stream.units[0], sets: stream.parameterSets))
    #expect(addresses.contains(try #require(next.plane(0)?.base)))
  }

  @Test("a lost reference is an error and never a grey picture; a sync unit goes on")
  func lostReference() throws {
    for kind in [MediaFactory.Kind.hevc, .h264] {
      let stream = try CodedStream(kind)
      let decoder = try VideoDecoder(codec: stream.coding)
      for number in 0..<5 { _ = try decoder.decode(stream.units[number], sets: stream.parameterSets) }
      // Unit 5 is lost; the next sync unit is 12.
      expectCause(.damagedPicture) { try decoder.decode(stream.units[6], sets: stream.parameterSets) }
      for number in 7..<12 {
        expectCause(.syncUnitNeeded) { try decoder.decode(stream.units[number], sets: stream.parameterSets) }
      }
      for number in 12..<20 {
        let picture = try #require(try decoder.decode(stream.units[number], sets: stream.parameterSets))
        #expect(abs(luma(picture) - MediaFactory.luma(ofPicture: number)) <= 2)
      }
    }
  }

  @Test("nothing is decoded before a sync unit with parameter sets")
  func beginning() throws {
    let stream = try CodedStream(.hevc)
    let decoder = try VideoDecoder(codec: .hevc)
    expectCause(.syncUnitNeeded) { try decoder.decode(stream.units[1], sets: stream.parameterSets) }
    expectCause(.parameterSetsMissing) { try decoder.decode(stream.units[0], sets: nil) }
    #expect(try decoder.decode(lengthPrefixed(stream.parameterSets) + stream.units[0], sets: nil) != nil)
    #expect(try decoder.decode(stream.units[1], sets: nil) != nil)
    decoder.reset()
    expectCause(.syncUnitNeeded) { try decoder.decode(stream.units[2], sets: nil) }
    #expect(try decoder.decode(stream.units[12], sets: nil) != nil)
  }

  @Test("changed bits are found by the picture's hash, and an intact stream passes")
  func pictureHash() throws {
    let stream = try CodedStream(.hevcHashed)
    let strict = try VideoDecoder(codec: .hevc, verifiesPictureHashes: true)
    for unit in stream.units { #expect(try strict.decode(unit, sets: stream.parameterSets) != nil) }
    for number in 0..<3 { _ = try strict.decode(stream.units[number], sets: stream.parameterSets) }
    var damaged = stream.units[3]
    // In the slice's data, behind its header.
    let slice = try #require(
      damaged.withUnsafeBytes { bytes in
        LengthPrefixedUnits(bytes: bytes).first { VideoCoding.hevc.isSlice(type: bytes[$0.lowerBound] >> 1 & 0x3f) }
      })
    damaged[(slice.lowerBound + slice.upperBound) / 2] ^= 0x10
    expectCause(.damagedPicture) { try strict.decode(damaged, sets: stream.parameterSets) }
    expectCause(.syncUnitNeeded) { try strict.decode(stream.units[4], sets: stream.parameterSets) }
    #expect(try strict.decode(stream.units[12], sets: stream.parameterSets) != nil)
  }

  @Test("a unit whose hash is missing or changed in any bit is refused, though its picture is whole")
  func damagedHash() throws {
    let stream = try CodedStream(.hevcHashed)
    let strict = try VideoDecoder(codec: .hevc, verifiesPictureHashes: true)
    let unit = stream.units[0]
    let hash = try #require(
      unit.withUnsafeBytes { bytes in LengthPrefixedUnits(bytes: bytes).first { bytes[$0.lowerBound] >> 1 & 0x3f == 40 }
      })
    for byte in hash {
      for bit in 0..<8 {
        var damaged = unit
        damaged[byte] ^= 1 << UInt8(bit)
        // Seven values of the temporal layer's number are as good as any other.
        if byte == hash.lowerBound + 1, bit < 3, damaged[byte] != 0 { continue }
        expectCause(.damagedPicture) {
          try strict.decode(damaged, sets: stream.parameterSets)
        }
      }
    }
    let without = Array(unit[..<(hash.lowerBound - LengthPrefixedUnits.prefixLength)]) + unit[hash.upperBound...]
    expectCause(.damagedPicture) { try strict.decode(without, sets: stream.parameterSets) }
    #expect(try VideoDecoder(codec: .hevc).decode(without, sets: stream.parameterSets) != nil)
    #expect(try strict.decode(unit, sets: stream.parameterSets) != nil)
  }

  @Test("streams with B-frames come in order of presentation, the last ones by draining")
  func bFrames() throws {
    for kind in [MediaFactory.Kind.hevcBFrames] {
      let stream = try CodedStream(kind)
      let decoder = try VideoDecoder(codec: stream.coding)
      var pictures: [CVPixelBuffer] = []
      for unit in stream.units {
        if let picture = try decoder.decode(unit, sets: stream.parameterSets) { pictures.append(picture) }
      }
      #expect(pictures.count < stream.units.count)
      pictures += try decoder.drain()
      #expect(pictures.count == stream.units.count)
      for (number, picture) in pictures.enumerated() {
        #expect(abs(luma(picture) - MediaFactory.luma(ofPicture: number)) <= 2)
      }
    }
  }

  @Test("full range is stated by the pixel format")
  func fullRange() throws {
    let stream = try CodedStream(.fullRange)
    let decoder = try VideoDecoder(codec: .h264)
    let picture = try #require(try decoder.decode(stream.units[0], sets: stream.parameterSets))
    #expect(picture.pixelFormat == kCVPixelFormatType_420YpCbCr8BiPlanarFullRange)
    #expect(sample(picture, plane: 0, x: 20, y: 20) > 250)
    // Files always come in limited range.
    let fromFile = try #require(try VideoFileReader(path: MediaFactory.path(.fullRange), loops: false).next()).picture
    #expect(fromFile.pixelFormat == kCVPixelFormatType_420YpCbCr8Planar)
    #expect(abs(sample(fromFile, plane: 0, x: 20, y: 20) - 235) <= 2)
    #expect(abs(sample(fromFile, plane: 0, x: 150, y: 110) - 16) <= 2)
  }

  @Test("cut and changed units are refused or decoded, and never trap")
  func damagedBytes() throws {
    let stream = try CodedStream(.hevc)
    let decoder = try VideoDecoder(codec: .hevc)
    let unit = stream.units[1]
    for count in 0..<unit.count {
      _ = try decoder.decode(stream.units[0], sets: stream.parameterSets)
      expectCause(.malformedData) { try decoder.decode(Array(unit.prefix(count)), sets: nil) }
    }
    for bit in 0..<unit.count * 8 {
      var flipped = unit
      flipped[bit / 8] ^= 0x80 >> UInt8(bit % 8)
      _ = try decoder.decode(stream.units[0], sets: stream.parameterSets)
      _ = try? decoder.decode(flipped, sets: nil)
    }
  }
}

/// A generated file's access units and parameter sets.
struct CodedStream {
  let coding: VideoCoding
  let parameterSets: [[UInt8]]
  let units: [[UInt8]]

  init(_ kind: MediaFactory.Kind) throws {
    let reader = try AccessUnitReader(path: MediaFactory.path(kind))
    coding = reader.coding
    parameterSets = reader.parameterSets
    var units: [[UInt8]] = []
    while let unit = try reader.next() { units.append(unit.bytes) }
    self.units = units
  }
}

extension VideoDecoder {
  func decode(_ unit: [UInt8], sets: [[UInt8]]?, output: Output = .biPlanar) throws -> CVPixelBuffer? {
    try unit.withUnsafeBytes { try decode($0, parameterSets: sets, output: output) }
  }
}
