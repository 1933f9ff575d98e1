import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// How late sound is, and what it adds: runs with and without sound in turn, so that both meet the same machine.
///
/// A frame of sound can't come before its last sample was captured, so its time counts from there: the frame's own length is
/// taken off.
struct AudioBench {
  struct Figures: BenchFigures {
    /// One way of streaming, as medians over its runs.
    struct Pictures: Codable, Equatable, Sendable {
      /// The median from capture to decoded delivery of each run, and of these the median.
      let latency: Double
      let cpuPercent: Double

      enum CodingKeys: String, CodingKey {
        case latency = "video_p50_ms"
        case cpuPercent = "cpu_percent"
      }
    }

    let setting: BenchSetting
    /// Of sound, beyond a frame's own length: of each figure the median over the runs.
    let latency: Spread
    let with: Pictures
    let without: Pictures
    /// Of a core, glasses and app together: the median of the differences between each run and its neighbour.
    let addedCPUPercent: Double
    /// The same of the median latency of pictures, in percent of that without sound.
    let addedVideoLatencyPercent: Double
    let runs: Int
    let missing: Int

    enum CodingKeys: String, CodingKey {
      case setting, latency, runs, missing
      case with = "with_audio"
      case without = "without_audio"
      case addedCPUPercent = "added_cpu_percent"
      case addedVideoLatencyPercent = "added_video_p50_percent"
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(setting, forKey: .setting)
      try container.encode(latency, forKey: .latency)
      try container.encode(with, forKey: .with)
      try container.encode(without, forKey: .without)
      try container.encode(addedCPUPercent, forKey: .addedCPUPercent)
      try container.encode(addedVideoLatencyPercent, forKey: .addedVideoLatencyPercent)
      try container.encode(runs, forKey: .runs)
      try container.encode(missing, forKey: .missing)
      try latency.encode(to: encoder)
    }

    var text: String {
      let decimal = ProgressLine.decimal
      return """
        sound    \(latency.text)
                 beyond the 20 ms of a frame, median of the runs; \(missing) samples missing
        video    p50 \(decimal(with.latency, 3)) ms with sound, \(decimal(without.latency, 3)) ms without; \
        pair by pair \(decimal(addedVideoLatencyPercent, 1)) % more
        core     \(decimal(with.cpuPercent, 1)) % with sound, \(decimal(without.cpuPercent, 1)) % without; \
        pair by pair \(decimal(addedCPUPercent, 2)) points more
        \(runs) runs of each in turn; \(setting.text)

        """
    }
  }

