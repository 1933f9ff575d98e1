import LinkProtocol
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// The second half of a pipeline: encodes captured pictures on a lane of its own. One waits at most, the newest.
final class EncodeStage: Sendable {
  struct Picture: Sendable {
    var buffer: CVPixelBuffer
    var captured: Instant
    var video: VideoParameters
    /// Pictures a second to expect.
    var rate: Double
  }

  private struct Encoding {
    let video: VideoParameters
    let encoder: UnitEncoder
  }

  private let context: PipelineContext
  private let lane: any Lane
  /// The hand-over between the lanes.
  private let waiting = Mutex<Picture?>(nil)
  /// Touched on the lane only, so no one ever waits for this lock.
  private let encoding = Mutex<Encoding?>(nil)
  /// Ends the pipeline's producer, on a failure.
  private let fail: @Sendable (PipelineFailure) -> Void

  init(_ context: PipelineContext, fail: @escaping @Sendable (PipelineFailure) -> Void) {
    self.context = context
    self.fail = fail
    lane = context.timekeeper.makeLane("encode")
  }

  /// Any thread.
  func handOver(_ picture: Picture) {
    let replaced = waiting.withLock { waiting in
      defer { waiting = picture }
      return waiting != nil
    }
    context.count {
      $0.captured += 1
      $0.dropped += replaced ? 1 : 0
    }
    // Whoever waited had work queued for it, which takes the newer one.
    if !replaced { lane.run { [weak self] in self?.encode() } }
  }

  /// From the lane itself, after the work that runs there now: what it uses goes when it has returned.
  func stop() {
    lane.run { [self] in
      waiting.withLock { $0 = nil }
      encoding.withLock { $0 = nil }
      lane.end()
    }
  }

  private func encode() {
    let next = waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting
    }
    guard let next, context.isRunning else { return }
    do throws(PipelineFailure) {
      let encoder = try encoding.withLock { (encoding) throws(PipelineFailure) in
        if let current = encoding, current.video == next.video { return current.encoder }
        // The old one goes first: two of them are memory and threads that the glasses may not have.
        encoding = nil
        let encoder = try UnitEncoder(
          size: next.video.size, rate: next.rate, bitrate: context.target,
          keyframeInterval: context.configuration.keyframeInterval ?? VideoPipeline.keyframeInterval,
          writesPictureHashes: context.configuration.writesPictureHashes)
        encoding = Encoding(video: next.video, encoder: encoder)
        return encoder
      }
      encoder.targetBitrate = context.target
      let encoded = try encoder.encode(next.buffer, forcesSync: context.keyframeRequests.take())
      context.send(encoded, as: next.video, captured: next.captured)
    } catch {
      fail(error)
    }
  }
}

extension VideoParameters {
  /// Pictures a second, never none.
  var rate: Double { Double(max(frameRate, 1)) }
}
