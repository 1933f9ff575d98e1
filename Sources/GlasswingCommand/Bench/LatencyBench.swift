import GlassesAgent
import LinkProtocol
import MWDATCamera
import MWDATCore
import MediaEncoding
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// From a picture's capture to its decoded delivery, beside what encoding and decoding the same pictures cost by themselves
/// at the same pace: the difference is what the rest of the way takes.
struct LatencyBench {
  struct Figures: BenchFigures {
    let setting: BenchSetting
    let latency: Spread
    let encode: Spread
    let decode: Spread
    /// Median latency without the medians of encoding and decoding.
    let overhead: Double
    let frames: Int
    let dropped: Int

    enum CodingKeys: String, CodingKey {
      case setting, latency, encode, decode, frames, dropped
      case encodeMedian = "encode_p50_ms"
      case decodeMedian = "decode_p50_ms"
      case overhead = "overhead_p50_ms"
    }

    init(setting: BenchSetting, latency: Spread, encode: Spread, decode: Spread, dropped: Int) {
      self.setting = setting
      self.latency = latency
      self.encode = encode
      self.decode = decode
      overhead = ((latency.p50 - encode.p50 - decode.p50) * 1000).rounded() / 1000
      frames = latency.count
      self.dropped = dropped
    }

    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      self.init(
        setting: try container.decode(BenchSetting.self, forKey: .setting),
        latency: try container.decode(Spread.self, forKey: .latency),
        encode: try container.decode(Spread.self, forKey: .encode),
        decode: try container.decode(Spread.self, forKey: .decode),
        dropped: try container.decode(Int.self, forKey: .dropped))
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: CodingKeys.self)
      try container.encode(setting, forKey: .setting)
      try container.encode(latency, forKey: .latency)
      try container.encode(encode, forKey: .encode)
      try container.encode(decode, forKey: .decode)
      try container.encode(encode.p50, forKey: .encodeMedian)
      try container.encode(decode.p50, forKey: .decodeMedian)
      try container.encode(overhead, forKey: .overhead)
      try container.encode(frames, forKey: .frames)
      try container.encode(dropped, forKey: .dropped)
      try latency.encode(to: encoder)
    }

    var text: String {
      """
      latency  \(latency.text)
      encode   \(encode.text)
      decode   \(decode.text)
      overhead p50 \(ProgressLine.decimal(overhead, places: 3)) ms, \(dropped) dropped
      \(setting.text)

      """
    }
  }

  private let arguments: Arguments
  private let timekeeper: any Timekeeper
  private let setting: BenchSetting
  private let length: Duration

  init(_ arguments: Arguments, _ timekeeper: any Timekeeper) {
    self.arguments = arguments
    self.timekeeper = timekeeper
    setting = BenchSetting(arguments)
    length = arguments.duration(.seconds) ?? .seconds(10)
  }

  func run() async throws(CommandFailure) -> Figures {
    let (latencies, dropped) = try await wholeWay()
    let (encodes, decodes) = try await codecsAlone()
    guard let latency = Spread(latencies), let encode = Spread(encodes), let decode = Spread(decodes) else {
      throw CommandFailure(.cutOff, subject: "bench", "interrupted before the first figure")
    }
    return Figures(setting: setting, latency: latency, encode: encode, decode: decode, dropped: dropped)
  }

  private func wholeWay() async throws(CommandFailure) -> ([Duration], Int) {
    let feed = arguments.givenText(.feed)
    let camera = try await OpenCamera.open(arguments, arguments.configuration(.raw))
    let stream = camera.stream
    let end = ResumeOnce<String?>()
    let ages = Mutex<[Duration]>([])
    let watch = StreamWatch(stream) { end.resume(with: $0 ?? "the stream stopped") }
    let lane = timekeeper.makeLane("bench-length")
    let token = stream.videoFramePublisher.listen { [timekeeper, length] frame in
      let now = timekeeper.now
      guard let captured = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer).hostInstant else { return }
      let isFirst = ages.withLock { ages in
        defer { ages.append(now - captured) }
        return ages.isEmpty
      }
      if isFirst { lane.run(at: now + length) { end.resume(with: nil) } }
    }
    Interruption.shared.whenRaised { _ in end.resume(with: nil) }
    stream.start()
    let cause = await end.value()
    await token.cancel()
    let dropped = Int(clamping: stream.statistics.drops.total)
    watch.end()
    lane.end()
    await camera.close()
    if let cause { throw CommandFailure(feed: feed, cause: cause) }
    return (ages.withLock { $0 }, dropped)
  }

  /// Encodes and decodes the same pictures one at a time, at the stream's pace, so that caches and clock rates are as cold
  /// as they are on the way.
  private func codecsAlone() async throws(CommandFailure) -> ([Duration], [Duration]) {
    let lane = timekeeper.makeLane("bench-codecs")
    defer { lane.end() }
    do {
      let source = try SourceForBench(arguments, setting)
      let encoder = try HEVCEncoder(
        HEVCEncoder.Configuration(
          size: setting.size, frameRate: Double(setting.framesPerSecond),
          bitrate: arguments.bitrate(.bitrate)
            ?? VideoBitrate.default(for: setting.size, frameRate: Double(setting.framesPerSecond)),
          keyframeInterval: VideoPipeline.keyframeInterval))
      let decoder = try VideoDecoder(codec: .hevc)
      var encodes: [Duration] = []
      var decodes: [Duration] = []
      let interval: Duration = .seconds(1) / setting.framesPerSecond
      let begun = timekeeper.now
      var elapsed: Duration = .zero
      while elapsed < length, Interruption.shared.signal == nil {
        await timekeeper.sleep(until: begun + elapsed, on: lane)
        let picture = try source.picture(at: elapsed)
        let start = timekeeper.now
        let unit = try encoder.encode(picture)
        let middle = timekeeper.now
        _ = try unit.payload.withUnsafeBytes { bytes in try decoder.decode(bytes) }
        decodes.append(timekeeper.now - middle)
        encodes.append(middle - start)
        elapsed += interval
      }
      encoder.close()
      return (encodes, decodes)
    } catch let error as SourceError {
      throw CommandFailure(feed: arguments.givenText(.feed), cause: error.text)
    } catch {
      throw CommandFailure(subject: "bench", "\(error)", next: "see glasswing doctor")
    }
  }
}

/// The pictures that a stream of these settings would encode.
private struct SourceForBench {
  private let source: any VideoSource
  private let scaler: PictureScaler?

  init(_ arguments: Arguments, _ setting: BenchSetting) throws {
    let feed = arguments.givenText(.feed).map { FeedDescription.file(path: $0) } ?? .pattern
    source = try feed.makeSource(size: setting.size, frameRate: Double(setting.framesPerSecond))
    scaler = source.nativeSize == setting.size ? nil : PictureScaler(size: setting.size)
  }

  func picture(at elapsed: Duration) throws -> CVPixelBuffer {
    let picture = try source.picture(at: elapsed).buffer
    return try scaler?.fit(picture) ?? picture
  }
}
