import CFFmpeg
import PortableMedia
import Synchronization

/// Decodes a live stream of HEVC or H.264 access units, one unit in, its picture out, on the calling thread.
///
/// It never yields a picture that it knows to be damaged: after a lost reference, or bytes that don't decode, it throws
/// `.damagedPicture`, then `.syncUnitNeeded` for each unit until a sync unit comes. What it can't know: FFmpeg takes a slice
/// whose bits were changed, or whose end is missing, for a good one. HEVC streams whose encoder writes picture hashes
/// (`PictureHashMessage`) can be verified by them, at twice the cost.
///
/// Any thread; calls take turns. The picture belongs to the caller for as long as it likes.
package final class VideoDecoder: Sendable {
  /// The layout of what comes out.
  package enum Output: Hashable, Sendable {
    /// '420v', or '420f' where the stream says that it has full range.
    case biPlanar
    /// 'y420', or 'f420' where the stream says that it has full range. Without a copy.
    case planar
  }

  package let coding: VideoCoding
  private let state: Mutex<VideoDecoderState>

  /// - Parameter verifiesPictureHashes: makes an HEVC picture that differs from its hash an error, and a unit without an
  ///   intact hash too. For streams without B-frames. Nothing to H.264, which has no hashes.
  ///
  /// Throws `.codecNotSupported`, `.outOfMemory`.
  package init(codec coding: VideoCoding, verifiesPictureHashes: Bool = false) throws(MediaError) {
    self.coding = coding
    state = Mutex(try VideoDecoderState(coding: coding, verifiesPictureHashes: verifiesPictureHashes))
  }

  /// Decodes one access unit.
  ///
  /// - Parameters:
  ///   - nalUnits: NAL units of one picture, each behind its length in 4 bytes. Copied once.
  ///   - parameterSets: put before a sync unit that has none inside.
  ///   - output: the layout of the picture.
  /// - Returns: the picture; nil while the decoder has to see more units, which happens in streams with B-frames alone.
  ///   Those come in order of presentation, and `drain` yields the last ones.
  ///
  /// Throws `.malformedData`, `.parameterSetsMissing`, `.damagedPicture`, `.syncUnitNeeded`, `.pixelFormatNotSupported`,
  /// `.outOfMemory`. The decoder is usable after each.
  package func decode(
    _ nalUnits: UnsafeRawBufferPointer, parameterSets: [[UInt8]]? = nil, output: Output = .biPlanar
  ) throws(MediaError) -> CVPixelBuffer? {
    try state.withLock { state throws(MediaError) in
      try state.decode(nalUnits, tag: 0, parameterSets: parameterSets, output: output)?.picture
    }
  }

  /// As `decode(_:parameterSets:output:)`, for units with parameter sets inside, where it matters which unit a picture
  /// came from: a decoder may hold pictures back, as a stream asks or as damaged bytes make it believe.
  ///
  /// - Parameter tag: of this unit; comes out with its picture.
  package func decode(
    _ nalUnits: UnsafeRawBufferPointer, tag: Int64, output: Output = .biPlanar
  ) throws(MediaError) -> TaggedPicture? {
    try state.withLock { state throws(MediaError) in
      try state.decode(nalUnits, tag: tag, parameterSets: nil, output: output)
    }
  }

  /// A picture and the tag of the unit that it came from.
  package struct TaggedPicture: Sendable {
    package let picture: CVPixelBuffer
    package let tag: Int64
  }

  /// The pictures that are still inside, in order of presentation. The next unit has to be a sync unit.
  package func drain(output: Output = .biPlanar) throws(MediaError) -> [CVPixelBuffer] {
    try state.withLock { state throws(MediaError) in try state.drain(output: output) }
  }

  /// Forgets everything; the next unit has to be a sync unit.
  package func reset() { state.withLock { $0.reset() } }
}

/// The decoder's inside.
///
/// Unchecked Sendable: it lives in its decoder's mutex and nowhere else.
private struct VideoDecoderState: @unchecked Sendable {
  private let coding: VideoCoding
  private let verifiesPictureHashes: Bool
  /// Of the unit that was given last.
  private var expectedHash: PictureHashMessage?
  private let context: CodecContext
  private let packet: Packet
  private let converter: PictureConverter
  private let frames: FrameConverter
  private var needsSync = true
  private var spareFrame: Frame?
  /// True once parameter sets were seen; FFmpeg keeps them.
  private var hasParameterSets = false
  /// Pictures decoded but not handed out; more than none in streams with B-frames alone, and then at most the stream's
  /// reorder depth.
  private var ready: [VideoDecoder.TaggedPicture] = []

  init(coding: VideoCoding, verifiesPictureHashes: Bool) throws(MediaError) {
    self.coding = coding
    self.verifiesPictureHashes = verifiesPictureHashes && coding == .hevc
    packet = try Packet()
    let pools = PicturePools()
    converter = PictureConverter(pools: pools)
    frames = FrameConverter(pools: pools)
    let cropsItself = self.verifiesPictureHashes
    context = try CodecContext(decoder: coding.codecID) { context in
      context.flags |= AV_CODEC_FLAG_LOW_DELAY
      if cropsItself {
        context.err_recognition |= AV_EF_EXPLODE
        // The hash is of what the encoder had, with what is cut off for show.
        context.apply_cropping = 0
      }
    }
  }

