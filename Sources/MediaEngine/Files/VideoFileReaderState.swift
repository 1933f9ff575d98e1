import CFFmpeg
import PortableMedia
import Units

/// The reader's inside.
///
/// Unchecked Sendable: it lives in its reader's mutex and nowhere else.
struct VideoFileReaderState: @unchecked Sendable {
  /// Packets in a row that may give no picture before the track is given up: ten seconds of a fast camera. No decoder
  /// holds back more than a few.
  private static let maximumWithoutPicture = 300
  /// What one picture lasts in a file that doesn't say.
  private static let assumedDuration: Int64 = 40_000_000
  /// The least that a stamp may rise by, in nanoseconds.
  private static let leastStep: Int64 = 1000

  private let path: String
  private let loops: Bool
  private var input: InputContext
  private let decoder: CodecContext
  private let packet: Packet
  private let converter: PictureConverter
  private let frames: FrameConverter
  private let pixelAspect: Double
  private let rotation: QuarterTurns

  private(set) var undecodablePackets = 0
  private var packetsWithoutPicture = 0
  private var lastFailure: MediaError.LibraryFailure?
  private var isDraining = false
  private var hasEnded = false
  /// The first picture, decoded when the file was opened.
  private var first: FilePicture?

  // All in nanoseconds. `origin` is the first picture's stamp in the file, `base` where the round began.
  private var origin: Int64?
  private var base: Int64 = 0
  private var lastStamp: Int64?
  private var lastDuration = assumedDuration
  private var index = 0
  private var loop = 0

  init(path: String, loops: Bool) throws(MediaError) {
    self.path = path
    self.loops = loops
    input = try InputContext(path: path)
    let parameters = try input.parameters()
    decoder = try CodecContext(decoder: parameters.pointee.codec_id, parameters: parameters)
    packet = try Packet()
    let pools = PicturePools()
    converter = PictureConverter(pools: pools)
    frames = FrameConverter(pools: pools)
    pixelAspect = input.pixelAspect()
    rotation = input.rotation()
    let rate = av_q2d(input.stream.pointee.avg_frame_rate)
    if rate.isFinite, 0.1...1000 ~= rate { lastDuration = Int64(1e9 / rate) }
  }

  /// Decodes the first picture, and describes the file with its size.
  mutating func prepare() throws(MediaError) -> MediaFileDescription {
    first = try decodeNext()
    guard let first else { throw nothingDecodable }
    var description = try input.description()
    description.video.size = PixelSize(width: first.picture.pixelWidth, height: first.picture.pixelHeight)
    return description
  }

  var firstStampInFile: Duration? { origin.map { .nanoseconds($0) } }

  mutating func next() throws(MediaError) -> FilePicture? {
    if let picture = first.take() { return picture }
    return try decodeNext()
  }

  private mutating func decodeNext() throws(MediaError) -> FilePicture? {
    while !hasEnded {
      let frame = try Frame()
      if try receive(frame) { return try picture(frame) }
      guard isDraining else {
        try feed()
        continue
      }
      guard loops else {
        hasEnded = true
        break
      }
      guard index > 0 else { throw nothingDecodable }
      try beginAnew()
    }
    return nil
  }

  private mutating func receive(_ frame: Frame) throws(MediaError) -> Bool {
    do {
      return try decoder.receive(frame)
    } catch {
      passOver(error)
      return false
    }
  }

  private mutating func feed() throws(MediaError) {
    guard try input.read(packet) else {
      isDraining = true
      _ = try? decoder.send(nil)
      return
    }
    packetsWithoutPicture += 1
    guard packetsWithoutPicture <= Self.maximumWithoutPicture else { throw nothingDecodable }
    do {
      _ = try decoder.send(packet)
    } catch {
      passOver(error)
    }
  }

  /// One bad packet is counted; a track of nothing else is an error.
  private mutating func passOver(_ error: MediaError) {
    undecodablePackets += 1
    lastFailure = error.library
  }

  private var nothingDecodable: MediaError {
    let detail = packetsWithoutPicture > 0 ? "\(packetsWithoutPicture) packets tried" : "the track is empty"
    return MediaError(.noDecodablePicture, while: .decoding, detail, library: lastFailure, path: path)
  }

  /// Seeks to the start; opens the file again where seeking leads elsewhere, as it may in a transport stream.
  private mutating func beginAnew() throws(MediaError) {
    decoder.flush()
    isDraining = false
    // Saturating: a file may claim stamps that lie centuries apart.
    if let lastStamp { base = lastStamp.addingSaturating(lastDuration) }
    lastStamp = nil
    loop += 1
    index = 0
    let flags = input.context.pointee.iformat?.pointee.flags ?? 0
    let isExact = flags & (AVFMT_TS_DISCONT | AVFMT_NOTIMESTAMPS) == 0
    if !isExact || !input.rewind() { input = try InputContext(path: path) }
  }

  private mutating func picture(_ frame: Frame) throws(MediaError) -> FilePicture {
    packetsWithoutPicture = 0
    let raw = frame.pointer.pointee
    let inFile = input.nanoseconds(raw.best_effort_timestamp)
    if origin == nil { origin = inFile }
    let step = input.nanoseconds(raw.pkt_duration) ?? 0
    if step > 0 { lastDuration = step }
    var stamp = base
    if let inFile, let origin { stamp = base.addingSaturating(inFile.subtractingSaturating(origin)) }
    if let lastStamp {
      if inFile == nil { stamp = lastStamp.addingSaturating(lastDuration) }
      stamp = max(stamp, lastStamp.addingSaturating(Self.leastStep))
    }
    stamp = max(stamp, base)
    defer {
      lastStamp = stamp
      index += 1
    }
    return FilePicture(
      picture: try upright(frame), stamp: .nanoseconds(stamp), duration: .nanoseconds(lastDuration), index: index,
      loop: loop)
  }

  private func upright(_ frame: Frame) throws(MediaError) -> CVPixelBuffer {
    var picture = try converter.convertedTo601(try frames.picture(frame))
    let size = PixelSize(width: picture.pixelWidth, height: picture.pixelHeight)
    let square = InputContext.squareSize(size, pixelAspect: pixelAspect)
    if square != size {
      let scaled = try converter.pools.picture(width: square.width, height: square.height, format: picture.pixelFormat)
      CVBufferPropagateAttachments(picture, scaled)
      let area = PictureScaler.Area(x: 0, y: 0, width: square.width, height: square.height)
      try PictureScaler.scale(try PlanarBytes(picture), into: try PlanarBytes(scaled), area)
      picture = scaled
    }
    return try converter.rotate(picture, by: rotation)
  }
}
