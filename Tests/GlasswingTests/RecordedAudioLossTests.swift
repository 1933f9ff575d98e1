import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@testable import Glasswing

/// Sound that is lost is told of and counted; sound that has no time, or a wrong one, is recorded.
@Suite("Recording sound in trouble")
struct RecordedAudioLossTests {
  private let clip: EncodedClip

  init() throws { clip = try EncodedClip.small.get() }

  /// 20 ms of a mono tone.
  private func block(_ number: Int = 0, rate: Int = 16_000) throws -> AVAudioPCMBuffer {
    let samples = (0..<rate / 50).map { Float(0.25 * sin(2 * Double.pi * 440 * Double($0) / Double(rate))) }
    return try #require(AVAudioPCMBuffer(sampleRate: rate, channels: 1, interleaved: samples))
  }

  private func time(_ seconds: Double) -> CMTime {
    CMTime(value: Int64((seconds * 1e9).rounded()), timescale: 1_000_000_000)
  }

  private func recorder(
    _ ending: String, _ timekeeper: any Timekeeper = SystemTimekeeper.shared,
    _ change: (inout Recorder.Options) -> Void = { _ in }
  ) throws -> (Recorder, Observed<RecordingEvent>, any AnyListenerToken) {
    var options = Recorder.Options()
    change(&options)
    let recorder = try Recorder(
      to: URL(filePath: MediaFactory.newPath(ending)), options: options, timekeeper: timekeeper)
    let events = Observed<RecordingEvent>()
    return (recorder, events, recorder.eventPublisher.listen { events.record($0) })
  }

  private func audioEvents(_ events: Observed<RecordingEvent>) -> [RecordingEvent] {
    events.values.filter { $0.audioLoss != nil }
  }

  @Test("REC-5: sound that finds the queue full is told once, at the end of the loss with its amount, and counted")
  func fullQueue() async throws {
    // Under the manual clock nothing is written until the test says so: a stuck disk, released at will.
    let timekeeper = ManualTimekeeper()
    let (recorder, events, token) = try recorder("wav", timekeeper) { $0.queueBytes = 10 * 320 * 4 }
    for number in 0..<25 {
      #expect(try recorder.append(try block(), at: time(100 + Double(number) / 50)) == (number < 10))
    }
    timekeeper.settle()
    #expect(audioEvents(events).map(\.audioLoss) == [RecordingAudioLoss(.queueFull, .milliseconds(20))])
    for number in 25..<30 { try recorder.append(try block(), at: time(100 + Double(number) / 50)) }
    timekeeper.settle()
    #expect(audioEvents(events).map(\.kind) == [.audioLost, .audioRegained])
    #expect(audioEvents(events).last?.audioLoss == RecordingAudioLoss(.queueFull, .milliseconds(300)))
    #expect(recorder.statistics.audioDropped == .milliseconds(300))
    // What is lost is silent in the file, and what follows in its place.
    #expect(recorder.statistics.audioFilled == .milliseconds(300))
    #expect(recorder.statistics.audioDuration == .milliseconds(600))
    await token.cancel()
  }

