import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// Allocations for each delivered frame while a stream runs steadily, of glasses and app together: of pictures, decoded and
/// compressed, and of sound, which is what a stream with it allocates beyond one without.
struct AllocationBench {
  struct Figures: BenchFigures {
    let setting: BenchSetting
    let raw: PerFrame
    let compressed: PerFrame
    /// 20 ms of it, 48 kHz and stereo.
    let audio: PerFrame

    enum CodingKeys: String, CodingKey {
      case setting, raw, audio
      case compressed = "hvc1"
    }

    var text: String {
      "raw    \(raw.text)\nhvc1   \(compressed.text)\nsound  \(audio.text)\n\(setting.text)\n"
    }
  }

  /// What one frame costs on average.
  struct PerFrame: Codable, Equatable, Sendable {
    let frames: Int
    /// Of Swift code, the runtime and Foundation.
    let calls: Double
    let bytes: Double
    /// Of the codecs and other libraries.
    let libraryCalls: Double
    let libraryBytes: Double

    enum CodingKeys: String, CodingKey {
      case frames
      case calls = "calls_per_frame"
      case bytes = "bytes_per_frame"
      case libraryCalls = "library_calls_per_frame"
      case libraryBytes = "library_bytes_per_frame"
    }

    var text: String {
      "\(ProgressLine.decimal(calls, places: 1)) calls, \(ProgressLine.decimal(bytes / 1024, places: 1)) KiB a frame; "
        + "libraries \(ProgressLine.decimal(libraryCalls, places: 1)) calls, "
        + "\(ProgressLine.decimal(libraryBytes / 1024, places: 1)) KiB  (\(frames))"
    }
  }

  /// Frames that come before the counting begins: pools, tables and buffers have their sizes by then.
  private static let warmUp = 60

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let length: Duration

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    length = arguments.duration(.seconds) ?? .seconds(10)
  }

  func run() async throws(CommandFailure) -> Figures {
    guard AllocationCounter.install() != nil else {
      throw CommandFailure(
        subject: "bench", "allocations can't be counted in this build", next: "build it as a dynamic executable")
    }
    let raw = try await measure(.raw)
    let compressed = try await measure(.hvc1)
    let withAudio = try await measure(.hvc1, withAudio: true)
    return Figures(
      setting: BenchSetting(arguments), raw: PerFrame(raw), compressed: PerFrame(compressed),
      audio: PerFrame(audioOf: withAudio, beside: compressed))
  }

  /// What was counted while so many frames came.
  fileprivate struct Stretch {
    let frames: Int
    let audioFrames: Int
    let swift: AllocationCounter.Counts
    let libraries: AllocationCounter.Counts
  }

  private struct Mark: Sendable {
    var frames = 0
    var audioFrames = 0
    var swift = AllocationCounter.counts(.swift)
    var libraries = AllocationCounter.counts(.libraries)
    var time: Instant
  }

  private struct Marks: Sendable {
    var frames = 0
    var audioFrames = 0
    var first: Mark?
    var last: Mark?
  }

  private func measure(_ codec: VideoCodec, withAudio: Bool = false) async throws(CommandFailure) -> Stretch {
    let feed = arguments.givenText(.feed)
    let usual = arguments.configuration(codec)
    let configuration = StreamConfiguration(
      videoCodec: usual.videoCodec,
      audioCodec: withAudio ? .pcm(sampleRate: .rate48000, numberOfChannels: 2) : nil, resolution: usual.resolution,
      frameRate: usual.frameRate)
    let camera = try await OpenCamera.open(arguments, configuration)
    let end = ResumeOnce<String?>()
    let marks = Mutex(Marks())
    let watch = StreamWatch(camera.stream) { end.resume(with: $0 ?? "the stream stopped") }
    let tokens = ListenerTokenBag()
    if withAudio {
      camera.stream.audioFramePublisher.listen { _ in marks.withLock { $0.audioFrames += 1 } }.store(in: tokens)
    }
    camera.stream.videoFramePublisher.listen { [timekeeper, length] _ in
      let now = timekeeper.now
      let isOver = marks.withLock { marks in
        marks.frames += 1
        guard marks.frames >= Self.warmUp else { return false }
        let mark = Mark(frames: marks.frames, audioFrames: marks.audioFrames, time: now)
        marks.first = marks.first ?? mark
        marks.last = mark
        return marks.first.map { now - $0.time >= length } ?? false
      }
      if isOver { end.resume(with: nil) }
    }.store(in: tokens)
    Interruption.shared.whenRaised { _ in end.resume(with: nil) }
    camera.stream.start()
    let cause = await end.value()
    await tokens.cancelAll()
    watch.end()
    await camera.close()
    if let cause { throw CommandFailure(feed: feed, cause: cause) }
    guard let first = marks.withLock({ $0.first }), let last = marks.withLock({ $0.last }), last.frames > first.frames
    else { throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure") }
    return Stretch(
      frames: last.frames - first.frames, audioFrames: last.audioFrames - first.audioFrames,
      swift: last.swift - first.swift, libraries: last.libraries - first.libraries)
  }
}

extension AllocationBench.PerFrame {
  fileprivate init(_ stretch: AllocationBench.Stretch) {
    self.init(stretch, pictures: stretch, share: 0, of: stretch.frames)
  }

  /// Each frame of sound in the one stretch: what its pictures alone would allocate, by the other, is taken off.
  fileprivate init(audioOf stretch: AllocationBench.Stretch, beside pictures: AllocationBench.Stretch) {
    let share = Double(stretch.frames) / Double(max(1, pictures.frames))
    self.init(stretch, pictures: pictures, share: share, of: stretch.audioFrames)
  }

  private init(
    _ stretch: AllocationBench.Stretch, pictures: AllocationBench.Stretch, share: Double, of frames: Int
  ) {
    func each(_ total: Int, _ less: Int) -> Double {
      ((Double(total) - Double(less) * share) / Double(max(1, frames)) * 10).rounded() / 10
    }
    self.init(
      frames: frames, calls: each(stretch.swift.calls, pictures.swift.calls),
      bytes: each(stretch.swift.bytes, pictures.swift.bytes),
      libraryCalls: each(stretch.libraries.calls, pictures.libraries.calls),
      libraryBytes: each(stretch.libraries.bytes, pictures.libraries.bytes))
  }
}
