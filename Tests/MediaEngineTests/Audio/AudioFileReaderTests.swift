import Foundation
import TestSupport
import Testing

@testable import MediaEngine

/// The sound of these files is made by ffmpeg: a tone whose frequency rises from 300 Hz by 200 Hz a second, and, from second
/// to second, 50 ms of a beep of 3 kHz; so that every place can be told from every other.
@Suite("Reading sound from files")
struct AudioFileReaderTests {
  struct Form: Sendable, CustomTestStringConvertible {
    var ending: String
    var settings: [String]
    /// Without loss: samples can be compared one by one.
    var isExact = false
    var rate = 44_100
    var hasVideo = false
    var testDescription: String { "\(ending) \(settings.joined(separator: " "))" }
  }

  static let forms: [Form] = [
    Form(ending: "wav", settings: ["-c:a", "pcm_s16le"], isExact: true),
    Form(ending: "wav", settings: ["-c:a", "pcm_f32le"], isExact: true, rate: 48_000),
    Form(ending: "flac", settings: [], isExact: true),
    Form(ending: "ogg", settings: ["-c:a", "libvorbis"]),
    Form(ending: "ogg", settings: ["-c:a", "libopus"], rate: 48_000),
    Form(ending: "mp3", settings: ["-c:a", "libmp3lame", "-b:a", "128k"]),
    Form(ending: "m4a", settings: ["-c:a", "aac", "-b:a", "128k"]),
    Form(ending: "mp4", settings: ["-c:a", "aac", "-b:a", "128k"], hasVideo: true),
    Form(ending: "mov", settings: ["-c:a", "pcm_s16le"], isExact: true, hasVideo: true),
    Form(ending: "mkv", settings: ["-c:a", "libopus"], rate: 48_000, hasVideo: true),
    Form(ending: "mkv", settings: ["-c:a", "flac"], isExact: true, hasVideo: true),
    Form(ending: "mkv", settings: ["-c:a", "aac", "-b:a", "128k"], hasVideo: true),
    Form(ending: "mkv", settings: ["-c:a", "libvorbis"], hasVideo: true),
    Form(ending: "ts", settings: ["-c:a", "aac", "-b:a", "128k"], hasVideo: true),
  ]

  static let seconds = 14
  static let source =
    "aevalsrc='0.25*sin(2*PI*(300*t+100*t*t))+0.5*lt(mod(t,1),0.05)*sin(2*PI*3000*t)':d=\(seconds)"

  private func make(_ form: Form) throws -> String {
    let path = try MediaFactory.newPath(form.ending)
    let sound = ["-f", "lavfi", "-i", Self.source + ":s=\(form.rate)"]
    let picture = ["-f", "lavfi", "-i", "testsrc2=s=64x64:r=25:d=\(Self.seconds)"]
    let video = ["-c:v", "libx264", "-preset", "ultrafast", "-bf", "2"]
    let arguments = sound + (form.hasVideo ? picture + video : []) + form.settings + ["-shortest", path]
    try CommandLineTool.run("ffmpeg", ["-v", "error", "-nostdin", "-y"] + arguments)
    return path
  }

  /// The same formula.
  private func ideal(at time: Double) -> Double {
    guard time >= 0, time < Double(Self.seconds) else { return 0 }
    let beep = time.truncatingRemainder(dividingBy: 1) < 0.05 ? 0.5 * sin(2 * .pi * 3000 * time) : 0
    return 0.25 * sin(2 * .pi * (300 * time + 100 * time * time)) + beep
  }

  /// By how many seconds the samples are late, by the best match with the formula within 30 ms.
  private func lateness(_ samples: [Float], at time: Double, rate: Int) -> Double {
    var best = (error: Double.infinity, offset: 0.0)
    // From the middle, where most are, so that the others are soon seen to be worse.
    for step in (-120...120).sorted(by: { abs($0) < abs($1) }) {
      let offset = Double(step) * 0.00025
      var error = 0.0
      for index in stride(from: 0, to: samples.count, by: 3) {
        let difference = Double(samples[index]) - ideal(at: time + Double(index) / Double(rate) - offset)
        error += difference * difference
        if error >= best.error { break }
      }
      if error < best.error { best = (error, offset) }
    }
    return best.offset
  }

