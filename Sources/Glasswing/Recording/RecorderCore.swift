import Foundation
import LinkProtocol
import MWDATCamera
import MWDATCore
import MediaEngine
import Synchronization
import Units

/// A recorder's inside. Lives on while a file is being completed, also after its recorder was released.
///
/// Three lanes: one writes, one forces data to the disk, one tells listeners. None waits for another.
final class RecorderCore: Sendable {
  typealias Outcome = RecorderState.Outcome

  /// How long the end waits for a stream's listeners, which do nothing but take.
  private static let drainDeadline: Duration = .milliseconds(500)

  let events: Broadcaster<RecordingEvent>
  private let path: String
  private let container: RecordingContainer
  private let codec: AudioEncoder.Codec?
  private let options: Recorder.Options
  private let timekeeper: any Timekeeper
  private let writingLane: any Lane
  private let syncLane: any Lane
  private let eventLane: any Lane
  private let writer: RecordingWriter
  private let state: Mutex<RecorderState>
  private let isSyncing = Atomic<Bool>(false)
  private let isFlushing = Atomic<Bool>(false)

  /// - Parameter codec: what sound is kept in; nil for none.
  init(
    path: String, container: RecordingContainer, codec: AudioEncoder.Codec?, isNew: Bool, options: Recorder.Options,
    timekeeper: any Timekeeper
  ) {
    self.codec = codec
    self.path = path
    self.container = container
    self.options = options
    self.timekeeper = timekeeper
    writingLane = timekeeper.makeLane("record")
    syncLane = timekeeper.makeLane("record-sync")
    eventLane = timekeeper.makeLane("record-events")
    events = Broadcaster(lane: eventLane)
    writer = RecordingWriter(
      path: path, container: container, codec: codec, overwrites: options.overwrites, isNew: isNew, limit: options.limit
    )
    let limits = RecordingQueue<RecordingUnit>.Limits(span: options.queueSpan, bytes: .bytes(options.queueBytes))
    state = Mutex(RecorderState(limits: limits))
    if let format = options.audioFormat?.recorded { expectAudio(format) }
  }

  var statistics: RecordingStatistics {
    state.withLock { state in
      var statistics = state.written
      statistics.framesIn = state.queue.offered + state.unreadable
      statistics.framesDropped = state.queue.dropped + state.unreadable
      statistics.audioDropped += state.sound.dropped
      return statistics
    }
  }

  // MARK: Samples in

  func take(_ stream: MWDATCamera.Stream) throws(RecorderError) {
    let isFree = try state.withLock { state throws(RecorderError) in
      try state.checkOpen()
      guard state.stream == nil else { return false }
      state.stream = stream
      return true
    }
    guard isFree else { throw .notRecording }
    var tokens: [any AnyListenerToken] = []
    if codec != nil, let sound = stream.streamConfiguration.audioCodec {
      expectAudio(sound.recordedFormat)
      tokens.append(
        stream.audioFramePublisher.listen { [weak self] frame in
          // What ended the recording has been told; nobody is to be thrown to.
          try? self?.record(frame)
        })
    }
    if !container.isAudioOnly {
      tokens.append(
        stream.videoFramePublisher.listen { [weak self] frame in
          // A sample that can't be recorded is counted; there is nobody to throw to.
          _ = try? self?.append(frame.sampleBuffer, isDelivered: true)
        })
    }
    // Ended meanwhile: the tokens go with this scope.
    state.withLock { state in
      if state.stream != nil, !state.isEnding { state.tokens = tokens }
    }
    if !container.isAudioOnly { stream.requestKeyframe() }
  }

  private func record(_ frame: AudioFrame) throws(RecorderError) {
    let sound: RecordingAudioBlock
    do throws(RecorderError) {
      sound = try RecordingAudioBlock(frame.pcmBuffer, at: frame.presentationTimeStamp)
    } catch {
      let rate = frame.pcmBuffer.format.sampleRate
      let seconds = rate.isFinite && rate >= 1 ? Double(frame.pcmBuffer.frameLength) / rate : 0
      state.withLock { state in
        if let event = state.sound.refuse(.seconds(seconds)) { events.send(event) }
      }
      throw error
    }
    _ = try append(sound, isDelivered: true)
  }

