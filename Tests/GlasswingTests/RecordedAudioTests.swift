import Foundation
import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@testable import Glasswing

/// Files with made-up sound beside made-up pictures, judged by ffmpeg and ffprobe.
@Suite("Recording sound")
struct RecordedAudioTests {
  private let clip: EncodedClip

  init() throws { clip = try EncodedClip.small.get() }

  struct Form: Sendable, CustomTestStringConvertible {
    var container: RecordingContainer
    var audio: RecordingAudio
    var codec: String
    var testDescription: String { "\(audio) in \(container)" }
  }

  static let forms = [
    Form(container: .mp4, audio: .automatic, codec: "aac"), Form(container: .mp4, audio: .opus, codec: "opus"),
    Form(container: .mp4, audio: .flac, codec: "flac"), Form(container: .mov, audio: .automatic, codec: "aac"),
    Form(container: .mov, audio: .pcm, codec: "pcm_f32le"), Form(container: .mkv, audio: .automatic, codec: "opus"),
    Form(container: .mkv, audio: .aac, codec: "aac"), Form(container: .mkv, audio: .pcm, codec: "pcm_f32le"),
    Form(container: .mkv, audio: .flac, codec: "flac"),
  ]

  /// Sound of a quiet tone with a beep of 100 ms in each second, as frames of 20 ms.
  struct Beeps {
    private static let start = 100.0
    /// One second of it, which repeats.
    private let second: [AVAudioPCMBuffer]

    init(format: PCMFormat = PCMFormat(sampleRate: 48_000, channels: 1)) {
      let rate = format.sampleRate
      var samples = SineTone.samples(frequency: 440, level: 0.01, sampleRate: rate, count: rate)
      let beep = SineTone.samples(frequency: 1000, level: 0.25, sampleRate: rate, count: rate / 10)
      for (index, sample) in beep.enumerated() { samples[index] += sample }
      second = stride(from: 0, to: rate, by: rate / 50).compactMap { first in
        let block = Array(samples[first..<first + rate / 50])
        return AVAudioPCMBuffer(
          sampleRate: rate, channels: format.channels,
          interleaved: SineTone.interleaved(Array(repeating: block, count: format.channels)))
      }
    }

    /// - Parameters:
    ///   - seconds: of the presentation's time.
    ///   - leavingOut: stretches of it that are lost.
    func blocks(
      from first: Double, to last: Double, leavingOut: [Range<Double>] = []
    ) -> [(buffer: AVAudioPCMBuffer, time: Double)] {
      (0..<Int(((last - first) * 50).rounded())).compactMap { number in
        let time = first + Double(number) / 50
        guard !leavingOut.contains(where: { $0.contains(time) }) else { return nil }
        let index = Int(((time - Self.start) * 50).rounded()) % 50
        return (second[index < 0 ? index + 50 : index], time)
      }
    }
  }

  enum Item {
    case picture(CMSampleBuffer)
    case sound(AVAudioPCMBuffer, Double)
  }

  private func append(_ items: [(Double, Item)], to recorder: Recorder) throws {
    for (_, item) in items.sorted(by: { $0.0 < $1.0 }) {
      switch item {
      case .picture(let sample): try recorder.append(sample)
      case .sound(let buffer, let time):
        try recorder.append(buffer, at: CMTime(value: Int64((time * 1e9).rounded()), timescale: 1_000_000_000))
      }
    }
  }

