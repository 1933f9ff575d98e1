import Testing

@testable import PortableMedia

@Suite("Parameter sets")
struct ParameterSetTests {
  @Test("Size, chroma and depth of x265's sequence parameter sets", arguments: ParameterSetFixtures.hevc)
  func hevc(fixture: ParameterSetFixtures.Fixture) throws {
    let set = try HEVCSequenceParameterSet(unit: fixture.sequence)
    #expect(set.width == fixture.width && set.height == fixture.height)
    #expect(set.chromaFormat == fixture.chromaFormat)
    #expect(set.lumaBitDepth == fixture.bitDepth && set.chromaBitDepth == fixture.bitDepth)
    #expect(set.temporalLayers == fixture.temporalLayers)
  }

  @Test("Size, chroma and depth of x264's sequence parameter sets", arguments: ParameterSetFixtures.h264)
  func h264(fixture: ParameterSetFixtures.Fixture) throws {
    let set = try H264SequenceParameterSet(unit: fixture.sequence)
    #expect(set.width == fixture.width && set.height == fixture.height)
    #expect(set.chromaFormat == fixture.chromaFormat)
    #expect(set.lumaBitDepth == fixture.bitDepth && set.chromaBitDepth == fixture.bitDepth)
    #expect([set.profile, set.constraints, set.level] == Array(fixture.sequence[1...3]))
  }

  @Test("Lower temporal layers with profiles and levels of their own are skipped")
  func subLayers() throws {
    var writer = BitWriter()
    writer.put(0, bits: 4)
    writer.put(2, bits: 3)
    writer.flag(true)
    for byte in [1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93] as [UInt64] { writer.put(byte, bits: 8) }
    // Layer 0 says profile and level, layer 1 only its level; six pairs of reserved bits follow.
    writer.put(0b11_01, bits: 4)
    writer.put(0, bits: 12)
    writer.put(0xDEAD_BEEF, bits: 64)
    writer.put(0xABCDEF, bits: 24)
    writer.put(60, bits: 8)
    writer.put(63, bits: 8)
    for value in [0, 1, 1920, 1088] as [UInt64] { writer.unsigned(value) }
    writer.flag(true)
    for value in [1, 2, 0, 4, 2, 3] as [UInt64] { writer.unsigned(value) }
    let set = try HEVCSequenceParameterSet(unit: writer.unit(header: [0x42, 0x01]))
    #expect(set.temporalLayers == 3 && set.isTemporallyNested)
    #expect(set.profileTierLevel == [1, 0x60, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 93])
    #expect(set.width == 1920 - 2 * 3 && set.height == 1088 - 2 * 4)
    #expect(set.lumaBitDepth == 10 && set.chromaBitDepth == 11)
  }

  /// A high-profile set up to where the picture order begins.
  private func highProfile(scalingLists: Bool) -> BitWriter {
    var writer = BitWriter()
    for byte in [100, 0, 31] as [UInt64] { writer.put(byte, bits: 8) }
    for value in [0, 1, 0, 0] as [UInt64] { writer.unsigned(value) }
    writer.flag(false)
    writer.flag(scalingLists)
    if scalingLists {
      for list in 0..<8 {
        writer.flag(list % 2 == 0)
        guard list % 2 == 0 else { continue }
        if list == 2 {
          // The first delta leads to a next scale of 0: the list ends at once.
          writer.signed(-8)
        } else {
          for delta in 0..<(list < 6 ? 16 : 64) { writer.signed(delta % 3 - 1) }
        }
      }
    }
    writer.unsigned(0)
    return writer
  }

  private func finish(_ writer: BitWriter) -> [UInt8] {
    var writer = writer
    writer.unsigned(4)
    writer.flag(false)
    writer.unsigned(44)  // 45 blocks: 720
    writer.unsigned(79)  // 80 blocks: 1280
    for flag in [true, true, false, false] { writer.flag(flag) }
    return writer.unit(header: [0x67])
  }