  /// - Parameter isDelivered: whether a stream has delivered it, perhaps before the end.
  func append(_ sample: CMSampleBuffer, isDelivered: Bool = false) throws(RecorderError) -> Bool {
    let unit: RecordingUnit
    do throws(RecorderError) {
      unit = try RecordingUnit(sample)
    } catch {
      try state.withLock { state throws(RecorderError) in
        try state.checkOpen(isDelivered: isDelivered)
        state.unreadable += 1
      }
      throw error
    }
    let now = timekeeper.now
    let verdict = try state.withLock { state throws(RecorderError) -> RecordingQueue<RecordingUnit>.Verdict? in
      try state.checkOpen(isDelivered: isDelivered)
      if case .full = state.phase { return nil }
      let verdict = state.queue.offer(unit, bytes: unit.size, isSync: unit.isSync, at: now)
      switch verdict {
      case .queued: beginDraining(&state)
      case .overflow: events.send(RecordingEvent(.overflowed))
      case .needsSync: break
      }
      return verdict
    }
    return verdict == .queued
  }

  /// - Returns: false when it was dropped.
  func append(_ sound: RecordingAudioBlock, isDelivered: Bool = false) throws(RecorderError) -> Bool {
    let now = timekeeper.now
    return try state.withLock { state throws(RecorderError) in
      try state.checkOpen(isDelivered: isDelivered)
      if case .full = state.phase { return false }
      guard codec != nil, sound.frames > 0 else { return false }
      let (isTaken, event) = state.sound.offer(sound, at: now)
      if let event { events.send(event) }
      if isTaken { beginDraining(&state) }
      return isTaken
    }
  }

  /// Before the first picture, on the lane that writes it.
  private func expectAudio(_ format: PCMFormat) { writingLane.run { self.writer.expectAudio(format) } }

  private func beginDraining(_ state: inout RecorderState) {
    guard !state.isDraining else { return }
    state.isDraining = true
    writingLane.run { self.drain() }
  }

  // MARK: Writing, on the writing lane

  private func drain() {
    while let entry = state.withLock({ $0.next() }) {
      do throws(RecorderError) {
        try write(entry)
      } catch {
        guard error.severity != .terminal else {
          fail(error)
          continue
        }
        switch entry {
        case .picture: refuse()
        case .sound(let sound): refuse(sound)
        }
      }
    }
  }

  private func write(_ entry: RecorderState.Entry) throws(RecorderError) {
    let outcome: RecordingWriter.Outcome
    switch entry {
    case .picture(let unit): outcome = try writer.write(unit, usualFrame: usualFrame)
    case .sound(let sound): outcome = try writer.write(sound)
    }
    let statistics = writer.statistics
    state.withLock { $0.written = statistics }
    for event in outcome.events { events.send(event) }
    if outcome.reachedLimit {
      if case .picture = entry { reachLimit(withPicture: true) } else { reachLimit(withPicture: false) }
    } else {
      scheduleSync()
      scheduleFlush()
    }
  }

  /// A picture can't be written: the next can be a sync sample alone.
  private func refuse() {
    let stream = state.withLock { state in
      state.queue.refuse()
      return state.stream
    }
    stream?.requestKeyframe()
  }

  /// Sound that can't be written.
  private func refuse(_ sound: RecordingAudioBlock) {
    state.withLock { state in
      if let event = state.sound.refuse(sound.duration) { events.send(event) }
    }
  }

  /// How long a frame lasts, by what the stream agreed on.
  private func usualFrame() -> Duration? {
    guard let rate = state.withLock({ $0.stream })?.negotiatedConfiguration?.frameRate, rate > 0 else { return nil }
    return .seconds(1) / rate
  }

  /// - Parameter withPicture: whether a picture showed it.
  private func reachLimit(withPicture: Bool) {
    let isFirst = state.withLock { state in
      // The one that showed it and all that follow were never asked for.
      if withPicture { state.queue.forgetTaken() }
      state.queue.forgetAll()
      state.sound.forgetAll()
      guard case .recording = state.phase else { return false }
      state.phase = .full
      return true
    }
    if isFirst { events.send(RecordingEvent(.reachedLimit)) }
  }

  private func fail(_ error: RecorderError) {
    // Best effort: the muxer has flushed what it could, and the file plays up to there.
    try? writer.finish()
    let statistics = writer.statistics
    let released = state.withLock { state in
      state.queue.removeAll(butFor: statistics.framesWritten)
      state.sound.removeAll()
      state.written = statistics
      state.fail(error)
      defer {
        state.tokens = []
        state.stream = nil
      }
      return (state.tokens, state.stream)
    }
    withExtendedLifetime(released) {}
    events.send(RecordingEvent(.failed, file: writer.files.last, error: error))
  }