  /// Pictures arrive 60 ms, sound 30 ms after their time.
  private func pictures(from start: Double = 100, rounds: Int = 1) throws -> [(Double, Item)] {
    try (0..<rounds).flatMap { round in
      try clip.samples(from: start + 3 * Double(round)).map { sample in
        (CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(sample)) + 0.06, Item.picture(sample))
      }
    }
  }

  private func sound(
    _ beeps: Beeps, from first: Double, to last: Double, leavingOut: [Range<Double>] = [], late: Double = 0.03
  ) -> [(Double, Item)] {
    beeps.blocks(from: first, to: last, leavingOut: leavingOut).map { ($0.time + late, .sound($0.buffer, $0.time)) }
  }

  private func record(
    _ items: [(Double, Item)], _ form: Form, _ change: (inout Recorder.Options) -> Void = { _ in }
  ) async throws -> RecordingSummary {
    var options = Recorder.Options()
    options.audio = form.audio
    change(&options)
    let recorder = try Recorder(
      to: URL(filePath: MediaFactory.newPath(form.container.rawValue)), options: options)
    try append(items, to: recorder)
    return try await recorder.finish()
  }

  @Test(
    "REC-2, SYNC-3: sound beside pictures decodes without a message, and both tracks begin and end together",
    arguments: forms,
    [
      PCMFormat(sampleRate: 48_000, channels: 2), PCMFormat(sampleRate: 44_100, channels: 1),
      PCMFormat(sampleRate: 16_000, channels: 1),
    ])
  func beside(_ form: Form, _ format: PCMFormat) async throws {
    // What the stream's end leaves: sound for longer than pictures, or a little less.
    let last = format.sampleRate == 44_100 ? 102.93 : 103.5
    let summary = try await record(try pictures() + sound(Beeps(format: format), from: 99, to: last), form)
    let path = try #require(summary.files.first).path
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try AudioInspector.field("codec_name", path) == form.codec)
    let times = try TrackTimes(path)
    #expect(times.video.stamps.count == 90 && times.video.stamps.first == 0)
    #expect(abs(times.video.end - 3) < 0.002)
    #expect(times.audio.isRising)
    #expect(abs(try #require(times.audio.stamps.first)) <= 0.001)
    #expect(abs(times.audio.end - times.video.end) <= 0.05, "sound ends at \(times.audio.end) s")
    let decoded = try AudioInspector.decodedSpan(path)
    #expect(abs(decoded.start) <= 0.001)
    #expect(abs(decoded.end - times.video.end) <= 0.05, "decoded, sound ends at \(decoded.end) s")
    let onsets = try AudioInspector.onsets(path)
    for second in 1...2 { #expect(onsets.contains { abs($0 - Double(second)) < 0.002 }, "\(onsets)") }
    let statistics = summary.statistics
    #expect(statistics.audioDropped == .zero && statistics.audioRestarts == 0)
    // One second before the first picture, and up to half of one after the last.
    #expect(abs(statistics.audioOutside.seconds - (last > 103 ? 1.5 : 1)) < 0.07)
    #expect(statistics.audioFilled <= .milliseconds(40))
    #expect(abs(statistics.audioDuration.seconds - times.audio.length) < 0.002)
    #expect(abs(statistics.duration.seconds - times.video.length) < 0.002)
  }

  @Test("Samples stay as they are in PCM and FLAC", arguments: [forms[4], forms[7], forms[8], forms[2]])
  func exact(_ form: Form) async throws {
    let beeps = Beeps()
    let summary = try await record(try pictures() + sound(beeps, from: 100, to: 103), form)
    let path = try #require(summary.files.first).path
    let samples = try AudioInspector.samples(path, rate: 48_000)
    let expected = beeps.blocks(from: 100, to: 103).flatMap { $0.buffer.interleavedSamples ?? [] }
    #expect(abs(samples.count - expected.count) <= 4096)
    let tolerance: Float = form.codec == "flac" ? 0x1p-23 : 0
    #expect(zip(samples, expected).allSatisfy { abs($0 - $1) <= tolerance })
  }

  @Test(
    "REC-4: sound that never comes, comes late or stops early costs nothing but itself",
    arguments: forms.filter { $0.audio == .automatic }, ["never", "late", "early"])
  func partial(_ form: Form, _ when: String) async throws {
    let spans = ["never": 0.0..<0.0, "late": 101.5..<103.0, "early": 100.0..<101.0]
    let span = try #require(spans[when])
    let summary = try await record(
      try pictures() + sound(Beeps(), from: span.lowerBound, to: span.upperBound), form
    ) { $0.audioFormat = RecordingAudioFormat(sampleRate: 48_000, channels: 1) }
    let path = try #require(summary.files.first).path
    #expect(try MediaInspector.complaints(path) == "")
    let stamps = try MediaInspector.stamps(path)
    #expect(stamps.count == 90)
    #expect(stamps.enumerated().allSatisfy { abs($1 - Double($0) / 30) < 0.001 }, "\(stamps)")
    #expect(abs(try #require(try MediaInspector.duration(path)) - 3) < 0.034)
    let audioStamps = try AudioInspector.stamps(path)
    switch when {
    case "never": #expect(audioStamps.isEmpty)
    case "late":
      #expect(try #require(audioStamps.first) < 0.022)
      #expect(abs(summary.statistics.audioFilled.seconds - 1.5) < 0.03)
      #expect(try AudioInspector.onsets(path).contains { abs($0 - 2) < 0.002 })
    case _:
      // Silence from where it stopped, so that both tracks end together.
      #expect(abs(summary.statistics.audioFilled.seconds - 2) < 0.05)
      let times = try TrackTimes(path)
      #expect(abs(times.audio.end - times.video.end) <= 0.05)
      #expect(try AudioInspector.onsets(path).filter { $0 > 1.2 } == [])
    }
  }

  @Test(
    "SYNC-4: what is missing is silent up to 10 s, and a gap beyond; what follows is where it belongs",
    arguments: forms, [0.3, 12.0])
  func gaps(_ form: Form, _ length: Double) async throws {
    let rounds = length > 5 ? 7 : 3
    let end = 100 + 3 * Double(rounds)
    let gap = 102.5..<(102.5 + length)
    let summary = try await record(
      try pictures(rounds: rounds) + sound(Beeps(), from: 100, to: end, leavingOut: [gap]), form)
    let path = try #require(summary.files.first).path
    #expect(try MediaInspector.complaints(path) == "")
    let stamps = try AudioInspector.stamps(path)
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    let widest = zip(stamps, stamps.dropFirst()).map { $1 - $0 }.max() ?? 0
    let isKept = length > 10 && form.container != .mov || length > 10 && form.codec == "aac"
    #expect(isKept ? abs(widest - length) < 0.2 : widest < 0.1, "\(widest)")
    let filled = summary.statistics.audioFilled.seconds
    #expect(isKept ? filled < 0.3 : abs(filled - length) < 0.03)
    let onsets = try AudioInspector.onsets(path)
    for second in [1, 2, 3 + Int(length.rounded(.up)), 3 * rounds - 1] {
      #expect(onsets.contains { abs($0 - Double(second)) < 0.002 }, "\(second) in \(onsets)")
    }
    #expect(abs(try AudioInspector.decodedSpan(path).end - 3 * Double(rounds)) < 0.05)
  }

  @Test(
    "SYNC-2: sound follows its presentation times over 30 minutes of clocks that differ", arguments: [300.0, -300])
  func drift(_ skew: Double) async throws {
    // Packets alone: what is in the file is judged by their stamps.
    var track = AudioTrackWriter(
      encoder: try AudioEncoder(.pcm16, PCMFormat(sampleRate: 16_000, channels: 1)), fillsAllGaps: false)
    let samples = [Float](repeating: 0, count: 1600)
    let step = 0.1 / (1 + skew / 1e6)
    var packets: [AudioTrackWriter.Packet] = []
    for number in 0..<18_000 {
      let time = Instant(nanoseconds: Int64(Double(number) * step * 1e9))
      try track.append(samples, of: track.encoder.input, at: time)
      while let coded = try track.code() { packets += coded }
    }
    try track.finish()
    while let coded = try track.code() { packets += coded }
    #expect(packets.count == 90_000)
    for (number, packet) in packets.enumerated() {
      let ideal = Double(number) * step / 5
      let stamp = Double(packet.presentation.nanoseconds) / 1e9
      guard abs(stamp - ideal) > 0.003 else { continue }
      Issue.record("packet \(number) at \(stamp) s instead of \(ideal) s")
      break
    }
    #expect(zip(packets, packets.dropFirst()).allSatisfy { $0.presentation < $1.presentation })
    #expect(track.counts.filled == 0)
    #expect(track.counts.overlapping == 0)
  }

  @Test("REC-4: a change of size goes on in NAME-002 with the sound", arguments: [forms[0], forms[4]])
  func sizeChange(_ form: Form) async throws {
    let large = try EncodedClip.large.get()
    let tail = try large.samples(from: 103).map { sample in
      (CMTimeGetSeconds(CMSampleBufferGetPresentationTimeStamp(sample)) + 0.06, Item.picture(sample))
    }
    let summary = try await record(
      try pictures() + tail + sound(Beeps(), from: 99.5, to: 105), form)
    let paths = summary.files.map(\.path)
    #expect(paths.count == 2)
    for path in paths { #expect(try MediaInspector.complaints(path) == "") }
    let stamps = try paths.flatMap { try AudioInspector.stamps($0) }
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    let widest = zip(stamps, stamps.dropFirst()).map { $1 - $0 }.max() ?? 0
    #expect(widest < 0.025, "no packet is lost between the files")
    #expect(abs(try #require(try AudioInspector.stamps(paths[1]).first) - 3) < 0.04)
    #expect(try AudioInspector.onsets(paths[1]).contains { abs($0 - 4) < 0.002 })
    #expect(abs(summary.statistics.audioDuration.seconds - 4.5) < 0.06)
  }

  @Test(
    "REC-1: what a kill leaves has pictures and sound up to a second before",
    arguments: forms.filter { $0.audio == .automatic })
  func kill(_ form: Form) async throws {
    var options = Recorder.Options()
    options.audio = form.audio
    let path = try MediaFactory.newPath(form.container.rawValue)
    let recorder = try Recorder(to: URL(filePath: path), options: options)
    let items = try (pictures(rounds: 2) + sound(Beeps(), from: 99.5, to: 106)).sorted { $0.0 < $1.0 }
    for moment in [102.3, 103.9, 105.2] {
      let part = items.filter { $0.0 < moment && $0.0 >= (moment == 102.3 ? 0 : moment == 103.9 ? 102.3 : 103.9) }
      try append(part, to: recorder)
      // All that was appended is written when the statistics say so.
      let count = items.filter { if case .picture = $0.1 { $0.0 < moment } else { false } }.count
      while recorder.statistics.framesWritten < count { await Task.yield() }
      let copy = try MediaFactory.newPath(form.container.rawValue)
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      #expect(try MediaInspector.complaints(copy) == "")
      let lastPicture = try #require(try MediaInspector.stamps(copy).last)
      let lastAudio = try #require(try AudioInspector.stamps(copy).last)
      #expect(moment - 100 - lastPicture < 1.2, "\(lastPicture) at \(moment)")
      #expect(moment - 100 - lastAudio < 1.2, "\(lastAudio) at \(moment)")
    }
    _ = try await recorder.finish()
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test(
    "Sound alone: WAV bit for bit and FLAC to 24 bits, with silence where some is missing", arguments: ["wav", "flac"])
  func alone(_ ending: String) async throws {
    let path = try MediaFactory.newPath(ending)
    let recorder = try Recorder(to: URL(filePath: path))
    let beeps = Beeps(format: PCMFormat(sampleRate: 44_100, channels: 2))
    try append(sound(beeps, from: 100, to: 103, leavingOut: [101.2..<101.6]), to: recorder)
    let summary = try await recorder.finish()
    #expect(summary.files.map(\.path) == [path])
    #expect(summary.firstFrameNanoseconds == 100_000_000_000)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(abs(try #require(try MediaInspector.duration(path)) - 3) < 0.001)
    let samples = try AudioInspector.samples(path, rate: 44_100, channels: 2)
    var expected = beeps.blocks(from: 100, to: 103).flatMap { $0.buffer.interleavedSamples ?? [] }
    let missing = beeps.blocks(from: 100, to: 103).filter { 101.2..<101.6 ~= $0.time }
    let from = Int(((try #require(missing.first).time - 100) * 44_100).rounded()) * 2
    for index in from..<(from + missing.count * 882 * 2) { expected[index] = 0 }
    #expect(samples.count == expected.count)
    let tolerance: Float = ending == "flac" ? 0x1p-23 : 0
    #expect(zip(samples, expected).allSatisfy { abs($0 - $1) <= tolerance })
    #expect(abs(summary.statistics.audioFilled.seconds - 0.4) < 0.021)
    #expect(abs(summary.statistics.duration.seconds - 3) < 0.001)
  }

  @Test("REC-1: sound alone plays wherever the process is killed", arguments: ["wav", "flac"])
  func killAlone(_ ending: String) async throws {
    let path = try MediaFactory.newPath(ending)
    let recorder = try Recorder(to: URL(filePath: path))
    try append(sound(Beeps(), from: 100, to: 104), to: recorder)
    while recorder.statistics.audioDuration < .milliseconds(3990) { await Task.yield() }
    let copy = try MediaFactory.newPath(ending)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    #expect(try MediaInspector.complaints(copy) == "")
    let samples = try AudioInspector.samples(copy, rate: 48_000)
    #expect(samples.count > 48_000 * 3)
    _ = try await recorder.finish()
  }

  @Test("The asked length holds for the sound as well")
  func limit() async throws {
    let summary = try await record(try pictures() + sound(Beeps(), from: 99, to: 103), Self.forms[0]) {
      $0.limit = .seconds(1)
    }
    let path = try #require(summary.files.first).path
    #expect(summary.statistics.framesWritten == 30)
    #expect(abs(try AudioInspector.decodedSpan(path).end - 1) < 0.05)
    let alone = try Recorder(
      to: URL(filePath: MediaFactory.newPath("wav")),
      options: {
        var options = Recorder.Options()
        options.limit = .seconds(1)
        return options
      }())
    try append(sound(Beeps(), from: 100, to: 103), to: alone)
    let ended = try await alone.finish()
    #expect(abs(ended.statistics.duration.seconds - 1) < 0.021)
  }

  @Test("Without sound wanted, none is taken, and the file is as ever")
  func none() async throws {
    let summary = try await record(
      try pictures() + sound(Beeps(), from: 100, to: 103), Form(container: .mp4, audio: .none, codec: ""))
    let path = try #require(summary.files.first).path
    #expect(try AudioInspector.field("codec_name", path) == nil)
    #expect(summary.statistics.audioDuration == .zero)
  }

  @Test("What a container can't hold is refused before anything is written")
  func refusals() async throws {
    for (ending, audio) in [
      ("mp4", RecordingAudio.pcm), ("mov", .opus), ("mov", .flac), ("wav", .aac), ("wav", .flac), ("flac", .pcm),
      ("wav", .none),
    ] {
      let path = try MediaFactory.newPath(ending)
      var options = Recorder.Options()
      options.audio = audio
      #expect(throws: RecorderError.unsupportedAudio(audio: audio.rawValue, container: ending)) {
        _ = try Recorder(to: URL(filePath: path), options: options)
      }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
    let recorder = try Recorder(to: URL(filePath: MediaFactory.newPath("wav")))
    #expect(throws: RecorderError.needsAudio(found: "video")) { try recorder.append(try clip.sample(0, at: 0)) }
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 100, channels: 1))
    let slow = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 10))
    slow.frameLength = 10
    #expect(throws: RecorderError.unreadableSample(reason: "sound in the form 100 Hz, 1 channel")) {
      try recorder.append(slow, at: .zero)
    }
    await #expect(throws: RecorderError.self) { try await recorder.finish() }
  }

  @Test("Sound of another form than the track's is converted")
  func changedForm() async throws {
    let items =
      try pictures() + sound(Beeps(), from: 100, to: 101.5)
      + sound(Beeps(format: PCMFormat(sampleRate: 16_000, channels: 2)), from: 101.5, to: 103)
    let summary = try await record(items, Self.forms[7])
    let path = try #require(summary.files.first).path
    #expect(try MediaInspector.complaints(path) == "")
    let onsets = try AudioInspector.onsets(path)
    for second in [1, 2] { #expect(onsets.contains { abs($0 - Double(second)) < 0.003 }, "\(onsets)") }
    let times = try TrackTimes(path)
    #expect(abs(times.audio.end - times.video.end) < 0.002, "to the last sample")
    #expect(summary.statistics.audioFilled == .zero)
  }
}
