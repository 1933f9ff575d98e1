import LinkProtocol
import MWDATCamera
import MWDATCore
import Units

/// What the listeners of one stream may hear, as a value: each thing that they hear goes in, what is wrong with it comes
/// out.
struct StreamModel: Sendable {
  private(set) var path: StatePath<StreamState>
  private let strictness: Strictness
  private let patience: Duration
  /// Pictures have come in the present attempt.
  private var hasStreamed = false
  /// An error that explains the end that has to follow.
  private var explanation: StreamError?
  /// Ends that were asked for and have not been announced.
  private var wishes = 0
  private var lastNews: Instant
  private var lastStamp: CMTime?
  private let hasAudio: Bool
  private var sound = AudioModel()
  private var acceptedPhotos = 0
  private var photoResults = 0

  init(_ name: String, _ configuration: StreamConfiguration, at now: Instant, _ strictness: Strictness) {
    path = StatePath(name, from: .stopped, at: now, legal: LegalPaths.stream, bound: StateBounds.bound)
    self.strictness = strictness
    // The lowest rate that can be agreed on for what was asked.
    patience = max(.seconds(1), .seconds(3) / (configuration.frameRate < 5 ? 2 : 7))
    hasAudio = configuration.audioCodec != nil
    lastNews = now
  }

  private var name: String { path.name }

  mutating func moved(to state: StreamState, isParentEnding: Bool, at now: Instant) -> [String] {
    var wrong = silence(at: now)
    let before = path.state
    if let text = path.move(to: state, at: now) { wrong.append(text) }
    lastNews = now
    if before == .waitingForDevice, state == .streaming || state == .paused, !hasStreamed {
      wrong.append("\(name): \(state) directly after waitingForDevice, though nothing had streamed")
    }
    if let explanation, state != .stopping {
      wrong.append("\(name): the error \(explanation) was followed by \(state)")
      self.explanation = nil
    }
    switch state {
    case .streaming: hasStreamed = true
    case .stopping:
      if explanation == nil, !isParentEnding, wishes == 0 {
        wrong.append("\(name): ends from \(before) without an error, and nobody asked for it")
      }
      if explanation == nil { wishes = max(0, wishes - 1) }
      explanation = nil
    case .stopped:
      hasStreamed = false
      sound = AudioModel()
      if acceptedPhotos != photoResults {
        wrong.append("\(name): stopped, and \(acceptedPhotos - photoResults) accepted photos have had no result")
      }
    case .waitingForDevice, .starting, .paused: break
    }
    return wrong
  }

  mutating func failed(_ error: StreamError, at now: Instant) -> [String] {
    var wrong = silence(at: now)
    lastNews = now
    if error == .photoCaptureFailed { return wrong + photoEnded() }
    if path.state == .stopped {
      // The answer to starting what is over.
      if error != .internalError { wrong.append("\(name): \(error) while stopped") }
    } else if let explanation {
      wrong.append("\(name): \(error) after \(explanation), with no state between")
    } else {
      explanation = error
    }
    return wrong
  }

  mutating func delivered(_ stamp: CMTime, state: StreamState?, at now: Instant) -> [String] {
    var wrong = silence(at: now)
    lastNews = now
    if let lastStamp, stamp <= lastStamp {
      wrong.append("\(name): a frame of \(CMTimeGetSeconds(stamp)) after one of \(CMTimeGetSeconds(lastStamp))")
    }
    lastStamp = stamp
    if strictness.isExact, let state, !mayHave(.pictures, in: state) { wrong.append("\(name): a frame while \(state)") }
    return wrong
  }

  mutating func heard(_ frame: AudioFrame, state: StreamState?, at now: Instant) -> [String] {
    var wrong = sound.heard(frame, isExact: strictness.isExact).map { "\(name): \($0)" }
    if !hasAudio { wrong.append("\(name): sound that nobody asked for") }
    if strictness.isExact, let state, !mayHave(.sound, in: state) { wrong.append("\(name): sound while \(state)") }
    return wrong
  }

  /// While sound is missing pictures go on, and the other way round; the tail of sound is heard after a stop.
  private func mayHave(_ medium: StreamMachine.Medium, in state: StreamState) -> Bool {
    switch state {
    case .streaming: true
    case .starting, .waitingForDevice: hasAudio && hasStreamed
    case .stopping: medium == .sound
    case .paused, .stopped: false
    }
  }

  mutating func photoCame() -> [String] { photoEnded() }

  private mutating func photoEnded() -> [String] {
    photoResults += 1
    return photoResults > acceptedPhotos ? ["\(name): \(photoResults) results for \(acceptedPhotos) photos"] : []
  }

  mutating func photoAccepted() { acceptedPhotos += 1 }
  mutating func endWished() { wishes += 1 }

  /// Nothing more is under way, so what was wished for has been announced.
  mutating func settled(state: StreamState?, at now: Instant) -> [String] {
    var wrong = silence(at: now)
    if path.state == .stopped { wishes = 0 }
    if let state, strictness.isExact, state != path.state {
      wrong.append("\(name): is \(state), and its listeners heard \(path.state) last")
    }
    if let explanation { wrong.append("\(name): no state followed the error \(explanation)") }
    if let text = path.overdue(at: now, slack: strictness.slack) { wrong.append(text) }
    return wrong
  }

  /// No observer of a streaming stream goes longer without a frame, an error or a state.
  private func silence(at now: Instant) -> [String] {
    guard path.state == .streaming, now - lastNews > patience + strictness.slack else { return [] }
    return ["\(name): nothing for \(now - lastNews) while streaming"]
  }
}
