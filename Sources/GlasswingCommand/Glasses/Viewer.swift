import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// Watches a compressed stream as an app with a preview does: decodes each frame, and knows how old it was then.
final class Viewer: Sendable {
  private struct State {
    var ages = AgeHistogram()
    var first: Instant?
    var token: (any AnyListenerToken)?
  }

  private let decoder: HEVCDecoder
  private let timekeeper: any Timekeeper
  private let state = Mutex(State())

  init(timekeeper: any Timekeeper) throws(CommandFailure) {
    self.timekeeper = timekeeper
    do throws(HEVCDecoderError) {
      decoder = try HEVCDecoder()
    } catch {
      throw CommandFailure(subject: "decoder", error.message, next: "see glasswing doctor")
    }
  }

  /// - Parameter sawFirst: called with the first picture, on the listener's thread.
  func watch(_ stream: MWDATCamera.Stream, sawFirst: @escaping @Sendable (Instant) -> Void) {
    let token = stream.videoFramePublisher.listen { [weak self] frame in
      guard let self else { return }
      // What can't be decoded after a loss is followed by a sync frame, as the stream takes care of.
      guard (try? decoder.decode(frame.sampleBuffer)) != nil else { return }
      let now = timekeeper.now
      let captured = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer).hostInstant
      let isFirst = state.withLock { state in
        if let captured { state.ages.record(now - captured) }
        defer { state.first = state.first ?? now }
        return state.first == nil
      }
      if isFirst { sawFirst(now) }
    }
    state.withLock { $0.token = token }
  }

  func end() {
    let token = state.withLock { state in
      defer { state.token = nil }
      return state.token
    }
    withExtendedLifetime(token) {}
  }

  var hasSeenPicture: Bool { state.withLock { $0.first != nil } }

  /// From capture to decoded picture.
  var ages: (p50: Duration?, p95: Duration?) {
    state.withLock { ($0.ages.percentile(0.5), $0.ages.percentile(0.95)) }
  }
}

extension CMTime {
  /// On the host's clock, as frames' times are; nil for one that is no number.
  var hostInstant: Instant? {
    guard isNumeric else { return nil }
    let time = CMTimeConvertScale(self, timescale: 1_000_000_000, method: .default)
    return time.isNumeric ? Instant(nanoseconds: time.value) : nil
  }
}
