import Glibc
import LinkProtocol
import LinkTransport
import MWDATCamera
import MWDATCore
import Synchronization
import Units

/// A stream's pictures on their way to `--video-out`.
///
/// Each frame is written by its listener, on that listener's own thread; so what a reader is too slow for waits there,
/// within the bounds of any listener, and is dropped and counted there.
final class VideoOut: Sendable {
  enum End: Sendable {
    /// Whoever read has seen enough.
    case readerGone
    /// In words.
    case failed(String)
  }

  let target: VideoOutTarget

  /// Unchecked Sendable: it lives in this object's mutex and nowhere else.
  private struct Writer: @unchecked Sendable {
    var serializer: VideoSerializer
    var isEnded = false
  }

  private let writer: Mutex<Writer>
  private let frames = Atomic<Int>(0)

  init(_ format: VideoOutFormat, frameRate: Int, target: VideoOutTarget) {
    self.target = target
    writer = Mutex(Writer(serializer: VideoSerializer(format, frameRate: frameRate, target: target)))
  }

  /// Frames that were written.
  var frameCount: Int { frames.load(ordering: .acquiring) }

  /// - Parameter ended: called once, on the listener's thread, when nothing more can be written.
  func listen(to stream: MWDATCamera.Stream, ended: @escaping @Sendable (End) -> Void) -> any AnyListenerToken {
    stream.videoFramePublisher.listen { [self] frame in
      if let end = write(frame.sampleBuffer) { ended(end) }
    }
  }

  /// Writes what the format has behind its last frame, unless a reader still holds up a frame: then the end of the program
  /// cuts it.
  func finish() {
    _ = writer.withLockIfAvailable { writer in
      if !writer.isEnded { writer.serializer.finish() }
      writer.isEnded = true
    }
  }

  private func write(_ sample: CMSampleBuffer) -> End? {
    writer.withLock { writer in
      guard !writer.isEnded else { return nil }
      do throws(VideoSerializer.Failure) {
        if try writer.serializer.write(sample) { frames.wrappingAdd(1, ordering: .releasing) }
        guard let code = target.failureCode else { return nil }
        writer.isEnded = true
        return Self.end(code)
      } catch {
        writer.isEnded = true
        return target.failureCode.map(Self.end) ?? .failed(error.words)
      }
    }
  }

  private static func end(_ code: Int32) -> End {
    code == EPIPE ? .readerGone : .failed("can't be written: \(String(cString: strerror(code)))")
  }
}
