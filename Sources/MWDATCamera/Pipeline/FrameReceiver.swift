import LinkProtocol
import LinkTransport
import PortableMedia
import Synchronization
import Units

/// Takes the units of one stream from the link, lets none pass that depends on a missing one, and turns the others into
/// what listeners hear: sample buffers at once for `.hvc1`, work for the decoder for `.raw`.
///
/// Units come on the link lane; opening, holding and closing may come from any thread.
final class FrameReceiver: Sendable {
  private struct State {
    var opening: FrameOutlet.Opening?
    /// The session rests.
    var isHeld = false
    var gate = LossGate()
    /// What passes next comes after a rest.
    var isAfterRest = false
    var hasPassed = false
    var samples = UnitSampleFactory()
    var interval = SourceInterval()
  }

  /// What became of a unit, decided under the lock.
  private enum Passage {
    case none
    case passed(FrameOutlet.Opening, isDiscontinuity: Bool, CMSampleBuffer?)
    /// No unit of this stream can be used; the text says why.
    case unusable(StreamID, String)
  }

  private let codec: VideoCodec
  private let telemetry: TelemetryRecorder
  private let requester: KeyframeRequester
  let outlet: FrameOutlet
  private let decode: DecodeStage
  private let events = FrameEvents()
  private let refusals = SyncUnitRefusals()
  private let recent = RecentUnits()
  private let state = Mutex(State())

  /// - Parameter verifiesPictures: as `Stream.verifiesPictures`.
  init(
    codec: VideoCodec, link: LinkConnection, timekeeper: any Timekeeper, telemetry: TelemetryRecorder,
    verifiesPictures: Bool
  ) {
    self.codec = codec
    self.telemetry = telemetry
    requester = KeyframeRequester(link: link, timekeeper: timekeeper, telemetry: telemetry)
    outlet = FrameOutlet(codec: codec, timekeeper: timekeeper, requester: requester, recent: recent)
    decode = DecodeStage(
      outlet: outlet, timekeeper: timekeeper, telemetry: telemetry, requester: requester, events: events,
      refusals: refusals, recent: recent, verifiesPictures: verifiesPictures)
    outlet.onListenersChanged { [weak self] in self?.listenersChanged($0) }
    let behind = SumTeller(lane: link.lane, timekeeper: timekeeper) { listener, frames in
      telemetry.note(.listenerBehind(listener: listener, dropped: frames))
    }
    outlet.onDrops { behind.add($1, to: $0) }
  }

  func serve(_ owner: any FrameOwner) { events.serve(owner) }

  func open(_ stream: StreamID) {
    let opening = outlet.open(stream)
    recent.forget()
    state.withLock { $0 = State(opening: opening) }
    refusals.open(stream)
    requester.open(stream)
    if codec == .raw { decode.open(opening) }
  }

  /// Nothing passes until `resume`, also of what waits for listeners.
  func hold() {
    state.withLock { $0.isHeld = true }
    requester.hold()
    outlet.close()
  }

  /// From the next sync unit on, since what came during the rest is missing. Glasses begin with one; if they don't, the
  /// gate asks.
  func resume() {
    requester.resume()
    guard let stream = state.withLock({ $0.opening?.stream }) else { return }
    recent.forget()
    let opening = outlet.open(stream)
    if codec == .raw { decode.open(opening) }
    state.withLock { state in
      state.opening = opening
      state.isHeld = false
      state.gate = LossGate()
      state.interval.rested()
      state.isAfterRest = true
    }
  }

  func close() {
    state.withLock { $0 = State() }
    requester.close()
    outlet.close()
    decode.close()
    recent.forget()
  }

  /// How far apart the source of the running stream takes its pictures; zero until that is known.
  var sourceInterval: Duration { state.withLock { $0.interval.shortest } }

  func requestKeyframe(_ reason: KeyframeRequest.Reason) { requester.request(reason) }

  private func listenersChanged(_ change: FrameOutlet.ListenersChange) {
    if codec == .raw { decode.matchListeners() }
    switch change {
    case .removed:
      break
    case .added:
      // A stream of which nothing has passed begins with a sync unit anyway.
      let isRunning = state.withLock { $0.hasPassed && !$0.isHeld }
      if isRunning { requester.request(.lateListener) }
    }
  }

