import LinkProtocol
import MWDATCamera
import MWDATCore
import Units

/// From `start()` to the first decoded picture in an app's hands, again and again in one session.
struct FirstFrameBench {
  struct Figures: BenchFigures {
    let setting: BenchSetting
    let firstFrame: Spread

    enum CodingKeys: String, CodingKey {
      case setting
      case firstFrame = "first_frame"
    }

    /// The percentiles stand in the object itself too, where a script looks first.
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(setting, forKey: .setting)
      try container.encode(firstFrame, forKey: .firstFrame)
      try firstFrame.encode(to: encoder)
    }

    var text: String { "first frame  \(firstFrame.text)\n\(setting.text)\n" }
  }

  private let arguments: Arguments
  private let timekeeper: any Timekeeper

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
  }

  func run() async throws(CommandFailure) -> Figures {
    let feed = arguments.givenText(.feed)
    let camera = try await OpenCamera.open(arguments, arguments.configuration(.raw))
    var times: [Duration] = []
    var failure: String?
    for _ in 0..<(arguments.count(.runs) ?? 20) where failure == nil && Interruption.shared.signal == nil {
      switch await measure(camera.stream) {
      case .success(let time): times.append(time)
      case .failure(let cause): failure = cause.words
      }
    }
    await camera.close()
    if let failure { throw CommandFailure(feed: feed, cause: failure) }
    guard let spread = Spread(times) else {
      throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure")
    }
    return Figures(setting: BenchSetting(arguments), firstFrame: spread)
  }

  private struct Cause: Error { let words: String }

  private func measure(_ stream: MWDATCamera.Stream) async -> Result<Duration, Cause> {
    let first = ResumeOnce<Result<Instant, Cause>>()
    let stopped = ResumeOnce<Void>()
    let watch = StreamWatch(stream) { cause in
      first.resume(with: .failure(Cause(words: cause ?? "the stream stopped")))
      stopped.resume(with: ())
    }
    let token = stream.videoFramePublisher.listen { [timekeeper] _ in
      first.resume(with: .success(timekeeper.now))
    }
    let begun = timekeeper.now
    stream.start()
    let outcome = await first.value()
    await token.cancel()
    stream.stop()
    await stopped.value()
    watch.end()
    return outcome.map { $0 - begun }
  }
}
