import TestSupport
import Units

@testable import LinkProtocol

/// A sender with a scripted encoder on a scripted link: pictures at the rung's rate, whose sizes vary as an encoder's do,
/// a sync unit every two seconds and after each overflow.
struct RateBench {
  /// What was seen at one look, for assertions and figures.
  struct Look {
    var time: Double
    var target: Bitrate
    var estimate: Bitrate
    var delay: Duration
    var video: VideoParameters
  }

  /// Units of sound, each of so many bytes and frames.
  struct Sound {
    var bytes: Int
    var frames: UInt16
    var rate: UInt32
  }

  static let medium = PixelSize(width: 504, height: 896)
  static let low = PixelSize(width: 360, height: 640)

  /// Medium, low, and low at 24 and 15 a second, with the bit rates of the glasses.
  static var ladder: Ladder {
    func rung(_ size: PixelSize, _ frameRate: UInt8, _ rate: Int64) -> Ladder.Rung {
      Ladder.Rung(
        video: VideoParameters(codec: .hevc, size: size, frameRate: frameRate), bitrate: .kilobitsPerSecond(rate))
    }
    return Ladder(top: rung(medium, 30, 1500), lower: [rung(low, 30, 800), rung(low, 24, 688), rung(low, 15, 520)])
  }

  var pair: EndpointPair
  var rate: SendingRate
  /// Bits a second that the encoder spends at most, whatever it may; a still scene.
  var content: Bitrate?
  /// The encoder keeps to each rung's own bit rate, as replayed units do.
  var ignoresTarget = false
  /// What is sent beside the pictures.
  var sound: Sound?
  /// If given, sound is sent as Opus, of 64 kbit/s, where this says so.
  var choice: AudioCodecChoice?
  private(set) var looks: [Look] = []
  private(set) var steps: [(time: Double, from: VideoParameters, to: VideoParameters)] = []
  /// Pictures in the order in which they came, with when they were captured.
  private(set) var arrivals: [(time: Double, delay: Duration)] = []
  var delays: [Duration] { arrivals.map(\.delay) }
  private(set) var audioDelays: [Duration] = []
  /// What is on its way does not arrive before; more is taken meanwhile, as by a radio that buffers.
  private var heldUntil: Instant?
  private var nextAudio: Instant
  private(set) var largestWait = Duration.zero
  private var generator = SeededGenerator(seed: 7)
  private var pictures = 0
  private var sinceSync = 0
  private var debt = 0.0
  private var needsSync = true
  private let began: Instant

  init(_ ladder: Ladder = RateBench.ladder) {
    pair = EndpointPair()
    // Little waits below the queue, as in a socket that is told to.
    pair.writeLimit = 4096 + ChunkHeader.length
    rate = SendingRate(ladder)
    pair.open()
    began = pair.now
    nextAudio = pair.now
  }

  var time: Double { (pair.now - began).seconds }
  var delivered: UInt64 { pair.app.statistics.received(.video).bytes }

  mutating func limit(_ rate: Bitrate?) { pair.rate[.glasses] = rate.map { Int($0.bitsPerSecond / 8) } }

  /// Holds all that the glasses send back for so long, then lets it arrive at once.
  mutating func hold(for duration: Duration) {
    heldUntil = pair.now + duration
    run(for: duration)
  }

  mutating func run(for duration: Duration) {
    let end = pair.now + duration
    while pair.now < end {
      if let heldUntil {
        pair.latency[.glasses] = max(heldUntil - pair.now, .zero)
        if heldUntil <= pair.now { self.heldUntil = nil }
      }
      send()
      let next = pair.now + .seconds(1) / Int(rate.rung.video.frameRate)
      nextAudio = max(nextAudio, pair.now)
      while sound != nil, nextAudio < next {
        pair.advance(by: nextAudio - pair.now)
        sendAudio()
      }
      pair.advance(by: next - pair.now)
      note()
    }
  }