  @Test("SYNC-4: sound is where it belongs, read in order, after seeks ahead and back, to the sample", arguments: forms)
  func places(_ form: Form) throws {
    let path = try make(form)
    let format = PCMFormat(sampleRate: form.rate, channels: 1)
    let inOrder = try AudioFileReader(path: path, format: format)
    #expect(inOrder.description.sampleRate == form.rate)
    #expect(inOrder.description.hasVideo == form.hasVideo)
    var whole: [Float] = []
    for number in 0..<(Self.seconds * 50) {
      whole += try inOrder.read(from: .milliseconds(20 * number), frames: form.rate / 50)
    }
    #expect(whole.count == Self.seconds * form.rate)
    // A transport stream says nothing of priming, and ffmpeg 5.1 shifts the pictures of a Matroska file with Opus by it.
    let isShifted = form.ending == "ts" || form.ending == "mkv" && form.settings.contains("libopus")
    let tolerance = isShifted ? 0.03 : 0.0005
    for second in [1, 6, 12] {
      let stretch = Array(whole[(second * form.rate)..<(second * form.rate + form.rate / 4)])
      #expect(abs(lateness(stretch, at: Double(second), rate: form.rate)) <= tolerance)
    }

    let reader = try AudioFileReader(path: path, format: format)
    for milliseconds in [0, 12_500, 3000, 500, 11_980, 11_000, 0, 1, 13_999, 7250, 7150] {
      let first = format.frames(in: .milliseconds(milliseconds))
      let count = min(form.rate / 10, whole.count - first)
      let read = try reader.read(from: .milliseconds(milliseconds), frames: count)
      let expected = Array(whole[first..<first + count])
      let worst = zip(read, expected).map { abs($0 - $1) }.max() ?? 0
      // Codecs with loss remember more than a seek can restore; a sample's shift would be 0.1 and more.
      #expect(worst <= (form.isExact ? 0 : 0.02), "at \(milliseconds) ms")
    }
  }

  @Test("AUD-1: another rate and number of channels gives the same places", arguments: [forms[2], forms[4], forms[7]])
  func resampled(_ form: Form) throws {
    let path = try make(form)
    let format = PCMFormat(sampleRate: 16_000, channels: 2)
    let reader = try AudioFileReader(path: path, format: format)
    var whole: [Float] = []
    for number in 0..<100 { whole += try reader.read(from: .milliseconds(20 * number), frames: 320) }
    #expect(whole.count == 100 * 640)
    let left = stride(from: 0, to: whole.count, by: 2).map { whole[$0] }
    #expect(left == stride(from: 1, to: whole.count, by: 2).map { whole[$0] })
    #expect(abs(lateness(Array(left[16_000..<20_000]), at: 1, rate: 16_000)) <= 0.0005)
    for milliseconds in [1000, 500, 13_000, 0, 777] {
      let read = try reader.read(from: .milliseconds(milliseconds), frames: 1600)
      guard milliseconds < 1900 else { continue }
      let expected = whole[(milliseconds * 32)..<(milliseconds * 32 + 3200)]
      let worst = zip(read, expected).map { abs($0 - $1) }.max() ?? 0
      #expect(worst < 0.02, "at \(milliseconds) ms")
    }
  }

  @Test("Before its beginning and after its end a track is silent, and its gaps are")
  func silence() throws {
    let path = try make(Self.forms[0])
    let reader = try AudioFileReader(path: path, format: PCMFormat(sampleRate: 44_100, channels: 1))
    #expect(try reader.read(from: .seconds(-2), frames: 44_100).allSatisfy { $0 == 0 })
    let edge = try reader.read(from: .milliseconds(-500), frames: 44_100)
    #expect(edge[..<22_050].allSatisfy { $0 == 0 })
    #expect(edge[22_050 + 3] != 0)
    #expect(try reader.read(from: .seconds(14), frames: 1000).allSatisfy { $0 == 0 })
    #expect(try reader.read(from: .seconds(Int64.max), frames: 10).allSatisfy { $0 == 0 })
    #expect(try reader.read(from: .seconds(Int64.min), frames: 10).count == 10)
    #expect(try reader.read(from: .seconds(1), frames: 0).isEmpty)
    #expect(try reader.read(from: .milliseconds(1001), frames: 1)[0] != 0)
  }

