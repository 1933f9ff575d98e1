import LinkProtocol
import MWDATCore
import Synchronization
import Units

/// Counts what happens to one stream. Any thread; nothing here waits, and its memory is bounded.
package final class TelemetryRecorder: Sendable {
  private struct State {
    var totals = StreamTelemetry()
    var units = RateMeter()
    var frames = RateMeter()
    /// When the current attempt was started.
    var started: Instant?
  }

  package let events: Broadcaster<StreamTelemetryEvent>
  private let timekeeper: any Timekeeper
  private let state = Mutex(State())

  package init(timekeeper: any Timekeeper, lane: any Lane) {
    self.timekeeper = timekeeper
    events = Broadcaster(lane: lane)
  }

  package func snapshot() -> StreamTelemetry {
    let now = timekeeper.now
    return state.withLock { state in
      var totals = state.totals
      (totals.unitsPerSecond, totals.bitrate) = state.units.rates(at: now)
      totals.framesPerSecond = state.frames.rates(at: now).unitsPerSecond
      if let last = totals.recentStalls.last, !last.isOver {
        totals.recentStalls[totals.recentStalls.count - 1].length = now - last.began
      }
      return totals
    }
  }

  /// Pictures a second that the glasses agreed to; nil before they did.
  package var frameRate: UInt8? { state.withLock { $0.totals.negotiatedVideo?.frameRate } }

  /// Tells listeners, and counts what the event says by itself.
  package func note(_ kind: StreamTelemetryEvent.Kind) {
    let now = timekeeper.now
    state.withLock { state in
      switch kind {
      case .started:
        state.totals.starts += 1
        state.totals.ages = AgeHistogram()
        state.totals.firstFrame = nil
        state.totals.negotiatedVideo = nil
        state.started = now
      case .negotiated(let video), .changed(_, let video, _):
        state.totals.negotiatedVideo = video
      case .gap(let lost, _):
        state.totals.gaps += 1
        state.totals.drops.lost = state.totals.drops.lost.addingSaturating(UInt64(max(0, lost)))
      case .keyframeRequested:
        state.totals.keyframeRequests += 1
      case .failed(let failure):
        state.totals.failures += 1
        remember(failure.text, &state.totals)
      case .decoderFailed(let text), .photoFailed(let text):
        remember(text, &state.totals)
      case .stallBegan(let since, _, _):
        state.totals.stalls += 1
        if state.totals.recentStalls.count >= StreamTelemetry.stallLimit { state.totals.recentStalls.removeFirst() }
        state.totals.recentStalls.append(.init(began: since, length: now - since, isOver: false))
      case .stallEnded(let since, let length):
        state.totals.stalledTime += length
        _ = state.totals.recentStalls.popLast()
        state.totals.recentStalls.append(.init(began: since, length: length, isOver: true))
      case .keyframeArrived, .decoderBehind, .listenerBehind, .clockRealigned, .waiting, .reconnecting, .reconnected,
        .paused, .resumed, .audioChanged, .audioGap, .audioUnusable, .audioListenerBehind:
        break
      }
      events.send(StreamTelemetryEvent(kind, at: now))
    }
  }

  package func count(_ change: (inout StreamTelemetry.Drops) -> Void) {
    state.withLock { change(&$0.totals.drops) }
  }

  package func unitArrived(bytes: Int, isSync: Bool, at arrived: Instant) {
    state.withLock { state in
      state.totals.units += 1
      state.totals.bytes = state.totals.bytes.addingSaturating(UInt64(bytes))
      if isSync { state.totals.syncUnits += 1 }
      state.units.record(bytes: bytes, at: arrived)
    }
  }

  package func pictureDecoded() { state.withLock { $0.totals.decodedPictures += 1 } }

  /// The unit that makes a stream `.streaming` has passed, with nobody listening for it.
  package func unitPassed() {
    let now = timekeeper.now
    state.withLock { noteFirst(&$0, at: now) }
  }

  package func frameDelivered(captured: Instant) {
    let now = timekeeper.now
    state.withLock { state in
      state.totals.frames += 1
      state.frames.record(bytes: 0, at: now)
      state.totals.ages.record(now - captured)
      noteFirst(&state, at: now)
    }
  }

  private func noteFirst(_ state: inout State, at now: Instant) {
    guard state.totals.firstFrame == nil, let started = state.started else { return }
    state.totals.firstFrame = now - started
  }

  private func remember(_ text: String, _ totals: inout StreamTelemetry) {
    guard !text.isEmpty else { return }
    if totals.errorTexts.count >= StreamTelemetry.errorLimit { totals.errorTexts.removeFirst() }
    totals.errorTexts.append(text)
  }
}