  /// Left out at the beginning of each run: codecs and pools are being made.
  fileprivate static let warmUp: Duration = .seconds(1)
  private static let usualRuns = 5

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let length: Duration
  private let runs: Int

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    length = arguments.duration(.seconds) ?? .seconds(5)
    runs = arguments.has(.runs) ? arguments.count(.runs) ?? Self.usualRuns : Self.usualRuns
  }

  /// What one run gave.
  private struct Run: Sendable {
    var sound: [Duration] = []
    var pictures: [Duration] = []
    var missing = 0
    var cpuPercent = 0.0
  }

  func run() async throws(CommandFailure) -> Figures {
    var pairs: [(with: Run, without: Run)] = []
    for number in 0..<runs where Interruption.shared.signal == nil {
      // Which comes first changes, so that neither always finds the warmer machine.
      let first = try await measure(withAudio: number.isMultiple(of: 2))
      let second = try await measure(withAudio: !number.isMultiple(of: 2))
      pairs.append(number.isMultiple(of: 2) ? (first, second) : (second, first))
    }
    // The last pair is incomplete if a signal came.
    if Interruption.shared.signal != nil, pairs.count > 1 { pairs.removeLast() }
    let latencies = pairs.compactMap { pair -> (with: Double, without: Double)? in
      guard let with = Spread(pair.with.pictures), let without = Spread(pair.without.pictures) else { return nil }
      return (with.p50, without.p50)
    }
    guard let sound = Spread(medianOf: pairs.compactMap { Spread($0.with.sound) }), !latencies.isEmpty else {
      throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure")
    }
    return Figures(
      setting: BenchSetting(arguments), latency: sound,
      with: .init(
        latency: Spread.median(latencies.map(\.with)), cpuPercent: Spread.median(pairs.map(\.with.cpuPercent))),
      without: .init(
        latency: Spread.median(latencies.map(\.without)), cpuPercent: Spread.median(pairs.map(\.without.cpuPercent))),
      addedCPUPercent: Spread.median(pairs.map { $0.with.cpuPercent - $0.without.cpuPercent }),
      addedVideoLatencyPercent: Spread.median(latencies.map { ($0.with / max($0.without, 0.001) - 1) * 100 }),
      runs: pairs.count, missing: pairs.reduce(0) { $0 + $1.with.missing })
  }

  private func measure(withAudio: Bool) async throws(CommandFailure) -> Run {
    let feed = arguments.givenText(.feed)
    let usual = arguments.configuration(.raw)
    let configuration = StreamConfiguration(
      videoCodec: usual.videoCodec,
      audioCodec: withAudio ? .pcm(sampleRate: .rate48000, numberOfChannels: 2) : nil,
      resolution: usual.resolution, frameRate: usual.frameRate)
    let camera = try await OpenCamera.open(arguments, configuration)
    let stream = camera.stream
    let end = ResumeOnce<String?>()
    let meter = Meter(timekeeper: timekeeper, length: length)
    let watch = StreamWatch(stream) { end.resume(with: $0 ?? "the stream stopped") }
    let tokens = ListenerTokenBag()
    stream.videoFramePublisher.listen { frame in
      if meter.saw(CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)) { end.resume(with: nil) }
    }.store(in: tokens)
    if withAudio { stream.audioFramePublisher.listen { meter.heard($0) }.store(in: tokens) }
    Interruption.shared.whenRaised { _ in end.resume(with: nil) }
    stream.start()
    let cause = await end.value()
    let run = meter.end()
    tokens.clear()
    watch.end()
    await camera.close()
    if let cause { throw CommandFailure(feed: feed, cause: cause) }
    return run
  }

  /// Takes a run's figures while it lasts.
  private final class Meter: Sendable {
    private struct State {
      var run = Run()
      /// The end of the warm-up.
      var begun: Instant?
      var processor: Duration = .zero
    }

    private let timekeeper: any Timekeeper
    private let length: Duration
    private let state = Mutex(State())

    init(timekeeper: any Timekeeper, length: Duration) {
      self.timekeeper = timekeeper
      self.length = length
    }

    /// - Returns: true when the run has its length.
    func saw(_ stamp: CMTime) -> Bool {
      let now = timekeeper.now
      guard let captured = stamp.hostInstant else { return false }
      return state.withLock { state in
        guard let begun = state.begun else {
          state.begun = now + AudioBench.warmUp
          return false
        }
        guard now >= begun else { return false }
        if state.run.pictures.isEmpty { state.processor = ProcessorTime.now }
        state.run.pictures.append(now - captured)
        return now - begun >= length
      }
    }

    func heard(_ frame: AudioFrame) {
      let now = timekeeper.now
      let buffer = frame.pcmBuffer
      guard let captured = frame.presentationTimeStamp.hostInstant else { return }
      let own = Duration.seconds(Double(buffer.frameLength) / buffer.format.sampleRate)
      state.withLock { state in
        guard let begun = state.begun, now >= begun else { return }
        state.run.sound.append(now - captured - own)
        state.run.missing += frame.missingSamples
      }
    }

    func end() -> Run {
      let now = timekeeper.now
      let used = ProcessorTime.now
      return state.withLock { state in
        let wall = state.begun.map { now - $0 } ?? .zero
        if !state.run.pictures.isEmpty, wall > .zero {
          state.run.cpuPercent = (used - state.processor).seconds / wall.seconds * 100
        }
        return state.run
      }
    }
  }
}