  @Test(
    "REC-4: sound that has no place costs itself alone, and is told with its cause and counted",
    arguments: [RecordingAudioLoss.Cause.noTrack, .unsupportedForm])
  func noPlace(_ cause: RecordingAudioLoss.Cause) async throws {
    let (recorder, events, token) = try recorder("mp4") {
      if cause == .unsupportedForm { $0.audioFormat = RecordingAudioFormat(sampleRate: 100, channels: 1) }
    }
    for (number, sample) in try clip.samples().enumerated() {
      try recorder.append(sample)
      guard number > 10, number % 3 == 0 else { continue }
      // Not before the first picture is written: then its form would be known.
      while recorder.statistics.framesWritten == 0 { await Task.yield() }
      try recorder.append(try block(), at: time(100 + Double(number) / 30))
    }
    let summary = try await recorder.finish()
    let path = try #require(summary.files.first).path
    try await events.wait { $0.contains { $0.audioLoss != nil } }
    #expect(
      audioEvents(events) == [
        RecordingEvent(.audioLost, audioLoss: RecordingAudioLoss(cause, .milliseconds(20)))
      ])
    #expect(summary.statistics.audioDropped == .milliseconds(26 * 20))
    #expect(summary.statistics.audioDuration == .zero)
    #expect(summary.statistics.framesWritten == 90)
    #expect(try MediaInspector.complaints(path) == "")
    await token.cancel()
  }

  @Test("Each loss of sound is told at its beginning and end, with its own amount; another cause is another loss")
  func lossWatch() {
    var watch = AudioLossWatch()
    #expect(watch.took() == nil)
    #expect(watch.lost(.seconds(1), .queueFull)?.audioLoss == RecordingAudioLoss(.queueFull, .seconds(1)))
    #expect(watch.lost(.seconds(2), .queueFull) == nil)
    #expect(watch.took()?.audioLoss == RecordingAudioLoss(.queueFull, .seconds(3)))
    #expect(watch.took() == nil)
    #expect(watch.lost(.seconds(1), .queueFull)?.audioLoss?.duration == .seconds(1))
    #expect(watch.lost(.seconds(1), .encoderFailed)?.audioLoss == RecordingAudioLoss(.encoderFailed, .seconds(1)))
    watch.lostWithAll(.seconds(4))
    #expect(watch.total == .seconds(9))
  }

  @Test(
    "Sound alone ends with the asked length, to the sample, with and without times", arguments: ["none", "late", "all"])
  func limit(_ times: String) async throws {
    let (recorder, events, token) = try recorder("wav") { $0.limit = .milliseconds(510) }
    for number in 0..<60 {
      let hasTime = times == "all" || times == "late" && number > 4
      try recorder.append(try block(), at: hasTime ? time(100 + Double(number) / 50) : .invalid)
    }
    try await events.wait { $0.contains { $0.kind == .reachedLimit } }
    #expect(try recorder.append(try block(), at: time(200)) == false)
    let summary = try await recorder.finish()
    #expect(summary.statistics.duration == .milliseconds(510))
    #expect(summary.firstFrameNanoseconds == (times == "none" ? nil : 100_000_000_000))
    #expect(summary.statistics.framesIn == 0 && summary.statistics.audioFilled == .zero)
    let path = try #require(summary.files.first).path
    #expect(try MediaInspector.duration(path) == 0.51)
    await token.cancel()
  }

  @Test(
    "REC-3: times that no sound can have never abort, shift or lose what follows, and are counted",
    arguments: ["mp4", "mov", "mkv", "wav"])
  func absurdTimes(_ ending: String) async throws {
    let (recorder, _, token) = try recorder(ending) {
      $0.audio = ending == "mov" ? .pcm : .automatic
      // The first picture may be written before the first sound is there.
      $0.audioFormat = RecordingAudioFormat(sampleRate: 16_000, channels: 1)
    }
    let absurd: [Int: CMTime] = [
      10: CMTime(value: .max, timescale: 1), 20: .positiveInfinity, 30: .invalid, 40: .negativeInfinity,
      50: time(9e9), 60: time(-9e9), 70: CMTime(value: 1, timescale: 0), 80: .indefinite,
    ]
    for number in 0..<150 {
      if ending != "wav", number % 5 == 0 {
        for picture in number / 5 * 3..<number / 5 * 3 + 3 {
          try recorder.append(try clip.sample(picture, at: 100 + Double(picture) / 30))
        }
      }
      try recorder.append(try block(), at: absurd[number] ?? time(100 + Double(number) / 50))
    }
    let summary = try await recorder.finish()
    let path = try #require(summary.files.first).path
    #expect(try MediaInspector.complaints(path) == "")
    let times = try TrackTimes(path)
    #expect(times.audio.isRising)
    #expect(abs(times.audio.end - 3) < 0.05, "\(times.audio.end)")
    #expect(summary.statistics.audioFilled < .milliseconds(40))
    #expect(summary.statistics.audioDropped == .zero)
    #expect((4...6).contains(summary.statistics.audioRestarts), "\(summary.statistics.audioRestarts)")
    if ending != "wav" { #expect(times.video.stamps.count == 90 && abs(times.video.end - 3) < 0.002) }
    await token.cancel()
  }
}
