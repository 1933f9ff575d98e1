import Foundation
import LinkProtocol
import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@testable import Glasswing

/// Sound where the picture's size changes, and the recording goes on in a further file; judged by ffprobe.
@Suite("Recording sound in several files")
struct RecordedPartsTests {
  private let small: EncodedClip
  private let large: EncodedClip

  init() throws {
    small = try EncodedClip.small.get()
    large = try EncodedClip.large.get()
  }

  struct Case: Sendable, CustomTestStringConvertible {
    var ending: String
    var audio: RecordingAudio
    var rate: Int
    var channels = 1
    /// How much later than its time sound is there; pictures are by 60 ms.
    var delay = 0.03
    var testDescription: String { "\(audio) in \(ending), \(rate) Hz, \(channels), after \(delay) s" }
  }

  static let cases = [
    Case(ending: "mp4", audio: .aac, rate: 16_000), Case(ending: "mp4", audio: .aac, rate: 8000, delay: 0.3),
    Case(ending: "mp4", audio: .aac, rate: 44_100, channels: 2, delay: 0.3),
    Case(ending: "mp4", audio: .opus, rate: 16_000, delay: 0.1),
    Case(ending: "mp4", audio: .flac, rate: 44_100, delay: 0.3),
    Case(ending: "mov", audio: .aac, rate: 16_000, delay: 0.2),
    Case(ending: "mov", audio: .pcm, rate: 16_000, delay: 0.3),
  ]

  private enum Item {
    case picture(CMSampleBuffer)
    case sound(AVAudioPCMBuffer, Double)
  }

  /// When it arrives, and what it is.
  private typealias Arrival = (moment: Double, item: Item)

  private func pictures(_ clip: EncodedClip, _ numbers: Range<Int>, at start: Double) throws -> [Arrival] {
    try numbers.enumerated().map { place, number in
      let time = start + Double(place) / Double(EncodedClip.frameRate)
      return (time + 0.06, .picture(try clip.sample(number % clip.units.count, at: time)))
    }
  }

  private func sound(
    _ form: Case, from first: Double, to last: Double, leavingOut: Range<Double> = 0..<0
  ) -> [Arrival] {
    RecordedAudioTests.Beeps(format: PCMFormat(sampleRate: form.rate, channels: form.channels))
      .blocks(from: first, to: last, leavingOut: [leavingOut])
      .map { ($0.time + form.delay, .sound($0.buffer, $0.time)) }
  }

  private func recorder(_ form: Case, _ clock: ManualTimekeeper, to path: String? = nil) throws -> Recorder {
    var options = Recorder.Options()
    options.audio = form.audio
    options.audioFormat = RecordingAudioFormat(sampleRate: form.rate, channels: form.channels)
    let path = try path ?? MediaFactory.newPath(form.ending)
    return try Recorder(to: URL(filePath: path), options: options, timekeeper: clock)
  }

  /// Each thing is written before the next arrives.
  private func append(_ arrivals: [Arrival], to recorder: Recorder, _ clock: ManualTimekeeper) throws {
    for (_, item) in arrivals.sorted(by: { $0.moment < $1.moment }) {
      switch item {
      case .picture(let sample): try recorder.append(sample)
      case .sound(let buffer, let time):
        try recorder.append(buffer, at: CMTime(value: Int64((time * 1e9).rounded()), timescale: 1_000_000_000))
      }
      clock.settle()
    }
  }

  private func record(_ arrivals: [Arrival], _ form: Case) async throws -> RecordingSummary {
    let clock = ManualTimekeeper()
    let recorder = try recorder(form, clock)
    try append(arrivals, to: recorder, clock)
    return try await recorder.finish(by: clock)
  }

  /// The tracks of each file, which last equally long and end together.
  @discardableResult
  private func expectTogether(_ summary: RecordingSummary, withHashes: Bool = false) throws -> [TrackTimes] {
    let files = try summary.files.map { try TrackTimes($0.path, withHashes: withHashes) }
    for (number, times) in files.enumerated() {
      let (audio, video) = (times.audio, times.video)
      #expect(audio.isRising && video.isRising)
      #expect(abs(audio.end - video.end) <= 0.05, "file \(number + 1): sound to \(audio.end), pictures to \(video.end)")
      #expect(abs(audio.length - video.length) <= 0.05, "file \(number + 1): \(audio.length) s and \(video.length) s")
    }
    let length = files.reduce(0) { $0 + $1.video.length }
    #expect(abs(summary.statistics.duration.seconds - length) < 0.003)
    return files
  }

