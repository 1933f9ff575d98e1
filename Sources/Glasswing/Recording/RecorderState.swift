import LinkProtocol
import MWDATCamera
import MWDATCore

/// Where a recorder stands, and what waits to be written; guarded by its lock.
struct RecorderState {
  typealias Outcome = Result<RecordingSummary, RecorderError>

  enum Phase {
    case recording
    /// The asked length is reached: nothing more is taken.
    case full
    /// An error ended it; the file is as complete as it could be made.
    case failed(RecorderError)
    /// Nothing more is taken; what waits is still written, unless that has failed.
    case finishing(RecorderError?)
    case finished(Outcome)
  }

  /// What is to be written.
  enum Entry {
    case picture(RecordingUnit)
    case sound(RecordingAudioBlock)
  }

  var phase = Phase.recording
  /// `finish` was called: only what a stream has delivered before is still taken.
  var isEnding = false
  /// How many of the stream's listeners have not heard all of that yet.
  var undrained = 0
  var queue: RecordingQueue<RecordingUnit>
  var sound: RecordingAudioQueue
  /// Whether the writing lane has been told that there is something.
  var isDraining = false
  /// Samples that could not even be queued.
  var unreadable = 0
  var written = RecordingStatistics()
  var tokens: [any AnyListenerToken] = []
  var stream: MWDATCamera.Stream?
  var waiters: [ResumeOnce<Outcome>] = []

  init(limits: RecordingQueue<RecordingUnit>.Limits) {
    queue = RecordingQueue(limits: limits)
    sound = RecordingAudioQueue(limits: limits)
  }

  /// - Parameter isDelivered: whether it is about something that a stream has delivered, perhaps before the end.
  func checkOpen(isDelivered: Bool = false) throws(RecorderError) {
    switch phase {
    case .recording, .full:
      guard !isEnding || isDelivered else { throw .notRecording }
    case .failed(let error): throw error
    case .finishing, .finished: throw .notRecording
    }
  }

  /// What is to be written next, the one that belongs first; sound as well as pictures without a time go at once. With nil
  /// the writing lane has to be told of more.
  mutating func next() -> Entry? {
    if let first = sound.first {
      let picture = queue.first
      let isBefore = picture?.presentation.map { (first.presentation ?? $0) <= $0 } ?? (picture == nil)
      if isBefore, let first = sound.take() { return .sound(first) }
    }
    if let unit = queue.take() { return .picture(unit) }
    isDraining = false
    return nil
  }

  /// What ended the recording; the first of several.
  mutating func fail(_ error: RecorderError) {
    switch phase {
    case .recording, .full: phase = .failed(error)
    case .finishing(let failure): phase = .finishing(failure ?? error)
    case .failed, .finished: break
    }
  }

  /// The recording is to be completed; false when that has begun.
  mutating func beginFinishing() -> Bool {
    switch phase {
    case .recording, .full: phase = .finishing(nil)
    case .failed(let error): phase = .finishing(error)
    case .finishing, .finished: return false
    }
    return true
  }

  /// What failed before the recording was completed.
  var failure: RecorderError? {
    switch phase {
    case .failed(let error): error
    case .finishing(let error): error
    case .recording, .full, .finished: nil
    }
  }
}
