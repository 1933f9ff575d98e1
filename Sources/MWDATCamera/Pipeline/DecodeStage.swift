import LinkProtocol
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// Decodes the units of a `.raw` stream, on a lane of its own, while somebody listens for frames and no longer.
///
/// The first listener that comes while a stream runs starts a new decoder, which begins with the last sync unit
/// (`RecentUnits`) or the next one, whichever gets it to the present sooner.
final class DecodeStage: Sendable {
  private struct State {
    var opening: FrameOutlet.Opening?
    var worker: DecodeWorker?
  }

  private let outlet: FrameOutlet
  private let timekeeper: any Timekeeper
  private let telemetry: TelemetryRecorder
  private let requester: KeyframeRequester
  private let events: FrameEvents
  private let refusals: SyncUnitRefusals
  private let recent: RecentUnits
  private let verifiesPictures: Bool
  private let state = Mutex(State())

  init(
    outlet: FrameOutlet, timekeeper: any Timekeeper, telemetry: TelemetryRecorder, requester: KeyframeRequester,
    events: FrameEvents, refusals: SyncUnitRefusals, recent: RecentUnits, verifiesPictures: Bool
  ) {
    self.recent = recent
    self.outlet = outlet
    self.timekeeper = timekeeper
    self.telemetry = telemetry
    self.requester = requester
    self.events = events
    self.refusals = refusals
    self.verifiesPictures = verifiesPictures
  }

  /// Also where a stream goes on after a rest: what the decoder has of the time before goes nowhere.
  func open(_ opening: FrameOutlet.Opening) {
    let old = state.withLock { state in
      state.opening = opening
      defer { state.worker = nil }
      return state.worker
    }
    old?.end()
    matchListeners()
  }

  /// A decode under way ends by itself, and its picture goes nowhere.
  func close() {
    let old = state.withLock { state in
      defer { state = State() }
      return state.worker
    }
    old?.end()
  }

  /// Starts or ends the decoder as listeners have come or gone.
  func matchListeners() {
    let old: DecodeWorker? = state.withLock { state in
      guard let opening = state.opening else { return nil }
      if outlet.hasListeners {
        guard state.worker == nil else { return nil }
        state.worker = DecodeWorker(
          opening: opening, lane: timekeeper.makeLane("decode"), outlet: outlet, telemetry: telemetry,
          requester: requester, events: events, refusals: refusals, recent: recent,
          verifiesPictures: verifiesPictures)
        return nil
      }
      defer { state.worker = nil }
      return state.worker
    }
    old?.end()
  }

  /// On the link lane.
  func offer(_ unit: ReceivedUnit, isDiscontinuity: Bool) {
    guard let worker = state.withLock({ $0.worker }) else { return }
    worker.offer(unit, isDiscontinuity: isDiscontinuity)
  }
}

/// One decoder with its queue and lane.
private final class DecodeWorker: Sendable {
  private struct Decoding {
    var decoder: VideoDecoder?
    var samples = PictureSampleFactory()
    /// Of the picture delivered last.
    var lastPresentation = Instant.distantPast
    /// Units were missing before a picture that has not come out yet.
    var isMarkDue = false
  }

  private let opening: FrameOutlet.Opening
  private let lane: any Lane
  private let outlet: FrameOutlet
  private let telemetry: TelemetryRecorder
  private let requester: KeyframeRequester
  private let events: FrameEvents
  private let refusals: SyncUnitRefusals
  private let recent: RecentUnits
  private let verifiesPictures: Bool
  private let queue = Mutex(DecodeQueue())
  /// Used on the lane only, so never contended.
  private let decoding = Mutex(Decoding())

  init(
    opening: FrameOutlet.Opening, lane: any Lane, outlet: FrameOutlet, telemetry: TelemetryRecorder,
    requester: KeyframeRequester, events: FrameEvents, refusals: SyncUnitRefusals, recent: RecentUnits,
    verifiesPictures: Bool
  ) {
    self.recent = recent
    self.opening = opening
    self.lane = lane
    self.outlet = outlet
    self.telemetry = telemetry
    self.requester = requester
    self.events = events
    self.refusals = refusals
    self.verifiesPictures = verifiesPictures
  }

  func end() { lane.end() }

