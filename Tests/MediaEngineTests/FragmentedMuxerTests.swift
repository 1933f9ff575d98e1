import Foundation
import TestSupport
import Testing
import Units

@testable import MediaEngine

@Suite struct FragmentedMuxerTests {
  typealias Container = FragmentedMuxer.Container

  @Test("REC-2: a recording decodes without a message, with all pictures and its stamps", arguments: Container.allCases)
  func recording(_ container: Container) throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath(container.rawValue)
    let muxer = try clip.muxer(path, container)
    for unit in clip.units(100) { try muxer.append(unit) }
    let summary = try muxer.finish()
    #expect(summary == .init(units: 100, repairedStamps: 0, duration: .seconds(4)))
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.pictureCount(path) == 100)
    #expect(try MediaInspector.duration(path) == 4)
    let stamps = try MediaInspector.stamps(path)
    #expect(stamps.count == 100)
    for (number, stamp) in stamps.enumerated() { #expect(abs(stamp - Double(number) * 0.04) < 0.0001) }
    if container != .mkv { #expect(try MediaInspector.videoField("codec_tag_string", path) == "hvc1") }
    #expect(muxer.file.unsynchronizedBytes == 0)
  }

  @Test(
    "REC-1: what a kill leaves plays without a message, and lacks less than a second", arguments: Container.allCases)
  func partial(_ container: Container) throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath(container.rawValue)
    let muxer = try clip.muxer(path, container)
    // Every moment of a fragment's life: the file is copied as a kill would leave it.
    for (number, unit) in clip.units(60).enumerated() {
      try muxer.append(unit)
      guard number >= 25, number % 7 == 0 else { continue }
      let copy = try MediaFactory.newPath(container.rawValue)
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      #expect(try MediaInspector.complaints(copy) == "")
      let count = try MediaInspector.pictureCount(copy)
      #expect(count >= number - 13, "\(count) of \(number + 1)")
    }
    try muxer.finish()
  }

  @Test(
    "SYNC-3: a gap after a flush is a gap in the file, and what follows keeps its time", arguments: Container.allCases)
  func gapAfterFlush(_ container: Container) throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath(container.rawValue)
    let muxer = try clip.muxer(path, container)
    var expected: [Double] = []
    for (number, unit) in clip.units(60).enumerated() {
      var unit = unit
      let gap = number >= 40 ? 7.5 : number >= 20 ? 3 : 0
      expected.append(Double(number) * 0.04 + gap)
      unit.presentation = unit.presentation.map { $0 + .seconds(gap) }
      if number == 20 || number == 40 { try muxer.flush() }
      try muxer.append(unit)
    }
    let summary = try muxer.finish()
    #expect(summary.repairedStamps == 0)
    let stamps = try MediaInspector.stamps(path)
    #expect(stamps.count == expected.count)
    for (stamp, time) in zip(stamps, expected) { #expect(abs(stamp - time) < 0.001) }
    #expect(abs(try #require(try MediaInspector.duration(path)) - (60 * 0.04 + 7.5)) < 0.001)
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("a flush hands over every unit, and the recording goes on after it", arguments: Container.allCases)
  func flush(_ container: Container) throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath(container.rawValue)
    let muxer = try clip.muxer(path, container)
    let units = clip.units(40)
    for unit in units[..<33] { try muxer.append(unit) }
    try muxer.flush()
    let copy = try MediaFactory.newPath(container.rawValue)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    #expect(try MediaInspector.pictureCount(copy) == 33)
    #expect(try MediaInspector.complaints(copy) == "")
    for unit in units[33...] { try muxer.append(unit) }
    try muxer.finish()
    #expect(try MediaInspector.pictureCount(path) == 40)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.duration(path) == 1.6)
  }

  @Test("units keep their times when the rate varies")
  func variableRate() throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath("mp4")
    let muxer = try clip.muxer(path, .mp4)
    var times: [Double] = []
    var time = Instant(nanoseconds: 5_000_000_000)
    for (number, var unit) in clip.units(50).enumerated() {
      unit.presentation = time
      times.append((time - Instant(nanoseconds: 5_000_000_000)).seconds)
      time = time + .milliseconds(20 + 37 * (number % 5))
      try muxer.append(unit)
    }
    try muxer.finish()
    for (stamp, wanted) in zip(try MediaInspector.stamps(path), times) { #expect(abs(stamp - wanted) < 0.00002) }
    let duration = try #require(try MediaInspector.duration(path))
    let last = try #require(times.last)
    #expect(abs(duration - last - 0.04) < 0.001)
  }

  @Test("REC-3: equal, backward and missing stamps are repaired and counted", arguments: Container.allCases)
  func repairs(_ container: Container) throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath(container.rawValue)
    let muxer = try clip.muxer(path, container)
    for (number, var unit) in clip.units(50).enumerated() {
      switch number {
      case 10: unit.presentation = Instant(nanoseconds: 9 * 40_000_000)
      case 20: unit.presentation = Instant(nanoseconds: 19 * 40_000_000 - 5_000_000)
      case 30: unit.presentation = nil
      default: break
      }
      try muxer.append(unit)
    }
    #expect(try muxer.finish().repairedStamps == 3)
    let stamps = try MediaInspector.stamps(path)
    #expect(stamps.count == 50)
    for (earlier, later) in zip(stamps, stamps.dropFirst()) { #expect(later > earlier) }
    for (number, stamp) in stamps.enumerated() { #expect(abs(stamp - Double(number) * 0.04) <= 0.04) }
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("REC-2: a recording begins with a sync unit or not at all")
  func firstUnit() throws {
    let clip = try Clip(.hevc)
    let muxer = try clip.muxer(try MediaFactory.newPath("mp4"), .mp4)
    let units = clip.units(3)
    expectCause(.firstUnitNotSync) { try muxer.append(units[1]) }
    try muxer.append(units[0])
    try muxer.append(units[1])
    #expect(try muxer.finish().units == 2)
    expectCause(.finished) { try muxer.append(units[2]) }
    expectCause(.finished) { try muxer.finish() }
  }

  @Test("REC-2: parameter sets inside units stay out of samples of type hvc1")
  func inBandSets() throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath("mp4")
    let muxer = try clip.muxer(path, .mp4)
    for var unit in clip.units(25) {
      let isSync = try AccessUnitOutline(bytes: unit.bytes).isSync
      if isSync { unit.bytes = lengthPrefixed(clip.parameterSets) + unit.bytes }
      try muxer.append(unit)
    }
    try muxer.finish()
    #expect(try MediaInspector.complaints(path) == "")
    let reader = try AccessUnitReader(path: path)
    #expect(Set(reader.parameterSets) == Set(clip.parameterSets))
    var units: [[UInt8]] = []
    while let unit = try reader.next() { units.append(unit.bytes) }
    #expect(units == clip.units(25).map(\.bytes))
  }

  @Test("new parameter sets end an MP4 or MOV before anything is written, and go on in a Matroska file")
  func changedSets() throws {
    let clip = try Clip(.hevc)
    let other = try Clip(.hevcBFrames)
    #expect(Set(clip.parameterSets) != Set(other.parameterSets))
    for container in [Container.mp4, .mov] {
      let muxer = try clip.muxer(try MediaFactory.newPath(container.rawValue), container)
      for unit in clip.units(10) { try muxer.append(unit) }
      expectCause(.parameterSetsChanged) {
        try muxer.append(other.units(1)[0], parameterSets: other.parameterSets)
      }
      #expect(try muxer.finish().units == 10)
    }
    let path = try MediaFactory.newPath("mkv")
    let muxer = try clip.muxer(path, .mkv)
    for unit in clip.units(12) { try muxer.append(unit) }
    var unit = other.units(1)[0]
    unit.presentation = Instant(nanoseconds: 12 * 40_000_000)
    try muxer.append(unit, parameterSets: other.parameterSets)
    try muxer.finish()
    #expect(try MediaInspector.pictureCount(path) == 13)
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("a file with B-frames is recorded in its own order")
  func bFrames() throws {
    let reader = try AccessUnitReader(path: MediaFactory.path(.hevcBFrames))
    let path = try MediaFactory.newPath("mp4")
    let configuration = try HEVCConfiguration(parameterSets: reader.parameterSets)
    let muxer = try FragmentedMuxer(
      path: path, container: .mp4, video: .init(configuration: configuration, frameInterval: .milliseconds(40)))
    while let unit = try reader.next() {
      try unit.bytes.withUnsafeBytes {
        try muxer.append(
          $0, presentation: Instant(nanoseconds: unit.presentation.nanoseconds),
          decoding: Instant(nanoseconds: unit.decoding.nanoseconds))
      }
    }
    #expect(try muxer.finish().repairedStamps == 0)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.pictureCount(path) == 50)
    let copied = try VideoFileReader(path: path, loops: false)
    for number in 0..<50 {
      let picture = try #require(try copied.next())
      #expect(abs(luma(picture.picture) - MediaFactory.luma(ofPicture: number)) <= 2)
    }
  }

  @Test("a path that can't be written and a device without space are named")
  func failures() throws {
    let clip = try Clip(.hevc)
    expectCause(.fileNotWritable) { try clip.muxer("/nowhere/at/all.mp4", .mp4) }
    // By way of a link: whoever clears away a failed output removes that, and not the device.
    let full = try MediaFactory.newPath("mp4")
    try FileManager.default.createSymbolicLink(atPath: full, withDestinationPath: "/dev/full")
    expectCause(.storageFull) { try clip.muxer(full, .mp4) }
  }

  @Test(
    "REC-1: a device that fills up leaves whole fragments, which play without a message", arguments: Container.allCases)
  func fullDevice(_ container: Container) throws {
    let clip = try Clip(.hevc)
    let whole = try MediaFactory.newPath(container.rawValue)
    let complete = try clip.muxer(whole, container)
    for unit in clip.units(100) { try complete.append(unit) }
    try complete.finish()
    // In the second half of the file, so that fragments stand before it: in the trailer, in fragments, in their headers.
    let size = try Data(contentsOf: URL(fileURLWithPath: whole)).count
    for capacity in stride(from: size - 1, to: size / 2, by: -max(1, size / 23)) {
      let path = try MediaFactory.newPath(container.rawValue)
      let configuration = try HEVCConfiguration(parameterSets: clip.parameterSets)
      let file = try OutputFile(path: path, capacity: capacity)
      let muxer = try FragmentedMuxer(
        file: file, container: container, video: .init(configuration: configuration, frameInterval: .milliseconds(40)))
      expectCause(.storageFull) {
        for unit in clip.units(100) { try muxer.append(unit) }
        try muxer.finish()
      }
      #expect(try MediaInspector.complaints(path) == "", "at \(capacity) of \(size)")
      #expect(try MediaInspector.pictureCount(path) >= 24)
    }
  }

  @Test("malformed units are refused and do no harm")
  func malformed() throws {
    let clip = try Clip(.hevc)
    let path = try MediaFactory.newPath("mp4")
    let muxer = try clip.muxer(path, .mp4)
    let units = clip.units(10)
    for unit in units {
      try muxer.append(unit)
      for count in [0, 3, 4, 5, unit.bytes.count - 1] {
        var cut = unit
        cut.bytes = Array(unit.bytes.prefix(count))
        expectCause(.malformedData) { try muxer.append(cut) }
      }
    }
    try muxer.finish()
    #expect(try MediaInspector.pictureCount(path) == 10)
  }
}

/// The units of a generated HEVC file, repeated as long as wanted, 25 a second.
struct Clip {
  struct Unit {
    var bytes: [UInt8]
    var presentation: Instant?
  }

  let parameterSets: [[UInt8]]
  private let round: [[UInt8]]

  init(_ kind: MediaFactory.Kind) throws {
    let reader = try AccessUnitReader(path: MediaFactory.path(kind))
    parameterSets = reader.parameterSets
    var round: [[UInt8]] = []
    while let unit = try reader.next() { round.append(unit.bytes) }
    self.round = round
  }

  func units(_ count: Int) -> [Unit] {
    (0..<count).map {
      Unit(bytes: round[$0 % round.count], presentation: Instant(nanoseconds: Int64($0) * 40_000_000))
    }
  }

  func muxer(_ path: String, _ container: FragmentedMuxer.Container) throws -> FragmentedMuxer {
    let configuration = try HEVCConfiguration(parameterSets: parameterSets)
    return try FragmentedMuxer(
      path: path, container: container, video: .init(configuration: configuration, frameInterval: .milliseconds(40)))
  }
}

extension FragmentedMuxer {
  func append(_ unit: Clip.Unit, parameterSets: [[UInt8]]? = nil) throws {
    try unit.bytes.withUnsafeBytes {
      try append($0, presentation: unit.presentation, parameterSets: parameterSets)
    }
  }
}

extension AccessUnitOutline {
  init(bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBytes { try AccessUnitOutline($0, coding: .hevc, while: .reading) }
  }
}

/// NAL units behind 4-byte lengths.
func lengthPrefixed(_ units: [[UInt8]]) -> [UInt8] {
  units.flatMap { unit in withUnsafeBytes(of: UInt32(unit.count).bigEndian) { Array($0) } + unit }
}
