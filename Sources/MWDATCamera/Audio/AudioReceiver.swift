import LinkProtocol
import LinkTransport
import MWDATCore
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// Takes the units of one stream's sound from the link and turns them into what listeners hear, while somebody listens
/// and no longer.
///
/// Units come on the link lane, and are decoded there: 20 ms of sound cost less than a hand-over to a lane of their own
/// would. Opening, holding and closing may come from any thread. Nothing here shares a lock with the pictures.
final class AudioReceiver: Sendable {
  private struct State {
    var opening: AudioOutlet.Opening?
    /// The session rests.
    var isHeld = false
    /// The stream is `.streaming`, or was since it was opened or went on.
    var hasBegun = false
    /// What came before that, to be heard with the first picture; `earlyLimit` at most, the oldest go.
    var early: [ReceivedAudio] = []
    /// Nil while nobody listens.
    var path: AudioPath?
    /// Room for what a unit yields, used again for each.
    var room: [AudioPath.Piece] = []
  }

  /// What is to be handed on, decided under the lock.
  private struct Outcome {
    var opening: AudioOutlet.Opening?
    var pieces: [AudioPath.Piece] = []
    var correction = 0.0
    var unusable = 0
  }

  /// Half a second, as sound waits nowhere longer. With the unit that sets them going they come at once, and have to fit
  /// into a listener's queue.
  private static let earlyLimit = AudioOutlet.limit - 1

  let outlet: AudioOutlet
  private let asked: AudioParameters?
  private let format: AVAudioFormat?
  private let lane: any Lane
  private let recorder: AudioRecorder
  private let events: TelemetryRecorder
  private let arrivals: AudioArrivals
  private let gaps: SumTeller
  private let unusable: SumTeller
  private let state = Mutex(State())
  private let current = Mutex<LinkAudioStatus?>(nil)

  /// - Parameter asked: what listeners have; nil for a stream without sound.
  init(
    asked: AudioParameters?, link: LinkConnection, timekeeper: any Timekeeper, events: TelemetryRecorder,
    arrivals: AudioArrivals
  ) {
    self.asked = asked
    self.events = events
    self.arrivals = arrivals
    format = asked.flatMap {
      AVAudioFormat(
        standardFormatWithSampleRate: Double($0.sampleRate), channels: AVAudioChannelCount($0.channels))
    }
    lane = link.lane
    recorder = AudioRecorder(timekeeper: timekeeper)
    outlet = AudioOutlet(timekeeper: timekeeper)
    let rate = asked.map { PCMFormat(sampleRate: Int($0.sampleRate), channels: Int($0.channels)) }
    gaps = SumTeller(lane: lane, timekeeper: timekeeper) { _, samples in
      events.note(.audioGap(samples: samples, length: rate?.duration(frames: samples) ?? .zero))
    }
    unusable = SumTeller(lane: lane, timekeeper: timekeeper) { _, units in events.note(.audioUnusable(units: units)) }
    let behind = SumTeller(lane: lane, timekeeper: timekeeper) { listener, frames in
      events.note(.audioListenerBehind(listener: listener, dropped: frames))
    }
    outlet.onDrops { behind.add($1, to: $0) }
  }

  /// Counters and rates at this moment.
  var telemetry: AudioTelemetry {
    var telemetry = recorder.snapshot()
    telemetry.listeners = UInt64(outlet.droppedFrames)
    return telemetry
  }

  /// What the glasses send; nil before they said so.
  var status: LinkAudioStatus? { current.withLock { $0 } }

  func open(_ stream: StreamID) {
    guard asked != nil else { return }
    current.withLock { $0 = nil }
    recorder.began()
    let opening = outlet.open(stream)
    state.withLock { $0 = State(opening: opening) }
  }

  /// Sound may be heard from now on: the pictures have begun.
  func begin() { state.withLock { $0.hasBegun = true } }

  /// Nothing is heard until `resume` and the `begin` after it, also of what waits for listeners.
  func hold() {
    outlet.close()
    state.withLock { state in
      state.isHeld = true
      state.hasBegun = false
      state.early = []
      state.path?.rest()
    }
  }