  mutating func decode(
    _ unit: UnsafeRawBufferPointer, tag: Int64, parameterSets: [[UInt8]]?, output: VideoDecoder.Output
  ) throws(MediaError) -> VideoDecoder.TaggedPicture? {
    let outline = try AccessUnitOutline(unit, coding: coding, while: .decoding)
    if needsSync, !outline.isSync { throw MediaError(.syncUnitNeeded, while: .decoding) }
    let prepended = outline.isSync && outline.parameterSets.isEmpty ? parameterSets ?? [] : []
    if !prepended.isEmpty || !outline.parameterSets.isEmpty { hasParameterSets = true }
    guard hasParameterSets else { throw MediaError(.parameterSetsMissing, while: .decoding) }
    if verifiesPictureHashes {
      expectedHash = PictureHashMessage(in: unit)
      guard expectedHash != nil else {
        reset()
        throw MediaError(.damagedPicture, while: .decoding, "the unit has no intact picture hash")
      }
    }
    try fill(unit, prepended)
    packet.pointer.pointee.pts = tag
    try run(packet, output)
    needsSync = false
    return ready.isEmpty ? nil : ready.removeFirst()
  }

  mutating func drain(output: VideoDecoder.Output) throws(MediaError) -> [CVPixelBuffer] {
    try run(nil, output)
    defer { reset() }
    return ready.map(\.picture)
  }

  mutating func reset() {
    context.flush()
    ready = []
    needsSync = true
  }

  /// Gives the decoder a packet, or nil for the end, and takes all its pictures. After a failure only a sync unit helps.
  private mutating func run(_ packet: Packet?, _ output: VideoDecoder.Output) throws(MediaError) {
    do {
      _ = try context.send(packet)
      try checkComplaints()
      try collect(output)
    } catch {
      reset()
      throw error
    }
  }

  /// Copies parameter sets and unit into the packet, and puts start codes (H.265 and H.264, Annex B) where the lengths
  /// were.
  private func fill(_ unit: UnsafeRawBufferPointer, _ prepended: [[UInt8]]) throws(MediaError) {
    let prefix = LengthPrefixedUnits.prefixLength
    let startCode = UInt32(1).bigEndian
    let count = unit.count + prepended.reduce(0) { $0 + $1.count + prefix }
    var end = try packet.reserve(count, while: .decoding)
    for set in prepended {
      end.storeBytes(of: startCode, as: UInt32.self)
      UnsafeMutableRawBufferPointer(start: end + prefix, count: set.count).copyBytes(from: set)
      end += prefix + set.count
    }
    UnsafeMutableRawBufferPointer(start: end, count: unit.count).copyBytes(from: unit)
    for range in LengthPrefixedUnits(bytes: unit) {
      end.storeBytes(of: startCode, toByteOffset: range.lowerBound - prefix, as: UInt32.self)
    }
  }

  private mutating func collect(_ output: VideoDecoder.Output) throws(MediaError) {
    while true {
      // The one that stays empty, as the last always does, serves the next picture.
      let frame = if let spare = spareFrame.take() { spare } else { try Frame() }
      guard try context.receive(frame) else {
        spareFrame = frame
        return try checkComplaints()
      }
      try checkComplaints()
      let raw = frame.pointer.pointee
      guard raw.flags & AV_FRAME_FLAG_CORRUPT == 0, raw.decode_error_flags == 0 else {
        throw MediaError(.damagedPicture, while: .decoding, "the decoder concealed a part")
      }
      if verifiesPictureHashes { try verify(frame) }
      ready.append(VideoDecoder.TaggedPicture(picture: try picture(frame, output), tag: raw.pts))
    }
  }

  /// That it is the picture of the unit that was given last, to the bit; then cuts off what is not for show.
  private func verify(_ frame: Frame) throws(MediaError) {
    guard frame.pointer.pointee.pts == packet.pointer.pointee.pts,
      try PictureHashMessage(of: frame) == expectedHash
    else { throw MediaError(.damagedPicture, while: .decoding, "the picture differs from its hash") }
    let raw = frame.pointer.pointee
    // Our encoder pads to the right and below only.
    guard raw.crop_left == 0, raw.crop_top == 0, raw.crop_right < frame.width, raw.crop_bottom < frame.height else {
      throw MediaError(.damagedPicture, while: .decoding, "the picture is cut in another way than it was padded")
    }
    frame.pointer.pointee.width -= Int32(clamping: raw.crop_right)
    frame.pointer.pointee.height -= Int32(clamping: raw.crop_bottom)
    (frame.pointer.pointee.crop_right, frame.pointer.pointee.crop_bottom) = (0, 0)
  }

  /// FFmpeg returns a grey picture for a lost reference and says so in its log alone.
  private func checkComplaints() throws(MediaError) {
    guard let complaints = context.complaints else { return }
    throw MediaError(.damagedPicture, while: .decoding, complaints)
  }

  private func picture(_ frame: Frame, _ output: VideoDecoder.Output) throws(MediaError) -> CVPixelBuffer {
    let planar = try frames.picture(frame, keepsFullRange: true)
    switch (output, try planar.kind()) {
    case (.biPlanar, .planar(let range)):
      return try converter.convert(planar, to: PixelKind.biPlanar(range).format)
    case (.biPlanar, .biPlanar), (.biPlanar, .bgra), (.planar, _): return planar
    }
  }
}
