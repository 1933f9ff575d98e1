import LinkProtocol
import MediaEncoding
import MediaEngine
import PortableMedia
import Synchronization
import Units

/// Takes photos on a lane of its own, one after the other, so that neither video nor sessions wait for an encoder.
///
/// The picture of a running stream comes from its pipeline, which hands over the one that it shows; without a stream
/// the feed is opened for the photo.
final class Photographer: Sendable {
  enum Outcome: Sendable {
    case taken(PhotoFacts, [UInt8])
    case failed(LinkErrorCode, String)
  }

  /// A photo on its way: what was asked for, and where the answer goes.
  private struct Job: Sendable {
    let key: PhotoKey
    let request: PhotoRequest
    let done: @Sendable (Outcome) -> Void
  }

  private let timekeeper: any Timekeeper
  private let deviceClock: DeviceClock
  private let lane: any Lane
  /// Photos that are still wanted. At most `AgentSessionMachine.photosInFlight` a link.
  private let wanted = Mutex<Set<PhotoKey>>([])

  init(timekeeper: any Timekeeper, deviceClock: DeviceClock) {
    self.timekeeper = timekeeper
    self.deviceClock = deviceClock
    lane = timekeeper.makeLane("gw-stills")
  }

  /// - Parameters:
  ///   - running: the pipeline that has the camera open, if one has.
  ///   - done: called once on the photographer's lane, unless the photo is dropped first.
  func take(
    _ key: PhotoKey, _ request: PhotoRequest, of shot: Shot, running: VideoOutlet?,
    done: @escaping @Sendable (Outcome) -> Void
  ) {
    wanted.withLock { _ = $0.insert(key) }
    let job = Job(key: key, request: request, done: done)
    switch shot {
    case .feed(let feed): takeFromCamera(job, feed, running)
    case .image(let path):
      run(job) { (photographer) throws(PhotoFailure) in try photographer.develop(StillFile(path: path), request) }
    case .finished(let path):
      run(job) { (photographer) throws(PhotoFailure) in try photographer.asItIs(StillFile(path: path)) }
    case .failure:
      run(job) { (_) throws(PhotoFailure) in throw PhotoFailure("the simulation was told to fail this capture") }
    }
  }

  /// Nobody waits for the photo any more: work on it that has not begun does not begin.
  func drop(_ key: PhotoKey) { wanted.withLock { _ = $0.remove(key) } }

  /// Ends the lane; photos under way are not answered.
  func end() { lane.end() }

  private func run(
    _ job: Job, _ work: @escaping @Sendable (Photographer) throws(PhotoFailure) -> (PhotoFacts, [UInt8])
  ) {
    lane.run { [self] in
      guard wanted.withLock({ $0.contains(job.key) }) else { return }
      let outcome: Outcome
      do throws(PhotoFailure) {
        let (facts, bytes) = try work(self)
        outcome = .taken(facts, bytes)
      } catch {
        outcome = .failed(.photoFailed, error.text)
      }
      if wanted.withLock({ $0.remove(job.key) }) != nil { job.done(outcome) }
    }
  }

  // MARK: - From the camera

  private func takeFromCamera(_ job: Job, _ feed: FeedDescription, _ running: VideoOutlet?) {
    guard let running else { return takeFromClosedCamera(job, feed) }
    running.takeStill { [weak self] result in
      switch result {
      case .success(let still):
        self?.run(job) { (photographer) throws(PhotoFailure) in
          try photographer.encode(still.buffer, captured: still.captured, job.request)
        }
      case .failure(.stopped):
        // The stream ended between the request and the picture.
        self?.takeFromClosedCamera(job, feed)
      case .failure(.source(let error)):
        self?.run(job) { (_) throws(PhotoFailure) in throw PhotoFailure(error.text) }
      }
    }
  }