  func resume() {
    guard let stream = state.withLock({ $0.opening?.stream }) else { return }
    let opening = outlet.open(stream)
    state.withLock { state in
      state.opening = opening
      state.isHeld = false
    }
  }

  func close() {
    outlet.close()
    state.withLock { $0 = State() }
  }

  /// The glasses send no more of the stream: calls `then` on the link lane once listeners have heard all of it, at once
  /// where there are none.
  func finish(_ stream: StreamID, then: @escaping @Sendable () -> Void) {
    let outcome = state.withLock { state in
      var outcome = Outcome()
      guard let opening = state.opening, opening.stream == stream, !state.isHeld, state.hasBegun else {
        return outcome
      }
      outcome.opening = opening
      if let piece = state.path?.finish() { outcome.pieces.append(piece) }
      return outcome
    }
    deliver(outcome)
    guard outcome.opening != nil, outlet.hasListeners else { return then() }
    outlet.drained { [lane] in lane.run(then) }
  }

  // MARK: - On the link lane

  func agreed(_ audio: AudioParameters) {
    guard let asked else { return }
    current.withLock { $0 = LinkAudioStatus(delivered: asked, onLink: audio) }
  }

  func changed(_ change: AudioChanged) {
    guard let asked else { return }
    let new = LinkAudioStatus(
      delivered: asked, onLink: change.audio, source: change.source, isMuted: change.isMuted)
    let old = current.withLock { status in
      defer { status = new }
      return status
    }
    if old != new { events.note(.audioChanged(from: old, to: new)) }
  }

  func receive(_ received: ReceivedAudio) {
    let isListening = outlet.hasListeners
    let outcome: Outcome? = state.withLock { state in
      guard let opening = state.opening, received.unit.stream == opening.stream, !state.isHeld else { return nil }
      return pass(received, opening, isListening: isListening, &state)
    }
    guard var outcome else { return recorder.count { $0.stale += 1 } }
    recorder.unitArrived(
      bytes: received.unit.payload.count, lost: received.lostBefore, at: received.arrived)
    deliver(outcome)
    outcome.pieces.removeAll(keepingCapacity: true)
    state.withLock { $0.room = outcome.pieces }
    // Sound that can't be used is missing.
    if outcome.unusable == 0 {
      arrivals.came(at: received.arrived)
    } else {
      recorder.count { $0.undecodable += UInt64(outcome.unusable) }
      unusable.add(outcome.unusable, to: 0)
    }
  }

  private func pass(
    _ received: ReceivedAudio, _ opening: AudioOutlet.Opening, isListening: Bool, _ state: inout State
  ) -> Outcome {
    var outcome = Outcome(opening: opening)
    guard isListening, let asked else {
      state.path = nil
      state.early = []
      return outcome
    }
    state.early.append(received)
    guard state.hasBegun else {
      if state.early.count > Self.earlyLimit { state.early.removeFirst() }
      return outcome
    }
    var path =
      state.path ?? AudioPath(PCMFormat(sampleRate: Int(asked.sampleRate), channels: Int(asked.channels)))
    // Not kept twice while they change.
    state.path = nil
    swap(&outcome.pieces, &state.room)
    for unit in state.early {
      do throws(MediaError) {
        try path.take(unit, into: &outcome.pieces)
      } catch {
        outcome.unusable += 1
      }
    }
    state.early.removeAll(keepingCapacity: true)
    outcome.correction = path.correction
    state.path = path
    return outcome
  }

  private func deliver(_ outcome: Outcome) {
    guard let opening = outcome.opening, let format else { return }
    for piece in outcome.pieces {
      guard let buffer = AVAudioPCMBuffer(format: format, interleaved: piece.samples) else { continue }
      recorder.delivered(
        samples: Int(buffer.frameLength), missing: piece.missing, captured: piece.start, correction: outcome.correction)
      if piece.missing > 0 { gaps.add(piece.missing, to: 0) }
      let frame = AudioFrame(
        buffer, start: piece.start, missingBefore: piece.missing, followsGap: piece.isDiscontinuity)
      outlet.deliver(AudioOutlet.Piece(frame: frame, position: piece.position), of: opening)
    }
  }
}