  /// When no unit comes for a while, the last ones must not rest in the muxer; nor the last sound, while pictures come.
  private func scheduleFlush() {
    guard !isFlushing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let written = statistics
    writingLane.run(at: timekeeper.now + writer.patience) { [weak self] in
      guard let self else { return }
      isFlushing.store(false, ordering: .releasing)
      guard case .recording = state.withLock({ $0.phase }) else { return }
      let now = statistics
      let (frames, sound) = (now.framesWritten, now.audioDuration)
      let isResting =
        frames == written.framesWritten && frames != writer.flushed.frames
        || sound == written.audioDuration && sound != writer.flushed.sound
      if isResting {
        do throws(RecorderError) {
          try writer.flush()
          scheduleSync()
        } catch {
          return fail(error)
        }
      }
      if frames != written.framesWritten || sound != written.audioDuration { scheduleFlush() }
    }
  }

  /// The first write after a synchronization plans the next one.
  private func scheduleSync() {
    let files = writer.openFiles
    guard !files.isEmpty, !isSyncing.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let interval = min(options.syncInterval, .seconds(1))
    syncLane.run(at: timekeeper.now + interval) { [weak self] in
      self?.isSyncing.store(false, ordering: .releasing)
      // A disk that refuses shows at the next write, which reports it with its cause.
      for file in files { try? file.synchronize() }
    }
  }

  // MARK: The end

  func finish() async throws(RecorderError) -> RecordingSummary {
    let waiter = ResumeOnce<Outcome>()
    let watch = timekeeper.makeLane("record-watch")
    let stalled = RecorderError.stalled(path: path)
    let timer = watch.run(at: timekeeper.now + options.finishDeadline) { waiter.resume(with: .failure(stalled)) }
    complete(waiter)
    let outcome = await withCheckedContinuation { waiter.store($0) }
    timer.cancel()
    watch.end()
    return try outcome.get()
  }

  /// Begins to complete the file, unless that was begun; tells the waiter when it is done. What a stream has delivered
  /// by now is taken before.
  func complete(_ waiter: ResumeOnce<Outcome>?) {
    let (outcome, tokens): (Outcome?, [any AnyListenerToken]?) = state.withLock { state in
      if case .finished(let outcome) = state.phase { return (outcome, nil) }
      if let waiter { state.waiters.append(waiter) }
      guard !state.isEnding else { return (nil, nil) }
      state.isEnding = true
      state.undrained = state.tokens.count
      return (nil, state.tokens)
    }
    if let outcome { waiter?.resume(with: outcome) }
    guard let tokens else { return }
    guard !tokens.isEmpty else { return close() }
    // Not on the writing lane, where a disk may be stuck.
    eventLane.run(at: timekeeper.now + Self.drainDeadline) { self.close() }
    for token in tokens.compactMap({ $0 as? ListenerToken }) { token.drained { self.drainedOne() } }
  }

  private func drainedOne() {
    let isLast = state.withLock { state in
      state.undrained -= 1
      return state.undrained == 0
    }
    if isLast { close() }
  }

  /// Takes nothing any more, and completes the file once what waits is written.
  private func close() {
    let released: (tokens: [any AnyListenerToken], stream: MWDATCamera.Stream?) = state.withLock { state in
      guard state.beginFinishing() else { return ([], nil) }
      // Behind the drain that is queued, if any: the lane keeps the order.
      writingLane.run { self.completeFile() }
      defer {
        state.tokens = []
        state.stream = nil
      }
      return (state.tokens, state.stream)
    }
    withExtendedLifetime(released) {}
  }

  /// On the writing lane, after the last unit.
  private func completeFile() {
    var failure = state.withLock { $0.failure }
    if failure == nil {
      do throws(RecorderError) {
        try writer.finish()
      } catch {
        failure = error
        let written = writer.statistics.framesWritten
        state.withLock { $0.queue.removeAll(butFor: written) }
      }
    }
    for event in writer.takeEvents() { events.send(event) }
    let outcome = makeOutcome(failure)
    let waiters = state.withLock { state in
      state.phase = .finished(outcome)
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(with: outcome) }
    events.finish()
    syncLane.end()
    eventLane.run { [eventLane] in eventLane.end() }
    writingLane.end()
  }

  private func makeOutcome(_ failure: RecorderError?) -> Outcome {
    let statistics = writer.statistics
    state.withLock { $0.written = statistics }
    if let failure { return .failure(failure) }
    guard !writer.files.isEmpty else { return .failure(.nothingRecorded(path: path)) }
    return .success(
      RecordingSummary(
        files: writer.files, container: container, firstFrameNanoseconds: writer.firstFrame?.nanoseconds,
        statistics: self.statistics))
  }
}