  @Test(
    "REC-4, SYNC-3: each file of a recording whose size changes has both tracks within 50 ms, and sound is in one of them",
    arguments: cases)
  func sizeChanges(_ form: Case) async throws {
    // Borders that are no packet's.
    let summary = try await record(
      try pictures(small, 0..<20, at: 100) + pictures(large, 0..<20, at: 100.673) + pictures(small, 0..<20, at: 101.361)
        + sound(form, from: 99.8, to: 102.2), form)
    #expect(summary.files.count == 3)
    let files = try expectTogether(summary, withHashes: true)
    for (earlier, later) in zip(files, files.dropFirst()) {
      let begin = try #require(later.video.stamps.first)
      #expect(abs(earlier.video.end - begin) < 0.001, "the last picture is shown up to the next")
      let first = try #require(later.audio.stamps.first)
      #expect(abs(earlier.audio.end - first) < 0.001 && abs(first - begin) < 0.017, "\(first), \(begin)")
    }
    let statistics = summary.statistics
    #expect(statistics.audioDropped == .zero && statistics.audioFilled <= .milliseconds(20))
    #expect(abs(statistics.audioDuration.seconds - files.reduce(0) { $0 + $1.audio.length }) < 0.003)

    guard form.audio != .pcm else {
      let samples = try summary.files.flatMap { try AudioInspector.samples($0.path, rate: form.rate) }
      let expected = RecordedAudioTests.Beeps(format: PCMFormat(sampleRate: form.rate, channels: 1))
        .blocks(from: 100, to: 102.2).flatMap { $0.buffer.interleavedSamples ?? [] }
      #expect(samples == Array(expected.prefix(samples.count)) && samples.count > 2 * form.rate)
      return
    }
    // The same sound in one file: the same packets, each once.
    let whole = try await record(
      try pictures(small, 0..<20, at: 100) + pictures(small, 0..<20, at: 100.673) + pictures(small, 0..<20, at: 101.361)
        + sound(form, from: 99.8, to: 102.2), form)
    let one = try TrackTimes(try #require(whole.files.first).path, withHashes: true).audio.hashes
    #expect(files.flatMap(\.audio.hashes) == one && one.count > 50)
  }

  @Test(
    "REC-4: a file is complete without the sound that doesn't come: silent to its end, and the sound's return in its place",
    arguments: [cases[0], cases[6]])
  func soundStops(_ form: Case) async throws {
    let clock = ManualTimekeeper()
    let path = try MediaFactory.newPath(form.ending)
    let recorder = try recorder(form, clock, to: path)
    let arrivals =
      try pictures(small, 0..<40, at: 100) + pictures(large, 0..<80, at: 101.343)
      + sound(form, from: 99.5, to: 104.1, leavingOut: 101.005..<102.605)
    let border = 101.343 + 0.5 + 0.12
    try append(arrivals.filter { $0.moment < border }, to: recorder, clock)
    // Half a second after its end, before sound is there again.
    #expect(abs(try TrackTimes(path).audio.end - 1.343) < 0.05)
    try append(arrivals.filter { $0.moment >= border }, to: recorder, clock)
    let summary = try await recorder.finish(by: clock)
    #expect(summary.files.count == 2)
    try expectTogether(summary)
    #expect(abs(summary.statistics.audioFilled.seconds - 1.6) < 0.03, "\(summary.statistics.audioFilled)")
    #expect(summary.statistics.audioDropped == .zero)
    #expect(try AudioInspector.onsets(summary.files[1].path).contains { abs($0 - 3) < 0.002 })
  }

  @Test(
    "REC-4: sound that has not begun by a change of size begins with the pictures of the second file",
    arguments: [cases[0], cases[6]])
  func soundBeginsLate(_ form: Case) async throws {
    let summary = try await record(
      try pictures(small, 0..<40, at: 100) + pictures(large, 0..<40, at: 101.343) + sound(form, from: 102.2, to: 103),
      form)
    let second = try TrackTimes(try #require(summary.files.last).path)
    #expect(abs(try #require(second.audio.stamps.first) - (try #require(second.video.stamps.first))) < 0.017)
    #expect(abs(second.audio.end - second.video.end) <= 0.05)
  }

  @Test(
    "REC-4, SYNC-4: after a pause of both, a further file begins with its pictures, and the pause is in neither",
    arguments: [cases[0], cases[6]])
  func pause(_ form: Case) async throws {
    let clock = ManualTimekeeper()
    let recorder = try recorder(form, clock)
    try append(try pictures(small, 0..<40, at: 100) + sound(form, from: 99.5, to: 101.3), to: recorder, clock)
    clock.advance(by: .seconds(2))
    // The microphone is back before the camera.
    let prompt = Case(ending: form.ending, audio: form.audio, rate: form.rate)
    try append(
      try pictures(large, 0..<40, at: 104) + sound(prompt, from: 103.8, to: 105.5), to: recorder, clock)
    let summary = try await recorder.finish(by: clock)
    let files = try expectTogether(summary)
    #expect(abs(try #require(files.last?.audio.stamps.first) - 4) < 0.017)
    #expect(try AudioInspector.onsets(summary.files[1].path).contains { abs($0 - 5) < 0.002 })
    #expect(abs(summary.statistics.audioOutside.seconds - 0.5 - 0.2 - 0.17) < 0.06)
  }

  @Test("REC-3: sound whose clock has begun anew goes on through a change of size, whole")
  func otherClock() async throws {
    let form = Self.cases[6]
    let blocks = RecordedAudioTests.Beeps(format: PCMFormat(sampleRate: form.rate, channels: 1))
      .blocks(from: 100, to: 102.68)
    // A minute back after half a second.
    let arrivals: [Arrival] = blocks.map {
      ($0.time + form.delay, .sound($0.buffer, $0.time < 100.5 ? $0.time : $0.time - 60))
    }
    let summary = try await record(
      try pictures(small, 0..<40, at: 100) + pictures(large, 0..<40, at: 101.343) + arrivals, form)
    let samples = try summary.files.flatMap { try AudioInspector.samples($0.path, rate: form.rate) }
    #expect(samples == Array(blocks.flatMap { $0.buffer.interleavedSamples ?? [] }.prefix(samples.count)))
    #expect(abs(Double(samples.count) / Double(form.rate) - 2.676) < 0.03)
    #expect(summary.statistics.audioRestarts == 1)
    try expectTogether(summary)
  }
}