  private func takeFromClosedCamera(_ job: Job, _ feed: FeedDescription) {
    run(job) { (photographer) throws(PhotoFailure) in
      let picture: CVPixelBuffer
      do throws(SourceError) {
        picture = try feed.makeSource().still()
      } catch {
        throw PhotoFailure(error.text)
      }
      return try photographer.encode(picture, captured: photographer.now, job.request)
    }
  }

  // MARK: - From files

  /// The file's own bytes when they are in the format asked for at the source's size, else encoded anew.
  private func develop(_ file: StillFile, _ request: PhotoRequest) throws(PhotoFailure) -> (PhotoFacts, [UInt8]) {
    if file.format.photoFormat == request.format, request.size.shorterSide == nil { return try asItIs(file) }
    let still = try file.decoded()
    return try encode(still.picture, still.orientation, captured: now, request)
  }

  /// Decoded all the same, for its facts and so that no damaged file passes for a photo.
  private func asItIs(_ file: StillFile) throws(PhotoFailure) -> (PhotoFacts, [UInt8]) {
    guard let format = file.format.photoFormat else {
      throw PhotoFailure("\(file.path): a captured photo must be JPEG or HEIC")
    }
    let still = try file.decoded()
    let size = PixelSize(width: still.picture.pixelWidth, height: still.picture.pixelHeight)
    return try facts(format, size, still.orientation, captured: now, file.bytes)
  }

  // MARK: - Encoding

  /// The pixels stay as they lie; the file says how to turn them.
  private func encode(
    _ picture: CVPixelBuffer, _ orientation: StillOrientation = .up, captured: DeviceTime, _ request: PhotoRequest
  ) throws(PhotoFailure) -> (PhotoFacts, [UInt8]) {
    let size = request.size.fitted(to: PixelSize(width: picture.pixelWidth, height: picture.pixelHeight))
    let bytes: [UInt8]
    do throws(MediaError) {
      let sized = try PictureScaler(size: size).fit(picture)
      switch request.format {
      case .jpeg:
        let jpeg = try JPEGEncoder.encode(sized, quality: request.quality.jpegQuality)
        bytes = JPEGOrientation.stating(orientation, in: jpeg)
      case .heic:
        bytes = try HEICEncoder.encode(
          sized, quality: request.quality.still, orientation: UInt8(truncatingIfNeeded: orientation.rawValue)
        ).bytes
      }
    } catch {
      throw PhotoFailure(error.description)
    }
    return try facts(request.format, size, orientation, captured: captured, bytes)
  }

  private func facts(
    _ format: PhotoFormat, _ size: PixelSize, _ orientation: StillOrientation, captured: DeviceTime, _ bytes: [UInt8]
  ) throws(PhotoFailure) -> (PhotoFacts, [UInt8]) {
    guard bytes.count <= StillFile.largestSize else {
      throw PhotoFailure("a photo of \(bytes.count) bytes is larger than the link takes (\(StillFile.largestSize))")
    }
    let digest: [UInt8]
    do throws(MediaError) {
      digest = try sha256(bytes)
    } catch {
      throw PhotoFailure(error.description)
    }
    let facts = PhotoFacts(
      format: format, size: size, orientation: UInt8(truncatingIfNeeded: orientation.rawValue), captured: captured,
      byteCount: UInt32(bytes.count), digest: digest)
    return (facts, bytes)
  }

  private var now: DeviceTime { deviceClock.time(at: timekeeper.now) }
}

extension PhotoCompression {
  fileprivate var still: StillQuality {
    switch self {
    case .low: .low
    case .medium: .medium
    case .high: .high
    }
  }

  /// 1 to 100. The highest is a little above what viewers tell from the original.
  fileprivate var jpegQuality: Int {
    switch self {
    case .low: 60
    case .medium: 78
    case .high: 90
    }
  }
}

extension StillFormat {
  /// The link's name of the format, if it has one.
  fileprivate var photoFormat: PhotoFormat? {
    switch self {
    case .jpeg: .jpeg
    case .heic: .heic
    case .png: nil
    }
  }
}
