import Glibc
import LinkProtocol
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// Reads raw pictures from a descriptor, standard input above all, into a live feed, on a thread of its own.
///
/// A writer in real time is read as it writes: what it had waiting when the reader came is gone through at once, since a
/// picture that waits makes all those behind it late. One that always has more, as a file in a pipe, is slowed down to the
/// stated rate, a second ahead of it at most. Pictures that nobody looks at are read all the same, so that whoever looks sees the
/// present. Ends with the input, or with `stop`.
package final class RawReader: Sendable {
  package let feed: LiveFeed
  private let format: RawFormat
  private let descriptor: Int32
  private let timekeeper: any Timekeeper
  private let lane: any Lane
  private let pools = PicturePools()
  private let isStopped = Atomic(false)

  /// How often a reader that waits looks whether it shall stop, in milliseconds.
  private static let patience: Int32 = 100
  /// What a writer may be ahead of the stated rate: more than it can have waiting when the glasses have started.
  private static let lead: Duration = .seconds(1)

  /// - Parameter descriptor: stays its owner's.
  package init(_ format: RawFormat, from descriptor: Int32, name: String, timekeeper: any Timekeeper) {
    self.format = format
    self.descriptor = descriptor
    self.timekeeper = timekeeper
    feed = LiveFeed(name: name, frameRate: format.frameRate)
    lane = timekeeper.makeLane("raw-input")
  }

  deinit { lane.end() }

  /// Begins to read. Once.
  package func start() { lane.run { [self] in readAll() } }

  /// Ends within a tenth of a second.
  package func stop() { isStopped.store(true, ordering: .releasing) }

  private func readAll() {
    let interval = Duration.seconds(1 / format.frameRate)
    var due = timekeeper.now
    var bytes = [UInt8](repeating: 0, count: format.byteCount)
    while !isStopped.load(ordering: .acquiring) {
      // One that lets the reader wait is no faster than the stated rate, and owes nothing.
      due = hasInput ? max(due + interval, timekeeper.now) : timekeeper.now
      guard wait(until: due - Self.lead) else { return }
      do throws(MediaError) {
        let filling = fill(&bytes)
        // When the last byte has come: of a writer in real time, the moment that it has taken the picture.
        let captured = timekeeper.now
        switch filling {
        case .whole: feed.deliver(try picture(of: bytes), captured: captured)
        case .ended(let bytes):
          return feed.fail(
            bytes == 0
              ? "\(feed.name) has ended"
              : "\(feed.name) ended within a picture: \(bytes) of \(format.byteCount) bytes; check --feed-size")
        case .failed(let code): return feed.fail("\(feed.name) can't be read: \(String(cString: strerror(code)))")
        case .stopped: return
        }
      } catch {
        return feed.fail("\(error)")
      }
    }
  }

  private func wait(until moment: Instant) -> Bool {
    while !isStopped.load(ordering: .acquiring) {
      let left = (moment - timekeeper.now).milliseconds
      guard left > 0 else { return true }
      poll(nil, 0, min(Int32(left.rounded(.up)), Self.patience))
    }
    return false
  }

  private enum Filling {
    case whole
    /// The input's end, after so many bytes of a picture.
    case ended(Int)
    case failed(Int32)
    case stopped
  }

  /// One picture, in as few reads as the pipe allows.
  private func fill(_ bytes: inout [UInt8]) -> Filling {
    var count = 0
    while count < bytes.count {
      guard awaitInput() else { return .stopped }
      let got = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count) }
      if got < 0, errno == EINTR || errno == EAGAIN { continue }
      if got < 0 { return .failed(errno) }
      if got == 0 { return .ended(count) }
      count += got
    }
    return .whole
  }

  /// Rows in memory may be longer than the picture is wide.
  private func picture(of bytes: [UInt8]) throws(MediaError) -> CVPixelBuffer {
    let buffer = try pools.picture(
      width: format.size.width, height: format.size.height, format: kCVPixelFormatType_420YpCbCr8Planar)
    bytes.withUnsafeBytes { source in
      var position = 0
      for index in 0..<3 {
        guard let plane = buffer.plane(index) else { return }
        for row in 0..<plane.height {
          let rows = UnsafeRawBufferPointer(rebasing: source[position..<position + plane.width])
          UnsafeMutableRawBufferPointer(start: plane.base + row * plane.bytesPerRow, count: plane.width)
            .copyMemory(from: rows)
          position += plane.width
        }
      }
    }
    return buffer
  }

  private var hasInput: Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  /// False when the reader is to stop.
  private func awaitInput() -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    while !isStopped.load(ordering: .acquiring) {
      if poll(&entry, 1, Self.patience) != 0 { return true }
    }
    return false
  }
}