  func offer(_ unit: ReceivedUnit, isDiscontinuity: Bool) {
    let offered = queue.withLock { queue in
      queue.offer(unit, isDiscontinuity: isDiscontinuity) { recent.units(before: unit.presentation) }
    }
    switch offered {
    case .caughtUp(let skipped):
      telemetry.count { $0.withheld += UInt64(skipped) }
      telemetry.note(.keyframeArrived(withheld: UInt64(skipped)))
      lane.run { self.decodeNext() }
    case .queued(let endsWait):
      if let withheld = endsWait { telemetry.note(.keyframeArrived(withheld: withheld)) }
      lane.run { self.decodeNext() }
    case .withheld(let asks):
      telemetry.count { $0.withheld += 1 }
      if asks { requester.request(.lateListener) }
    case .ranOver(let drop):
      telemetry.count { $0.decodeQueue += UInt64(drop.units) }
      telemetry.note(.decoderBehind(dropped: drop.units))
      if drop.asks { requester.request(.loss) } else { lane.run { self.decodeNext() } }
    }
  }

  /// On the lane. Finds nothing when what it was queued for has been dropped since.
  private func decodeNext() {
    guard let (entry, isCatchingUp) = queue.withLock({ $0.next() }) else { return }
    decoding.withLock { decode(entry, &$0) }
    if isCatchingUp { lane.run { self.decodeNext() } }
  }

  private func decode(_ entry: DecodeQueue.Entry, _ decoding: inout Decoding) {
    let unit = entry.unit
    let decoded: VideoDecoder.TaggedPicture?
    do throws(MediaError) {
      decoded = try decodePicture(unit, &decoding)
    } catch {
      return refused(unit, error)
    }
    refusals.used(opening.stream)
    if entry.isDiscontinuity { decoding.isMarkDue = true }
    guard let decoded else { return }
    // The picture's own time, which is an earlier unit's when the decoder holds pictures back.
    let presentation = Instant(nanoseconds: decoded.tag)
    guard presentation > decoding.lastPresentation else {
      return refused(unit, MediaError(.damagedPicture, while: .decoding, "a picture out of order"))
    }
    if verifiesPictures, !unit.unit.size.isSize(of: decoded.picture) {
      return refused(unit, MediaError(.damagedPicture, while: .decoding, "a picture of another size than it was said"))
    }
    decoding.lastPresentation = presentation
    guard entry.isShown else { return }
    let followsGap = decoding.isMarkDue
    decoding.isMarkDue = false
    telemetry.pictureDecoded()
    guard outlet.isOpen(opening) else { return }
    guard let sample = try? decoding.samples.makeSample(decoded.picture, presentation: presentation) else { return }
    telemetry.frameDelivered(captured: presentation)
    events.decoded(opening.stream)
    outlet.deliver(VideoFrame(sampleBuffer: sample, isSync: true, followsGap: followsGap), of: opening)
  }

  private func decodePicture(
    _ unit: ReceivedUnit, _ decoding: inout Decoding
  ) throws(MediaError) -> VideoDecoder.TaggedPicture? {
    let decoder: VideoDecoder
    if let existing = decoding.decoder {
      decoder = existing
    } else {
      decoder = try VideoDecoder(codec: .hevc, verifiesPictureHashes: verifiesPictures)
      decoding.decoder = decoder
    }
    // A result, since `withUnsafeBytes` passes no typed errors on.
    return try unit.unit.payload.withUnsafeBytes { bytes in
      Result { () throws(MediaError) in try decoder.decode(bytes, tag: unit.presentation.nanoseconds) }
    }.get()
  }

  /// A unit can't be decoded: the decoder goes on with the next sync unit.
  private func refused(_ unit: ReceivedUnit, _ error: MediaError) {
    let drop = queue.withLock { $0.decoderFailed() }
    telemetry.count { drops in
      drops.undecodable += 1
      drops.decodeQueue += UInt64(drop.units)
    }
    telemetry.note(.decoderFailed(text: error.description))
    if unit.unit.flags.contains(.sync), refusals.refused(opening.stream) {
      events.failed(opening.stream, error.description)
    } else if drop.asks {
      requester.request(.loss)
    }
  }
}

extension PixelSize {
  fileprivate func isSize(of picture: CVPixelBuffer) -> Bool {
    width == CVPixelBufferGetWidth(picture) && height == CVPixelBufferGetHeight(picture)
  }
}
