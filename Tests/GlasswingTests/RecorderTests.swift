import Foundation
import LinkProtocol
import PortableMedia
import TestSupport
import Testing
import Units

@testable import Glasswing

@Suite("Recording samples")
struct RecorderTests {
  private let clip: EncodedClip

  init() throws { clip = try EncodedClip.small.get() }

  private func record(
    _ samples: [CMSampleBuffer], _ ending: String = "mp4", options: Recorder.Options = .init()
  ) async throws -> RecordingSummary {
    let recorder = try Recorder(to: URL(filePath: MediaFactory.newPath(ending)), options: options)
    for sample in samples { try recorder.append(sample) }
    return try await recorder.finish()
  }

  private func first(_ summary: RecordingSummary) throws -> String { try #require(summary.files.first).path }

  @Test(
    "REC-2: a file in each container decodes without a message, has hvc1 where that exists, and every frame",
    arguments: RecordingContainer.allCases.filter { !$0.isAudioOnly })
  func eachContainer(_ container: RecordingContainer) async throws {
    let summary = try await record(try clip.samples(), container.rawValue)
    let path = try first(summary)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.pictureCount(path) == 90)
    if container != .mkv { #expect(try MediaInspector.videoField("codec_tag_string", path) == "hvc1") }
    #expect(summary.container == container)
    #expect(summary.statistics.framesWritten == 90)
    #expect(summary.statistics.framesDropped == 0)
    #expect(summary.statistics.stampRepairs == 0)
    #expect(summary.firstFrameNanoseconds == 100_000_000_000)
  }

  @Test("SYNC-3: stamps keep their distances, and the file lasts from the first to the end of the last frame")
  func timing() async throws {
    let path = try first(await record(try clip.samples()))
    let stamps = try MediaInspector.stamps(path)
    #expect(stamps.count == 90)
    #expect(stamps.enumerated().allSatisfy { abs($1 - Double($0) / 30) < 0.001 }, "\(stamps)")
    #expect(abs(try #require(try MediaInspector.duration(path)) - 3) < 0.034)
  }

  @Test("REC-2, REC-5: what comes before the first sync sample is dropped and counted; in is written plus dropped")
  func beginsWithSync() async throws {
    let summary = try await record(Array(try clip.samples().dropFirst(7)))
    let path = try first(summary)
    #expect(summary.statistics.framesIn == 83)
    #expect(summary.statistics.framesDropped == 8)
    #expect(summary.statistics.framesWritten == 75)
    #expect(try MediaInspector.pictureCount(path) == 75)
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("REC-3: equal, backward and missing stamps never abort; each repair is counted, and stamps rise")
  func brokenStamps() async throws {
    var times: [Double?] = (0..<90).map { 100 + Double($0) / 30 }
    times[10] = times[9]
    times[20] = 100.6
    times[30] = nil
    for number in 60..<90 { times[number] = 3 + Double(number) / 30 }
    let summary = try await record(times.enumerated().map { try clip.sample($0.offset, at: $0.element) })
    let path = try first(summary)
    let stamps = try MediaInspector.stamps(path)
    #expect(zip(stamps, stamps.dropFirst()).allSatisfy { $0 < $1 })
    #expect(summary.statistics.framesWritten == 90)
    #expect((4...8).contains(summary.statistics.stampRepairs))
    #expect(try MediaInspector.complaints(path) == "")
    #expect(abs(try #require(stamps.last) - 89.0 / 30) < 0.1, "no repair moves what follows by more than a frame")
  }

  @Test(
    "REC-4: a change of size makes MP4 and MOV go on in NAME-002, with stamps that continue", arguments: ["mp4", "mov"])
  func sizeChange(_ ending: String) async throws {
    let large = try EncodedClip.large.get()
    let summary = try await record(try clip.samples(from: 50) + large.samples(from: 53), ending)
    let paths = summary.files.map(\.path)
    #expect(paths.count == 2)
    #expect(paths.last == RecordingName.path(paths[0], part: 2))
    #expect(try paths.map { try MediaInspector.pictureCount($0) } == [90, 45])
    for path in paths { #expect(try MediaInspector.complaints(path) == "") }
    let stamps = try paths.flatMap { try MediaInspector.stamps($0) }
    #expect(stamps.enumerated().allSatisfy { abs($1 - Double($0) / 30) < 0.001 }, "\(stamps)")
    #expect(try MediaInspector.videoField("width", paths[1]) == "320")
    #expect(summary.statistics.framesWritten == 135)
    #expect(abs(summary.statistics.duration.seconds - 4.5) < 0.04)
  }

  @Test("REC-4: a change of size stays in one Matroska file, and all of it decodes")
  func sizeChangeInMatroska() async throws {
    let large = try EncodedClip.large.get()
    let summary = try await record(try clip.samples(from: 50) + large.samples(from: 53), "mkv")
    #expect(summary.files.count == 1)
    #expect(try MediaInspector.pictureCount(first(summary)) == 135)
    #expect(try MediaInspector.complaints(first(summary)) == "")
  }

  @Test("The asked length is kept to the frame, and what comes later is not counted in", arguments: [0.5, 1, 2])
  func limit(_ seconds: Double) async throws {
    var options = Recorder.Options()
    options.limit = .milliseconds(Int(seconds * 1000))
    let path = try MediaFactory.newPath("mp4")
    let recorder = try Recorder(to: URL(filePath: path), options: options)
    let events = Observed<RecordingEvent>()
    let token = recorder.eventPublisher.listen { events.record($0) }
    for sample in try clip.samples() { try recorder.append(sample) }
    try await events.wait { $0.contains { $0.kind == .reachedLimit } }
    #expect(try recorder.append(try clip.sample(0, at: 200)) == false)
    let summary = try await recorder.finish()
    #expect(summary.statistics.framesWritten == Int(seconds * 30))
    #expect(summary.statistics.framesIn == summary.statistics.framesWritten + summary.statistics.framesDropped)
    #expect(try MediaInspector.pictureCount(path) == Int(seconds * 30))
    await token.cancel()
  }

  @Test("A stuck disk costs samples up to the next sync sample that fits, counted; the file decodes")
  func stuckDisk() async throws {
    // Under the manual clock nothing is written until the test says so: a stuck disk, released at will.
    let timekeeper = ManualTimekeeper()
    let path = try MediaFactory.newPath("mp4")
    var options = Recorder.Options()
    options.queueBytes = clip.units[20..<28].reduce(0) { $0 + CMBlockBufferGetDataLength($1.data) }
    let recorder = try Recorder(to: URL(filePath: path), options: options, timekeeper: timekeeper)
    var taken: [Int] = []
    for (number, sample) in try clip.samples().enumerated() {
      if !(21...50).contains(number) { timekeeper.settle() }
      if try recorder.append(sample) { taken.append(number) }
    }
    #expect(taken == Array(0..<28) + Array(60..<90))
    let summary = try await recorder.finish(by: timekeeper)
    #expect(summary.statistics.framesIn == 90)
    #expect(summary.statistics.framesWritten == 58)
    #expect(summary.statistics.framesDropped == 32)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(try MediaInspector.pictureCount(path) == 58)
  }

  @Test(
    "A full disk is told as such, at once to listeners and at the end to the caller; the file plays up to there",
    .enabled(if: SmallDisk.isAvailable, "needs root, to mount a disk of 64 KiB"), arguments: ["mp4", "mkv"])
  func fullDisk(ending: String) async throws {
    let disk = try SmallDisk()
    let path = disk.folder + "/a." + ending
    let recorder = try Recorder(to: URL(filePath: path))
    let events = Observed<RecordingEvent>()
    let token = recorder.eventPublisher.listen { events.record($0) }
    for sample in try clip.samples() { _ = try? recorder.append(sample) }
    try await events.wait { $0.contains { $0.kind == .failed } }
    #expect(events.values.last?.error == .diskFull(path: path))
    #expect(throws: RecorderError.diskFull(path: path)) { try recorder.append(try clip.sample(0, at: 0)) }
    await #expect(throws: RecorderError.diskFull(path: path)) { try await recorder.finish() }
    let statistics = recorder.statistics
    #expect(statistics.framesIn == statistics.framesWritten + statistics.framesDropped)
    // What it says is written is in the file.
    #expect(try MediaInspector.pictureCount(path) == statistics.framesWritten)
    #expect(statistics.framesWritten > 15)
    await token.cancel()
  }

  @Test(
    "ERR-1: a disk that gets full while the recording is being completed fails it, with what was written",
    .enabled(if: SmallDisk.isAvailable, "needs root, to mount a disk of 64 KiB"), arguments: [false, true])
  func fullAtTheEnd(byOthers: Bool) async throws {
    let disk = try SmallDisk()
    let path = disk.folder + "/a.mp4"
    let clock = ManualTimekeeper()
    let recorder = try Recorder(to: URL(filePath: path), options: .init(), timekeeper: clock)
    for sample in try clip.samples().prefix(byOthers ? 28 : 90) { try recorder.append(sample) }
    if byOthers {
      // All but the last fragment is written; for that there is no room.
      clock.settle()
      try disk.fill()
    }
    // Else all that waits is written while finishing: nobody has seen a failure before.
    await #expect(throws: RecorderError.diskFull(path: path)) { try await recorder.finish(by: clock) }
    let statistics = recorder.statistics
    #expect(statistics.framesWritten == (try MediaInspector.pictureCount(path)) && statistics.framesWritten >= 15)
    #expect(statistics.framesIn == (byOthers ? 28 : 90))
    #expect(statistics.framesIn == statistics.framesWritten + statistics.framesDropped)
  }

  @Test("REC-1: parameter sets that no file can begin with cost their pictures, and nothing that is recorded")
  func unusableSets() async throws {
    let path = try MediaFactory.newPath("mp4")
    let recorder = try Recorder(to: URL(filePath: path))
    var samples = try clip.samples()
    // More picture parameter sets than a file takes, with a sync unit in the middle.
    var sets = try #require(clip.parameterSets)
    for number in UInt8(1)...16 { sets.append([34 << 1, 1, 0xC1, number]) }
    let data = clip.units[30].data
    let stamp = CMSampleBufferGetPresentationTimeStamp(samples[30])
    samples[30] = try CMSampleBuffer(
      dataBuffer: data, formatDescription: CMFormatDescription.hevc(parameterSets: sets), numSamples: 1,
      sampleTimings: [CMSampleTimingInfo(duration: .invalid, presentationTimeStamp: stamp, decodeTimeStamp: .invalid)],
      sampleSizes: [CMBlockBufferGetDataLength(data)])
    for sample in samples { try recorder.append(sample) }
    let summary = try await recorder.finish()
    #expect(summary.files.map(\.path) == [path])
    #expect(summary.statistics.framesWritten == 75 && summary.statistics.framesDropped == 15)
    #expect(try MediaInspector.pictureCount(path) == 75)
    #expect(try MediaInspector.complaints(path) == "")
    #expect(!FileManager.default.fileExists(atPath: RecordingName.path(path, part: 2)))
  }

  @Test(
    "REC-1: a file that is being recorded is no other recording's, whoever may overwrite it", arguments: ["mp4", "mkv"])
  func twoToOneFile(ending: String) async throws {
    let file = URL(filePath: try MediaFactory.newPath(ending))
    var options = Recorder.Options()
    options.overwrites = true
    // Both have the name before either has a picture.
    let early = try Recorder(to: file, options: options)
    let recorder = try Recorder(to: file, options: options)
    let events = Observed<RecordingEvent>()
    let token = recorder.eventPublisher.listen { events.record($0) }
    for sample in try clip.samples() { try recorder.append(sample) }
    try await events.wait { $0.contains { $0.kind == .began } }
    let taken = RecorderError.notWritable(path: file.path, reason: "another recording is being written to it")
    #expect(throws: taken) { _ = try Recorder(to: file, options: options) }
    _ = try? early.append(try clip.sample(0, at: 0))
    var refusal: RecorderError?
    do throws(RecorderError) { _ = try await early.finish() } catch { refusal = error }
    #expect(refusal?.message.contains("another recording is being written to it") == true)
    #expect(try await recorder.finish().statistics.framesWritten == 90)
    #expect(try MediaInspector.pictureCount(file.path) == 90)
    #expect(try MediaInspector.complaints(file.path) == "")
    await token.cancel()
  }

  @Test("ERR-1: a file that was removed while it was recorded is not said to be there", arguments: ["mp4", "mkv"])
  func removed(ending: String) async throws {
    let path = try MediaFactory.newPath(ending)
    let recorder = try Recorder(to: URL(filePath: path))
    let events = Observed<RecordingEvent>()
    let token = recorder.eventPublisher.listen { events.record($0) }
    for sample in try clip.samples() { try recorder.append(sample) }
    try await events.wait { $0.contains { $0.kind == .began } }
    try FileManager.default.removeItem(atPath: path)
    await #expect(
      throws: RecorderError.notWritable(path: path, reason: "the file was removed while it was being written")
    ) { try await recorder.finish() }
    await token.cancel()
  }

  @Test("A recording without a frame is an error, and leaves no file")
  func nothingRecorded() async throws {
    let path = try MediaFactory.newPath("mp4")
    let recorder = try Recorder(to: URL(filePath: path))
    #expect(FileManager.default.fileExists(atPath: path), "the name is taken from the beginning")
    await #expect(throws: RecorderError.nothingRecorded(path: path)) { try await recorder.finish() }
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A recording without a frame leaves a file that was there as it was, also where it may be overwritten")
  func emptyOverExisting() async throws {
    let file = URL(filePath: try MediaFactory.newPath("mp4"))
    try Data("precious".utf8).write(to: file)
    var options = Recorder.Options()
    options.overwrites = true
    let recorder = try Recorder(to: file, options: options)
    await #expect(throws: RecorderError.self) { try await recorder.finish() }
    #expect(try Data(contentsOf: file) == Data("precious".utf8))
  }

  @Test("Finishing twice gives the same summary, and nothing can be appended after it")
  func finishTwice() async throws {
    let recorder = try Recorder(to: URL(filePath: MediaFactory.newPath("mov")))
    for sample in try clip.samples() { try recorder.append(sample) }
    async let one = recorder.finish()
    async let two = recorder.finish()
    let summaries = try await [one, two, recorder.finish()]
    #expect(Set(summaries).count == 1)
    #expect(throws: RecorderError.notRecording) { try recorder.append(try clip.sample(0, at: 1)) }
  }

  @Test("A recorder that is let go completes its file by itself")
  func released() async throws {
    let path = try MediaFactory.newPath("mp4")
    do {
      let recorder = try Recorder(to: URL(filePath: path))
      for sample in try clip.samples() { try recorder.append(sample) }
    }
    let file = Observed<Int>()
    for _ in 0..<200 where file.values.last != 90 {
      file.record((try? MediaInspector.pictureCount(path)) ?? 0)
    }
    #expect(file.values.last == 90)
    #expect(try MediaInspector.complaints(path) == "")
  }

  @Test("What can't be recorded as it is is refused by name, and the recording goes on")
  func refusals() async throws {
    let recorder = try Recorder(to: URL(filePath: MediaFactory.newPath("mp4")))
    let raw = try CMSampleBuffer.decodedPicture()
    do throws(RecorderError) {
      try recorder.append(raw)
      Issue.record("decoded video was taken")
    } catch {
      #expect(error.name == "recorder.needsCompressedVideo")
      #expect(error.message.contains(".hvc1"))
    }
    for sample in try clip.samples() { try recorder.append(sample) }
    let summary = try await recorder.finish()
    #expect(summary.statistics.framesIn == 91)
    #expect(summary.statistics.framesDropped == 1)
  }

  @Test("An unknown ending needs a container by name")
  func unknownEnding() async throws {
    let path = try MediaFactory.newPath("video")
    #expect(throws: RecorderError.unknownContainer(path: path)) { _ = try Recorder(to: URL(filePath: path)) }
    var options = Recorder.Options()
    options.container = .mkv
    let recorder = try Recorder(to: URL(filePath: path), options: options)
    for sample in try clip.samples() { try recorder.append(sample) }
    _ = try await recorder.finish()
    #expect(try MediaInspector.pictureCount(path) == 90)
  }
}