  private mutating func send() {
    let isSync = needsSync || sinceSync >= 2 * Int(rate.rung.video.frameRate)
    needsSync = false
    sinceSync = isSync ? 0 : sinceSync + 1
    let unit = AccessUnit(
      stream: StreamID(1), flags: isSync ? [.sync, .parameterSets] : [], codec: .hevc, size: rate.rung.video.size,
      captured: DeviceTime(nanoseconds: pair.now.nanoseconds),
      payload: [UInt8](repeating: 1, count: size(isSync: isSync)))
    pair.input(.glasses) { endpoint, now in endpoint.send(unit, at: now) }
    look()
  }

  private mutating func sendAudio() {
    guard var sound else { return }
    let codec = choice?.look(estimate: rate.limit, at: pair.now) ?? .pcmFloat32
    let channels = sound.bytes / (4 * Int(sound.frames))
    if codec == .opus { sound.bytes = 160 }
    let unit = AudioUnit(
      stream: StreamID(1), codec: codec, sampleRate: sound.rate, channels: UInt8(channels), frames: sound.frames,
      captured: DeviceTime(nanoseconds: pair.now.nanoseconds), payload: [UInt8](repeating: 1, count: sound.bytes))
    pair.input(.glasses) { endpoint, now in endpoint.send(unit, at: now) }
    nextAudio = nextAudio + .milliseconds(20)
  }

  /// As `FrameRateControl` spends: a sync unit of a third of a second, paid back by the pictures after it.
  private mutating func size(isSync: Bool) -> Int {
    let most = ignoresTarget ? rate.rung.bitrate : rate.target
    let bits = Double(min(most, content ?? most).bitsPerSecond)
    let share = bits / Double(rate.rung.video.frameRate)
    var spent = share * Double.random(in: 0.6...1.4, using: &generator)
    if isSync { spent = bits * 0.3 } else { spent = min(max(spent - debt * 0.15, share * 0.3), share * 1.6) }
    debt += spent - share
    return max(200, Int(spent / 8))
  }

  private mutating func look() {
    let before = rate.rung
    let flow = pair.glasses.videoFlow(at: pair.now)
    guard rate.look(flow) else { return }
    if rate.rung != before {
      steps.append((time, before.video, rate.rung.video))
      needsSync = true
    }
    looks.append(
      Look(
        time: time, target: rate.target, estimate: rate.control.estimate, delay: flow.waitingAge + flow.travelDelay,
        video: rate.rung.video))
  }

  private mutating func note() {
    for event in pair.takeGlassesEvents() {
      guard case .videoDropped(_, _, true) = event else { continue }
      look()
      needsSync = true
    }
    for event in pair.takeAppEvents() {
      switch event {
      case .accessUnit(let received):
        let captured = Instant(nanoseconds: received.unit.captured.nanoseconds)
        arrivals.append(((captured - began).seconds, received.arrived - captured))
      case .audio(let received):
        audioDelays.append(received.arrived - Instant(nanoseconds: received.unit.captured.nanoseconds))
      default: break
      }
    }
    largestWait = max(largestWait, pair.glasses.videoFlow(at: pair.now).waitingAge)
  }

  /// A percentile of the delays from capture to arrival.
  func delay(_ share: Double) -> Duration { percentile(delays, share) }
  func audioDelay(_ share: Double) -> Duration { percentile(audioDelays, share) }
  var deliveredAudio: Int { audioDelays.count }

  private func percentile(_ delays: [Duration], _ share: Double) -> Duration {
    let sorted = delays.sorted()
    return sorted.isEmpty ? .zero : sorted[min(sorted.count - 1, Int(Double(sorted.count) * share))]
  }

  /// The same of the pictures that were captured in a stretch.
  func delay(_ share: Double, in stretch: Range<Double>) -> Duration {
    percentile(arrivals.filter { stretch.contains($0.time) }.map(\.delay), share)
  }

  /// When the estimate first was so much, from a time on, in seconds after it.
  func wait(for estimate: Bitrate, from start: Double) -> Double? {
    looks.first { $0.time >= start && $0.estimate >= estimate }.map { $0.time - start }
  }

  /// The mean of what was aimed at since a time.
  func meanEstimate(since start: Double) -> Double {
    let part = looks.filter { $0.time >= start }
    return part.reduce(0) { $0 + $1.estimate.kilobitsPerSecond } / Double(max(1, part.count))
  }
}
