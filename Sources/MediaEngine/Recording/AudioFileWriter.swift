import CFFmpeg
import Synchronization
import Units

/// Writes sound alone: WAV (floating point) or FLAC. Neither knows times, so what is missing becomes silence, up to an
/// hour at a time (`AudioTrackWriter`).
///
/// Wherever the process is killed, the file plays: WAV's header is brought up to date each quarter of a second, and
/// that of FLAC may leave the length open, which is in it from `finish` on. A WAV that grows beyond 4 GiB becomes RF64
/// (EBU Tech 3306) in place. Any thread; calls take turns.
package final class AudioFileWriter: Sendable {
  /// The kind of file.
  package enum Container: String, Hashable, Sendable, CaseIterable {
    case wav, flac
  }

  /// The file being written, for `synchronize()` on another lane.
  package let file: OutputFile
  /// The form of what is in the file; sound of another form is converted.
  package let format: PCMFormat

  private let state: Mutex<AudioFileWriterState>

  /// Creates the file, or empties an existing one, and writes its header.
  ///
  /// Throws `.audioFormatNotSupported`, `.fileNotWritable`, `.storageFull`, `.writingFailed`.
  package init(path: String, container: Container, format: PCMFormat) throws(MediaError) {
    let codec: AudioEncoder.Codec = container == .wav ? .pcmFloat : .flac
    let track = AudioTrackWriter(encoder: try AudioEncoder(codec, format), fillsAllGaps: true)
    file = try OutputFile(path: path)
    self.format = format
    state = Mutex(try AudioFileWriterState(file: file, container: container, track: track))
  }

  /// Adds interleaved samples. A gap before them is written as silence, which may take as long as writing anything of
  /// its length; its memory does not grow. Throws `.storageFull`, `.writingFailed`, `.finished`; after a failed write
  /// every later call throws the same.
  package func append(_ samples: [Float], of format: PCMFormat, at presentation: Instant?) throws(MediaError) {
    try state.withLock { state throws(MediaError) in try state.append(samples, of: format, at: presentation) }
  }

  /// Completes the file and has it reach the disk. Later calls throw `.finished`.
  package func finish() throws(MediaError) {
    try state.withLock { state throws(MediaError) in try state.finish() }
    try file.synchronize()
  }

  package var counts: AudioTrackWriter.Counts { state.withLock { $0.counts } }

  /// How long after the file's beginning sound of such a time would be put, silence before it counted in.
  package func place(of presentation: Instant?) -> Duration { state.withLock { $0.place(of: presentation) } }

  /// As if so many frames of silence had been written, but as a hole: for tests of long files.
  func skip(frames: Int) throws(MediaError) {
    try state.withLock { state throws(MediaError) in try state.skip(frames: frames) }
  }
}

/// The file's inside.
///
/// Unchecked Sendable: it lives in its file's mutex and nowhere else.
private struct AudioFileWriterState: @unchecked Sendable {
  private let output: OutputContext
  private let packet: Packet
  private let path: String
  private var track: AudioTrackWriter
  private var written: Int64 = 0
  /// WAV's lengths; nil for FLAC.
  private var lengths: WAVLengths?
  private var failure: MediaError?
  private var isFinished = false

  init(file: OutputFile, container: AudioFileWriter.Container, track: AudioTrackWriter) throws(MediaError) {
    self.track = track
    path = file.path
    packet = try Packet()
    output = try OutputContext(format: container.rawValue, target: file)
    let stream = try output.addStream()
    try track.encoder.describe(stream)
    // WAV: room for lengths of 64 bits, which a file beyond 4 GiB needs.
    try output.writeHeader(options: container == .wav ? ["rf64": "auto"] : [:])
    if container == .wav { lengths = WAVLengths(file: file, frameBytes: track.encoder.output.channels * 4) }
  }

  var counts: AudioTrackWriter.Counts { track.counts }

  func place(of presentation: Instant?) -> Duration { track.place(of: presentation) }

  mutating func skip(frames: Int) throws(MediaError) {
    try output.skip(bytes: Int64(frames * track.encoder.output.channels * 4))
    written += Int64(frames)
  }

  mutating func append(
    _ samples: [Float], of format: PCMFormat, at presentation: Instant?
  ) throws(MediaError) {
    try checkWritable()
    try track.append(samples, of: format, at: presentation)
    try writeAll()
  }

  mutating func finish() throws(MediaError) {
    try checkWritable()
    try track.finish()
    try writeAll()
    isFinished = true
    try writeFinalConfiguration()
    try output.writeTrailer()
  }

  /// FLAC's header states length and checksum, which are known at the end.
  private mutating func writeFinalConfiguration() throws(MediaError) {
    guard let configuration = track.encoder.finalConfiguration else { return }
    packet.clear()
    let sideData = av_packet_new_side_data(packet.pointer, AV_PKT_DATA_NEW_EXTRADATA, configuration.count)
    let target = try LibAV.allocated("av_packet_new_side_data", while: .finishing, sideData)
    for (index, byte) in configuration.enumerated() { target[index] = byte }
    try output.write(packet)
  }

  private func checkWritable() throws(MediaError) {
    if let failure { throw failure }
    guard !isFinished else { throw MediaError(.finished, while: .writing, path: path) }
  }

  private mutating func writeAll() throws(MediaError) {
    while let packets = try track.code() { try write(packets) }
  }

  private mutating func write(_ packets: [AudioTrackWriter.Packet]) throws(MediaError) {
    for coded in packets {
      try packet.fill(coded.bytes)
      packet.pointer.pointee.pts = written
      packet.pointer.pointee.dts = written
      packet.pointer.pointee.duration = Int64(coded.frames)
      packet.pointer.pointee.flags = AV_PKT_FLAG_KEY
      packet.pointer.pointee.stream_index = 0
      written += Int64(coded.frames)
      do {
        try output.write(packet)
      } catch {
        failure = error
        throw error
      }
    }
    lengths?.update(frames: Int(written), every: track.encoder.output.sampleRate / 4)
  }
}

extension AudioEncoder {
  /// Fills in a file's track; its clock counts output frames. Of priming it says nothing.
  func describe(_ stream: UnsafeMutablePointer<AVStream>) throws(MediaError) {
    guard let parameters = stream.pointee.codecpar else {
      throw MediaError(.outOfMemory, while: .opening, "a stream without parameters")
    }
    try copyParameters(to: parameters)
    parameters.pointee.codec_tag = 0
    parameters.pointee.initial_padding = 0
    // The pre-skip of Opus' header (RFC 7845, 5.1) says the same once more.
    if codec == .opus, let header = parameters.pointee.extradata, parameters.pointee.extradata_size >= 12 {
      header[10] = 0
      header[11] = 0
    }
    stream.pointee.time_base = AVRational(num: 1, den: Int32(output.sampleRate))
  }
}

extension Packet {
  /// Takes a copy of bytes.
  func fill(_ bytes: [UInt8]) throws(MediaError) {
    let target = try reserve(bytes.count, while: .writing)
    bytes.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: target, count: bytes.count).copyBytes(from: $0) }
  }
}
