import LinkProtocol
import MWDATCamera
import Units

extension StreamHealthEvent {
  /// Nil for what states say already.
  init?(_ event: StreamTelemetryEvent) {
    guard let kind = Kind(event.kind) else { return nil }
    self.init(kind, hostNanoseconds: event.time.nanoseconds)
    switch event.kind {
    case .started, .resumed:
      break
    case .reconnecting(let deadline): deadlineHostNanoseconds = deadline?.nanoseconds
    case .negotiated(let new):
      video = NegotiatedVideo(new)
    case .changed(let old, let new, let reason):
      text = "\(reason)"
      video = NegotiatedVideo(new)
      oldVideo = old.map { NegotiatedVideo($0) }
    case .gap(let lost, let withheld):
      count = UInt64(max(0, lost))
      self.withheld = withheld
    case .keyframeRequested(let reason): text = "\(reason)"
    case .keyframeArrived(let withheld): self.withheld = withheld
    case .decoderBehind(let dropped): count = UInt64(max(0, dropped))
    case .listenerBehind(let number, let dropped):
      listener = number
      count = UInt64(max(0, dropped))
    case .audioChanged(let old, let new):
      audio = AudioStatus(new)
      oldAudio = old.map { AudioStatus($0) }
    case .audioGap(let samples, let length):
      count = UInt64(max(0, samples))
      self.length = length
    case .audioUnusable(let units): count = UInt64(max(0, units))
    case .audioListenerBehind(let number, let dropped):
      listener = number
      count = UInt64(max(0, dropped))
    case .decoderFailed(let words): text = words
    case .clockRealigned(let step): length = step
    case .waiting(let reason, let deadline):
      text = "\(reason)"
      deadlineHostNanoseconds = deadline?.nanoseconds
    case .paused(let reason): text = PauseReason(reason).rawValue
    case .stallBegan(let since, let medium, let deadline):
      text = "\(medium)"
      deadlineHostNanoseconds = deadline?.nanoseconds
      startHostNanoseconds = since.nanoseconds
      length = event.time - since
    case .stallEnded(let since, let length):
      startHostNanoseconds = since.nanoseconds
      self.length = length
    case .reconnected(let length): self.length = length
    case .failed(let failure):
      text = failure.text.isEmpty ? nil : failure.text
      error = failure.error.facts.at(ErrorStage(failure.stage))
    case .photoFailed(let words):
      text = words
      error = StreamError.photoCaptureFailed.facts
    }
  }
}

extension StreamHealthEvent.Kind {
  fileprivate init?(_ kind: StreamTelemetryEvent.Kind) {
    switch kind {
    case .started: return nil
    case .negotiated: self = .negotiated
    case .changed: self = .formatChanged
    case .gap: self = .unitsLost
    case .keyframeRequested: self = .keyframeRequested
    case .keyframeArrived: self = .keyframeArrived
    case .decoderBehind: self = .decoderBehind
    case .decoderFailed: self = .decoderFailed
    case .listenerBehind: self = .listenerBehind
    case .clockRealigned: self = .clockRealigned
    case .audioChanged: self = .audioChanged
    case .audioGap: self = .audioGap
    case .audioUnusable: self = .audioUnusable
    case .audioListenerBehind: self = .audioListenerBehind
    case .waiting: self = .waiting
    case .stallBegan: self = .stallBegan
    case .stallEnded: self = .stallEnded
    case .reconnecting: self = .reconnecting
    case .reconnected: self = .reconnected
    case .paused: self = .paused
    case .resumed: self = .resumed
    case .failed: self = .failed
    case .photoFailed: self = .photoFailed
    }
  }
}

extension ErrorStage {
  init(_ stage: StreamMachine.Stage) {
    self =
      switch stage {
      case .connect: .connect
      case .start: .start
      case .stream: .stream
      case .recovery: .recovery
      case .pause: .pause
      case .resume: .resume
      case .link: .link
      case .glasses: .glasses
      }
  }
}