  @Test("SYNC-2: time 0 is the first picture, whether sound begins before or after it", arguments: [1.52, -0.72])
  func relativeToPicture(_ pictureDelay: Double) throws {
    let path = try MediaFactory.newPath("mp4")
    let offset = pictureDelay > 0 ? (video: pictureDelay, sound: 0) : (video: 0, sound: -pictureDelay)
    try CommandLineTool.run(
      "ffmpeg",
      [
        "-v", "error", "-nostdin", "-y", "-itsoffset", "\(offset.video)", "-f", "lavfi", "-i",
        "testsrc2=s=64x64:r=25:d=5", "-itsoffset", "\(offset.sound)", "-f", "lavfi", "-i", Self.source + ":s=48000",
        "-map", "0:v", "-map", "1:a", "-fps_mode", "passthrough", "-c:v", "libx264", "-preset", "ultrafast", "-bf", "2",
        "-c:a", "aac", path,
      ])
    let reader = try AudioFileReader(path: path, format: PCMFormat(sampleRate: 48_000, channels: 1))
    // The file may begin with a packet of priming.
    #expect(abs(reader.description.start.seconds + pictureDelay) < 0.025)
    let samples = try reader.read(from: .seconds(2), frames: 12_000)
    #expect(abs(lateness(samples, at: 2 + pictureDelay, rate: 48_000)) <= 0.0015)
    let stated = try #require(reader.description.duration)
    #expect(abs(stated.seconds - (Double(Self.seconds) - pictureDelay)) < 0.03)
  }

  @Test("More than two channels are mixed down without clipping")
  func surround() throws {
    let path = try MediaFactory.newPath("flac")
    try CommandLineTool.run(
      "ffmpeg",
      [
        "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "sine=frequency=440:duration=1:sample_rate=48000",
        "-af", "volume=18dB,pan=5.1|FL=c0|FR=c0|FC=c0|LFE=c0|BL=c0|BR=c0", path,
      ])
    for channels in 1...2 {
      let reader = try AudioFileReader(path: path, format: PCMFormat(sampleRate: 48_000, channels: channels))
      #expect(reader.description.channels == 6)
      let samples = try reader.read(from: .zero, frames: 48_000)
      let loudest = samples.map { abs($0) }.max() ?? 0
      #expect(0.5...1.001 ~= loudest)
    }
  }

