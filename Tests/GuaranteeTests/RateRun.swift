import Glasswing
import LinkProtocol
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import MediaEngine
import PortableMedia
import TestSupport
import Testing
import Units

/// A stream by hand with several listeners to its frames and to its health, all in one record, and with what the glasses
/// sent.
struct RateRun {
  struct Picture: Sendable {
    let presentation: Instant
    let delivered: Instant
    let isDiscontinuity: Bool
    /// `PictureDigest` of it; empty for compressed ones.
    let digest: [UInt8]
  }

  /// What listeners heard, in the order in which they did.
  enum Heard: Sendable {
    case frame(listener: Int, CMVideoDimensions)
    case change(listener: Int, StreamHealthEvent)
  }

  static let listeners = 2

  let session: DeviceSession
  let watched: WatchedStream
  let heard = Observed<Heard>()
  let pictures = Observed<Picture>()
  let units = Observed<AccessUnit>()
  private let tokens = ListenerTokenBag()

  init(_ configuration: StreamConfiguration, _ glasses: SimulatedGlasses, _ clock: ManualTimekeeper) async throws {
    glasses.agent.observeUnits { [units] in units.record($0) }
    session = try startedSession(with: glasses, clock)
    watched = try await startedStream(in: session, configuration, clock)
    let stream = watched.stream
    for listener in 0..<Self.listeners {
      stream.healthPublisher.listen { [heard] event in
        if event.kind == .formatChanged { heard.record(.change(listener: listener, event)) }
      }.store(in: tokens)
      stream.videoFramePublisher.listen { [heard] frame in
        heard.record(.frame(listener: listener, WatchedStream.Frame(frame).size))
      }.store(in: tokens)
    }
    stream.videoFramePublisher.listen { [pictures] frame in
      let stamp = CMSampleBufferGetPresentationTimeStamp(frame.sampleBuffer)
      pictures.record(
        Picture(
          presentation: Instant(nanoseconds: stamp.value), delivered: clock.now, isDiscontinuity: frame.isDiscontinuity,
          digest: CMSampleBufferGetImageBuffer(frame.sampleBuffer).map { PictureDigest.of($0) } ?? []))
    }.store(in: tokens)
  }

  /// The steps as the first listener heard them.
  var changes: [StreamHealthEvent] {
    heard.values.compactMap { if case .change(0, let event) = $0 { event } else { nil } }
  }

  /// The age of the oldest unit that waited for the link during a time that passes now.
  func oldestWait(
    for duration: Duration, _ glasses: SimulatedGlasses, _ clock: ManualTimekeeper
  ) throws -> Duration {
    var oldest = Duration.zero
    let end = clock.now + duration
    while clock.now < end {
      clock.advance(by: .milliseconds(10))
      oldest = max(oldest, try #require(glasses.agent.linkStatistics.first).queuedVideoAge)
    }
    return oldest
  }

  /// Every listener heard of each size before its first frame, from the size that it had before.
  func expectEachStepAnnounced(_ location: SourceLocation = #_sourceLocation) {
    for listener in 0..<Self.listeners {
      // The one that the stream began with was negotiated before anybody listened here.
      var announced: [NegotiatedVideo] = []
      var last: CMVideoDimensions?
      for heard in heard.values {
        switch heard {
        case .change(listener, let event):
          if let old = announced.last { #expect(event.oldVideo == old, sourceLocation: location) }
          if announced.isEmpty, let old = event.oldVideo { announced.append(old) }
          if let new = event.video {
            #expect(new != event.oldVideo, sourceLocation: location)
            announced.append(new)
          }
        case .frame(listener, let size):
          defer { last = size }
          guard let last, last.width != size.width || last.height != size.height else { continue }
          #expect(
            announced.contains { $0.width == Int(size.width) && $0.height == Int(size.height) },
            "\(size) from \(last) came before it was published", sourceLocation: location)
          #expect(
            announced.last.map { $0.width == Int(size.width) } == true, "\(size) is not what was published last",
            sourceLocation: location)
        case .change, .frame: break
        }
      }
    }
  }

  /// Pictures that are not those which a decoder makes of all that was sent, in its order.
  func wrongPictures() throws -> [Instant] {
    let decoder = try VideoDecoder(codec: .hevc)
    let reference = try units.values.map { unit in
      let picture = try unit.payload.withUnsafeBytes { bytes in
        Result { () throws(MediaError) in try decoder.decode(bytes) }
      }.get()
      return PictureDigest.of(try #require(picture))
    }
    var next = 0
    return pictures.values.filter { picture in
      guard let place = reference[next...].firstIndex(of: picture.digest) else { return true }
      next = place + 1
      return false
    }.map(\.presentation)
  }
}