  @Test("Scaling lists are skipped, those that end early too")
  func scalingLists() throws {
    var writer = highProfile(scalingLists: true)
    writer.unsigned(2)
    let set = try H264SequenceParameterSet(unit: finish(writer))
    #expect(set.width == 720 && set.height == 1280)
  }

  @Test("Picture order of type 1 is skipped")
  func pictureOrder() throws {
    var writer = highProfile(scalingLists: false)
    writer.unsigned(1)
    writer.flag(false)
    for value in [-70_000, 12] { writer.signed(value) }
    writer.unsigned(3)
    for value in [5, -6, 7] { writer.signed(value) }
    let set = try H264SequenceParameterSet(unit: finish(writer))
    #expect(set.width == 720 && set.height == 1280)
  }

  @Test("A crop that leaves nothing, and values no standard allows, are refused")
  func outOfRange() {
    func sequence(chroma: UInt64 = 1, width: UInt64 = 64, window: [UInt64] = [], depth: UInt64 = 0) -> [UInt8] {
      var writer = BitWriter()
      writer.put(1, bits: 8)
      for _ in 0..<12 { writer.put(0x5A, bits: 8) }
      for value in [0, chroma] { writer.unsigned(value) }
      if chroma == 3 { writer.flag(false) }
      for value in [width, 64] { writer.unsigned(value) }
      writer.flag(!window.isEmpty)
      for value in window + [depth, 0] { writer.unsigned(value) }
      return writer.unit(header: [0x42, 0x01])
    }
    #expect(throws: Never.self) { try HEVCSequenceParameterSet(unit: sequence()) }
    #expect(throws: BitstreamError.outOfRange("crop")) {
      try HEVCSequenceParameterSet(unit: sequence(window: [16, 16, 0, 0]))
    }
    #expect(throws: BitstreamError.outOfRange("crop")) { try HEVCSequenceParameterSet(unit: sequence(width: 0)) }
    #expect(throws: BitstreamError.outOfRange("conf_win_offset")) {
      try HEVCSequenceParameterSet(unit: sequence(window: [0xFFFF_FFFE, 0, 0, 0]))
    }
    #expect(throws: BitstreamError.outOfRange("chroma_format_idc")) {
      try HEVCSequenceParameterSet(unit: sequence(chroma: 4))
    }
    #expect(throws: BitstreamError.outOfRange("pic_width_in_luma_samples")) {
      try HEVCSequenceParameterSet(unit: sequence(width: 65_536))
    }
    #expect(throws: BitstreamError.outOfRange("bit_depth_luma_minus8")) {
      try HEVCSequenceParameterSet(unit: sequence(depth: 9))
    }
    #expect(throws: BitstreamError.outOfRange("Exp-Golomb code")) {
      try H264SequenceParameterSet(unit: [0x67, 100, 0, 31, 0, 0, 0, 0, 0, 1])
    }
  }

  @Test("Units of another type, layer or forbidden bit are refused")
  func otherUnits() {
    for header in [[0x40, 0x01], [0x44, 0x01], [0x43, 0x01], [0xC2, 0x01], [0x42, 0x09]] as [[UInt8]] {
      let unit = header + ParameterSetFixtures.hevcSets[1].dropFirst(2)
      #expect(throws: BitstreamError.unexpectedUnit) { try HEVCSequenceParameterSet(unit: unit) }
    }
    for header in [0x68, 0xE7] as [UInt8] {
      let unit = [header] + ParameterSetFixtures.h264Sets[0].dropFirst()
      #expect(throws: BitstreamError.unexpectedUnit) { try H264SequenceParameterSet(unit: unit) }
    }
  }
}

@Suite("Configuration records")
struct ConfigurationRecordTests {
  @Test("hvcC is written byte for byte as libavformat does")
  func writesHVCC() throws {
    let record = HEVCConfigurationRecord(parameterSets: ParameterSetFixtures.hevcSets)
    #expect(try record.serialized() == ParameterSetFixtures.hvcC)
  }