  @Test("What has no sound, or none that can be read, is told by its cause")
  func refusals() throws {
    let format = PCMFormat(sampleRate: 16_000, channels: 1)
    let noise = try MediaFactory.path(.noise)
    expectCause(.noAudioTrack) { try AudioFileReader(path: MediaFactory.path(.h264), format: format) }
    expectCause(.notMedia) { try AudioFileReader(path: noise, format: format) }
    expectCause(.emptyFile) { try AudioFileReader(path: MediaFactory.path(.empty), format: format) }
    expectCause(.fileNotFound) { try AudioFileReader(path: "/nowhere.wav", format: format) }
    expectCause(.notARegularFile) { try AudioFileReader(path: "/dev/zero", format: format) }
    expectCause(.audioFormatNotSupported) {
      try AudioFileReader(
        path: MediaFactory.path(.audioOnly), format: PCMFormat(sampleRate: 16_000, channels: 3))
    }
    // Every coded byte of a track destroyed, and nothing of the container.
    let destroyed = try MediaFactory.newPath("m4a")
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: MediaFactory.path(.audioOnly))))
    let mdat = try #require(bytes.indices.first { bytes[$0...].starts(with: Array("mdat".utf8)) })
    let length = bytes[(mdat - 4)..<mdat].reduce(0) { $0 << 8 | Int($1) }
    for index in (mdat + 4)..<min(bytes.count, mdat - 4 + length) { bytes[index] = 0xff }
    try Data(bytes).write(to: URL(fileURLWithPath: destroyed))
    expectCause(.noDecodableAudio) { try AudioFileReader(path: destroyed, format: format) }
  }

  @Test(
    "Damage in the middle is silent there, counted, and shifts nothing behind it",
    arguments: [forms[2], forms[6], forms[7]])
  func damage(_ form: Form) throws {
    let path = try make(form)
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    for index in (bytes.count / 2)..<(bytes.count / 2 + 3000) { bytes[index] = 0xff }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let reader = try AudioFileReader(path: path, format: PCMFormat(sampleRate: 44_100, channels: 1))
    var late: [Double] = []
    for second in 0..<Self.seconds - 1 {
      let samples = try reader.read(from: .seconds(second), frames: 44_100)
      if !(5...8).contains(second) {
        late.append(lateness(Array(samples.prefix(8000)), at: Double(second), rate: 44_100))
      }
    }
    #expect(late.allSatisfy { abs($0) <= 0.0005 }, "\(late)")
    if form.ending != "flac" { #expect(reader.undecodablePackets > 0) }
  }

  /// Flash video, since its tags are easily found: a kind, 24 bits of length, 24 + 8 bits of milliseconds, 24 bits of 0, the body, and
  /// 32 bits of length again; the first behind 13 bytes (Adobe Flash Video File Format Specification 10.1, annex E).
  @Test(
    "One packet that is stamped far ahead takes nothing with it; where others are missing, or it is one too many, it is left out and counted",
    arguments: [0, 6, -1])
  func stampedAhead(missing: Int) throws {
    let path = try MediaFactory.newPath("flv")
    try CommandLineTool.run(
      "ffmpeg",
      ["-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", Self.source + ":s=44100", "-t", "4"]
        + ["-c:a", "pcm_s16le", path])
    var bytes = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    var tags: [Range<Int>] = []
    var begin = 13
    while begin + 15 <= bytes.count {
      let length = bytes[(begin + 1)..<(begin + 4)].reduce(0) { $0 << 8 | Int($1) }
      if bytes[begin] == 8 { tags.append(begin..<begin + length + 15) }
      begin += length + 15
    }
    try #require(tags.count > 80)
    func whole() throws -> (samples: [Float], lost: Int) {
      let reader = try AudioFileReader(path: path, format: PCMFormat(sampleRate: 44_100, channels: 1))
      let samples = try (0..<200).flatMap { try reader.read(from: .milliseconds(20 * $0), frames: 882) }
      return (samples, reader.undecodablePackets)
    }
    let undamaged = try whole().samples
    // The milliseconds' highest byte: 4 hours and 39 minutes.
    if missing < 0 { bytes.insert(contentsOf: Array(bytes[tags[40]]), at: tags[40].lowerBound) }
    bytes[tags[40].lowerBound + 7] = 1
    if missing > 0 { bytes.removeSubrange(tags[40 - missing].lowerBound..<tags[40].lowerBound) }
    try Data(bytes).write(to: URL(fileURLWithPath: path))
    let (damaged, lost) = try whole()
    #expect(lost == (missing == 0 ? 0 : 1))
    if missing <= 0 {
      // Compared before: to tell how arrays so long differ takes minutes.
      let isSame = damaged == undamaged
      #expect(isSame)
    } else {
      for second in [0, 2, 3] {
        let stretch = Array(damaged[(second * 44_100)..<(second * 44_100 + 8000)])
        #expect(abs(lateness(stretch, at: Double(second), rate: 44_100)) <= 0.001)
      }
    }
  }

  @Test("A file that is cut off is silent from there")
  func truncated() throws {
    let path = try make(Self.forms[0])
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    try bytes.prefix(bytes.count / 2).write(to: URL(fileURLWithPath: path))
    let reader = try AudioFileReader(path: path, format: PCMFormat(sampleRate: 44_100, channels: 1))
    #expect(abs(lateness(try reader.read(from: .seconds(6), frames: 8000), at: 6, rate: 44_100)) <= 0.0005)
    #expect(try reader.read(from: .seconds(8), frames: 8000).allSatisfy { $0 == 0 })
    #expect(abs(lateness(try reader.read(from: .seconds(2), frames: 8000), at: 2, rate: 44_100)) <= 0.0005)
  }
}
