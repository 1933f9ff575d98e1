import CFFmpeg
import Units

/// The sound track of a file being muxed: one packet is held back, since how long it lasts in the file is known with
/// the next one; so a gap is in the file, whatever fragments it spans.
struct MuxedAudio {
  /// A packet that may be written now, and how much sound came with the one that took its place.
  struct Ready {
    var packet: Packet?
    var duration: Duration
  }

  /// The last packet's stamp and nominal length, in frames.
  typealias Last = (stamp: Int64, frames: Int64)

  private static let believable = .seconds(-10)...AudioTrackWriter.longestGap

  private let format: PCMFormat
  /// A millisecond, which is how fine Matroska counts.
  private let leastStep: Int64
  private let streamIndex: Int32
  private let stream: UnsafeMutablePointer<AVStream>
  // Two, in turn: one is written while the other is filled.
  private var held: Packet
  private var spare: Packet
  private var isHolding = false
  private(set) var last: Last?

  init(_ encoder: AudioEncoder, stream: UnsafeMutablePointer<AVStream>) throws(MediaError) {
    try encoder.describe(stream)
    format = encoder.output
    leastStep = Int64(max(1, format.sampleRate / 1000))
    streamIndex = stream.pointee.index
    self.stream = stream
    held = try Packet()
    spare = try Packet()
  }

  /// Takes a packet at a time of the file; nil when it lies before the file's beginning.
  ///
  /// A time that is more than an hour ahead of the packet before, or 10 s behind it, is of a clock that began anew
  /// without the pictures': the packet follows that one.
  mutating func hold(_ coded: AudioTrackWriter.Packet, at time: Duration) throws(MediaError) -> Ready? {
    let stamp = stamp(at: time)
    guard stamp >= 0 else { return nil }
    let ready = isHolding ? release(until: stamp) : nil
    try held.fill(coded.bytes)
    held.pointer.pointee.flags = AV_PKT_FLAG_KEY
    held.pointer.pointee.stream_index = streamIndex
    last = (stamp, Int64(coded.frames))
    isHolding = true
    return Ready(packet: ready, duration: format.duration(frames: coded.frames))
  }

  /// When the middle of such a packet would be.
  func middle(of coded: AudioTrackWriter.Packet, at time: Duration) -> Duration {
    format.duration(frames: Int(stamp(at: time).addingSaturating(Int64(coded.frames / 2))))
  }

  func length(of coded: AudioTrackWriter.Packet) -> Duration { format.duration(frames: coded.frames) }

  /// Goes on after the sound of the file before, which was coded by the same encoder.
  mutating func follow(_ last: Last?) { self.last = self.last ?? last }

  private func stamp(at time: Duration) -> Int64 {
    let stamp = Int64(format.frames(in: time))
    guard let last else { return stamp }
    let expected = last.stamp.addingSaturating(last.frames)
    let isGap = Self.believable ~= format.duration(frames: Int(stamp.subtractingSaturating(expected)))
    return isGap ? max(stamp, last.stamp.addingSaturating(leastStep)) : expected
  }

  /// The packet that is held back, with its nominal length; nil for none.
  mutating func release() -> Packet? {
    guard isHolding, let last else { return nil }
    return release(until: last.stamp.addingSaturating(last.frames))
  }

  private mutating func release(until next: Int64) -> Packet? {
    guard let last else { return nil }
    isHolding = false
    swap(&held, &spare)
    let packet = spare.pointer
    packet.pointee.pts = last.stamp
    packet.pointee.dts = last.stamp
    packet.pointee.duration = next - last.stamp
    // Matroska counts milliseconds, whatever was asked for.
    av_packet_rescale_ts(
      packet, AVRational(num: 1, den: Int32(format.sampleRate)), stream.pointee.time_base)
    return spare
  }
}