  @Test("avcC is written byte for byte as libavformat does")
  func writesAVCC() throws {
    let record = AVCConfigurationRecord(parameterSets: ParameterSetFixtures.h264Sets)
    #expect(try record.serialized() == ParameterSetFixtures.avcC)
  }

  @Test("Records are read back, with what may follow them")
  func reads() throws {
    let hevc = try HEVCConfigurationRecord(parsing: ParameterSetFixtures.hvcC + [1, 2, 3])
    #expect(hevc.parameterSets == ParameterSetFixtures.hevcSets && hevc.lengthSize == 4)
    let avc = try AVCConfigurationRecord(parsing: ParameterSetFixtures.avcC)
    #expect(avc.parameterSets == ParameterSetFixtures.h264Sets && avc.lengthSize == 4)
  }

  @Test("Each length size is kept; three bytes don't exist", arguments: [1, 2, 4])
  func lengthSizes(size: Int) throws {
    let hevc = HEVCConfigurationRecord(parameterSets: ParameterSetFixtures.hevcSets, lengthSize: size)
    #expect(try HEVCConfigurationRecord(parsing: hevc.serialized()) == hevc)
    let avc = AVCConfigurationRecord(parameterSets: ParameterSetFixtures.h264Sets, lengthSize: size)
    #expect(try AVCConfigurationRecord(parsing: avc.serialized()) == avc)
    var three = ParameterSetFixtures.hvcC
    three[21] = three[21] & 0xFC | 2
    #expect(throws: BitstreamError.outOfRange("lengthSizeMinusOne")) { try HEVCConfigurationRecord(parsing: three) }
  }

  @Test("A unit that isn't of its array's type is refused")
  func wrongType() {
    var record = ParameterSetFixtures.hvcC
    record[23] = 0xA1
    #expect(throws: BitstreamError.unexpectedUnit) { try HEVCConfigurationRecord(parsing: record) }
  }

  @Test("Cut anywhere, a record is refused as cut")
  func truncated() {
    for length in 0..<ParameterSetFixtures.hvcC.count {
      #expect(throws: BitstreamError.truncated, "hvcC cut to \(length)") {
        try HEVCConfigurationRecord(parsing: Array(ParameterSetFixtures.hvcC.prefix(length)))
      }
    }
    // The last four bytes of avcC are of a part that isn't read.
    for length in 0..<ParameterSetFixtures.avcC.count - 4 {
      #expect(throws: BitstreamError.truncated, "avcC cut to \(length)") {
        try AVCConfigurationRecord(parsing: Array(ParameterSetFixtures.avcC.prefix(length)))
      }
    }
  }

  @Test("Cut anywhere or with any bit turned, a parameter set gives a value in range or an error, never a trap")
  func damaged() {
    for fixture in ParameterSetFixtures.hevc {
      expectSane(fixture.sequence) { unit in
        (try? HEVCSequenceParameterSet(unit: unit)).map { ($0.width, $0.height) }
      }
    }
    for fixture in ParameterSetFixtures.h264 {
      expectSane(fixture.sequence) { unit in
        (try? H264SequenceParameterSet(unit: unit)).map { ($0.width, $0.height) }
      }
    }
    expectSane(ParameterSetFixtures.hvcC) { bytes in
      (try? HEVCConfigurationRecord(parsing: bytes).sequence()).map { ($0.width, $0.height) }
    }
    expectSane(ParameterSetFixtures.avcC) { bytes in
      (try? AVCConfigurationRecord(parsing: bytes).sequence()).map { ($0.width, $0.height) }
    }
  }

  private func expectSane(_ bytes: [UInt8], size: ([UInt8]) -> (Int, Int)?) {
    var damaged = (0..<bytes.count).map { Array(bytes.prefix($0)) }
    for bit in 0..<bytes.count * 8 {
      var turned = bytes
      turned[bit / 8] ^= 0x80 >> (bit % 8)
      damaged.append(turned)
    }
    for candidate in damaged {
      guard let (width, height) = size(candidate) else { continue }
      #expect((1...65_536).contains(width) && (1...131_072).contains(height))
    }
  }
}
