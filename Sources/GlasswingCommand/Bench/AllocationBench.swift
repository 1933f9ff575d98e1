import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// Allocations for each delivered frame while a stream runs steadily, of glasses and app together, decoded and compressed.
struct AllocationBench {
  struct Figures: BenchFigures {
    let setting: BenchSetting
    let raw: PerFrame
    let compressed: PerFrame

    enum CodingKeys: String, CodingKey {
      case setting, raw
      case compressed = "hvc1"
    }

    var text: String { "raw   \(raw.text)\nhvc1  \(compressed.text)\n\(setting.text)\n" }
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
    return Figures(setting: BenchSetting(arguments), raw: raw, compressed: compressed)
  }

  fileprivate struct Mark: Sendable {
    var frames = 0
    var swift = AllocationCounter.counts(.swift)
    var libraries = AllocationCounter.counts(.libraries)
    var time: Instant
  }

  private struct Marks: Sendable {
    var frames = 0
    var first: Mark?
    var last: Mark?
  }

  private func measure(_ codec: VideoCodec) async throws(CommandFailure) -> PerFrame {
    let feed = arguments.givenText(.feed)
    let camera = try await SimulatedCamera.open(arguments, arguments.configuration(codec))
    let end = ResumeOnce<String?>()
    let marks = Mutex(Marks())
    let watch = StreamWatch(camera.stream) { end.resume(with: $0 ?? "the stream stopped") }
    let token = camera.stream.videoFramePublisher.listen { [timekeeper, length] _ in
      let now = timekeeper.now
      let isOver = marks.withLock { marks in
        marks.frames += 1
        guard marks.frames >= Self.warmUp else { return false }
        let mark = Mark(frames: marks.frames, time: now)
        marks.first = marks.first ?? mark
        marks.last = mark
        return marks.first.map { now - $0.time >= length } ?? false
      }
      if isOver { end.resume(with: nil) }
    }
    Interruption.shared.whenRaised { _ in end.resume(with: nil) }
    camera.stream.start()
    let cause = await end.value()
    await token.cancel()
    watch.end()
    await camera.close()
    if let cause { throw CommandFailure(feed: feed, cause: cause) }
    guard let first = marks.withLock({ $0.first }), let last = marks.withLock({ $0.last }), last.frames > first.frames
    else { throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure") }
    return PerFrame(first, last)
  }
}

extension AllocationBench.PerFrame {
  fileprivate init(_ first: AllocationBench.Mark, _ last: AllocationBench.Mark) {
    let count = last.frames - first.frames
    func each(_ total: Int) -> Double { (Double(total) / Double(count) * 10).rounded() / 10 }
    let swift = last.swift - first.swift
    let libraries = last.libraries - first.libraries
    self.init(
      frames: count, calls: each(swift.calls), bytes: each(swift.bytes), libraryCalls: each(libraries.calls),
      libraryBytes: each(libraries.bytes))
  }
}
