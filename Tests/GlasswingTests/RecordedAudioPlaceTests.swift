import Foundation
import LinkProtocol
import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

@testable import Glasswing

/// Where sound is in a file, and when.
@Suite("Recorded sound in its place")
struct RecordedAudioPlaceTests {
  private static let rate = 16_000

  /// 20 ms of a sawtooth that repeats after a second, beginning with block `number` of it, as its time has it.
  private func block(_ number: Int) throws -> (buffer: AVAudioPCMBuffer, samples: [Float]) {
    let frames = Self.rate / 50
    let samples = (0..<frames).map {
      Float((number * frames + $0) % Self.rate) / Float(2 * Self.rate)
    }
    return (
      try #require(AVAudioPCMBuffer(sampleRate: Self.rate, channels: 1, interleaved: samples)),
      samples
    )
  }

  private func time(_ block: Int) -> CMTime { CMTime(value: 5000 + Int64(block), timescale: 50) }

  private func recorder(_ path: String, _ audio: RecordingAudio, _ clock: ManualTimekeeper) throws
    -> Recorder
  {
    var options = Recorder.Options()
    options.audio = audio
    options.audioFormat = RecordingAudioFormat(sampleRate: Self.rate, channels: 1)
    return try Recorder(to: URL(filePath: path), options: options, timekeeper: clock)
  }

  @Test(
    "SYNC-3: sound that comes twice, or reaches into what came before, is in the file once, and what follows in its place",
    arguments: [("wav", RecordingAudio.pcm), ("mp4", .flac), ("mov", .pcm)])
  func overlaps(_ ending: String, _ audio: RecordingAudio) async throws {
    let clip = try EncodedClip.small.get()
    let clock = ManualTimekeeper()
    let path = try MediaFactory.newPath(ending)
    let recorder = try recorder(path, audio, clock)
    if ending != "wav" {
      for number in 0..<30 {
        try recorder.append(try clip.sample(number, at: 100 + Double(number) / 30))
      }
    }
    // 0.1 s comes twice; then a block begins with 25 ms that have been there.
    let numbers = Array(0..<20) + Array(15..<20) + Array(20..<50)
    for number in numbers {
      if number == 35 {
        let long = try block(33).samples.suffix(Self.rate / 200) + block(34).samples + block(35).samples
        let buffer = try #require(AVAudioPCMBuffer(sampleRate: Self.rate, channels: 1, interleaved: Array(long)))
        try recorder.append(buffer, at: CMTimeSubtract(time(35), CMTime(value: 1, timescale: 40)))
      } else {
        try recorder.append(try block(number).buffer, at: time(number))
      }
      clock.settle()
    }
    let summary = try await recorder.finish(by: clock)
    let statistics = summary.statistics
    let expected = try (0..<50).flatMap { try block($0).samples }
    let samples = try AudioInspector.samples(path, rate: Self.rate)
    #expect(samples.count == expected.count, "as many as the clock says")
    #expect(statistics.audioDuration == .seconds(1))
    #expect(statistics.audioDropped == .milliseconds(125))
    #expect(zip(samples, expected).allSatisfy { abs($0 - $1) <= 0x1p-23 }, "all is where it belongs")
    let track = try TrackTimes(path).audio
    #expect(track.isRising && abs(track.end - 1) < 0.001)
  }

  @Test(
    "REC-4: sound without pictures is in the file within half a second of its own, and a kill leaves it there",
    arguments: ["mp4", "mov", "mkv"])
  func withoutPictures(_ ending: String) async throws {
    let clip = try EncodedClip.small.get()
    let clock = ManualTimekeeper()
    let path = try MediaFactory.newPath(ending)
    let recorder = try recorder(path, .automatic, clock)
    for number in 0..<200 {
      // Pictures for a second, and none after it.
      if number < 50, number.isMultiple(of: 5) {
        for picture in number / 5 * 3..<number / 5 * 3 + 3 {
          try recorder.append(try clip.sample(picture, at: 100 + Double(picture) / 30))
        }
      }
      try recorder.append(try block(number).buffer, at: time(number))
      clock.advance(by: .milliseconds(20))
      let missing = Double(number + 1) / 50 - recorder.statistics.audioDuration.seconds
      // With what the encoder holds back: two packets and a part of one.
      #expect(missing <= 0.5 + 3 * 0.032 + 0.02, "\(missing) s after block \(number)")
    }
    let copy = try MediaFactory.newPath(ending)
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    let last = try #require(try AudioInspector.stamps(copy).last)
    #expect(4 - last < 1.2, "the last is at \(last) s")
    _ = try await recorder.finish(by: clock)
  }

  @Test(
    "REC-4: with a picture a second, wherever the recording ends, pictures and sound end together",
    arguments: [("mp4", 104), ("mp4", 149), ("mov", 126), ("mkv", 113), ("mkv", 147)])
  func slowPictures(_ ending: String, _ blocks: Int) async throws {
    let clip = try EncodedClip.small.get()
    let clock = ManualTimekeeper()
    let path = try MediaFactory.newPath(ending)
    let recorder = try recorder(path, .automatic, clock)
    for number in 0..<blocks {
      if number.isMultiple(of: 50) { try recorder.append(try clip.sample(number / 50, at: 100 + Double(number / 50))) }
      try recorder.append(try block(number).buffer, at: time(number))
      clock.advance(by: .milliseconds(20))
    }
    _ = try await recorder.finish(by: clock)
    let tracks = try TrackTimes(path)
    #expect(abs(tracks.video.end - tracks.audio.end) < 0.05, "\(tracks.video.end) and \(tracks.audio.end)")
    #expect(tracks.video.end >= 2.02)
    #expect(try MediaInspector.complaints(path) == "")
  }
}