  /// On the link lane.
  func receive(_ received: ReceivedUnit) {
    switch state.withLock({ pass(received, &$0) }) {
    case .none:
      break
    case .unusable(let stream, let text):
      events.failed(stream, text)
    case .passed(let opening, let isDiscontinuity, let sample):
      let hasListeners = outlet.hasListeners
      if !hasListeners { telemetry.unitPassed() }
      events.passed(opening.stream, isFrame: codec == .hvc1 || !hasListeners)
      switch codec {
      case .raw:
        decode.offer(received, isDiscontinuity: isDiscontinuity)
      case .hvc1:
        guard let sample else { return }
        let isSync = received.unit.flags.contains(.sync)
        telemetry.frameDelivered(captured: received.presentation)
        outlet.deliver(
          VideoFrame(sampleBuffer: sample, isSync: isSync, followsGap: isDiscontinuity), of: opening)
      }
    }
  }

  private func pass(_ received: ReceivedUnit, _ state: inout State) -> Passage {
    let unit = received.unit
    guard let opening = state.opening, unit.stream == opening.stream, !state.isHeld else {
      telemetry.count { $0.stale += 1 }
      return .none
    }
    telemetry.unitArrived(bytes: unit.payload.count, isSync: unit.flags.contains(.sync), at: received.arrived)
    guard unit.codec == .hevc else {
      return .unusable(opening.stream, "the glasses send \(unit.codec) where HEVC was asked for")
    }
    state.interval.arrived(
      captured: received.presentation, lostBefore: received.lostBefore, isGap: unit.flags.contains(.discontinuity))
    let isGap = received.lostBefore > 0 || unit.flags.contains(.discontinuity)
    let layout: AccessUnitLayout
    do throws(UnusableUnit) {
      layout = try state.samples.examine(unit)
    } catch {
      if isGap { telemetry.note(.gap(lost: received.lostBefore, withheld: 0)) }
      return refuse(unit, error, opening.stream, &state)
    }
    let wasWaiting = state.gate.isWaiting
    let verdict = state.gate.admit(sequence: received.sequence, flags: unit.flags, lostBefore: received.lostBefore)
    if isGap {
      telemetry.note(.gap(lost: received.lostBefore, withheld: state.gate.isWaiting ? state.gate.withheldInWait : 0))
    }
    switch verdict {
    case .withhold(let asks):
      telemetry.count { $0.withheld += 1 }
      if asks { requester.request(.loss) }
      return .none
    case .deliver(let afterGap):
      if unit.flags.contains(.sync) {
        // Of what is decoded the decoder has the last word.
        if codec == .hvc1 || !outlet.hasListeners { refusals.used(opening.stream) }
        requester.syncUnitArrived()
      }
      if wasWaiting || afterGap { telemetry.note(.keyframeArrived(withheld: state.gate.withheldInWait)) }
      let isDiscontinuity = afterGap || state.isAfterRest
      state.isAfterRest = false
      state.hasPassed = true
      recent.passed(received)
      return sample(received, layout, isDiscontinuity, opening, &state)
    }
  }

  /// A unit that is not what it says it is, is as good as lost.
  private func refuse(
    _ unit: AccessUnit, _ cause: UnusableUnit, _ stream: StreamID, _ state: inout State
  ) -> Passage {
    telemetry.count { $0.undecodable += 1 }
    telemetry.note(.decoderFailed(text: cause.description))
    if state.gate.lose() { requester.request(.loss) }
    guard unit.flags.contains(.sync), refusals.refused(stream) else { return .none }
    return .unusable(stream, cause.description)
  }

  private func sample(
    _ received: ReceivedUnit, _ layout: AccessUnitLayout, _ isDiscontinuity: Bool, _ opening: FrameOutlet.Opening,
    _ state: inout State
  ) -> Passage {
    guard codec == .hvc1, outlet.hasListeners else {
      return .passed(opening, isDiscontinuity: isDiscontinuity, nil)
    }
    let sample = state.samples.makeSample(received, layout)
    return .passed(opening, isDiscontinuity: isDiscontinuity, sample)
  }
}
