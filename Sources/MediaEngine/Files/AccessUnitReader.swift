import CFFmpeg
import PortableMedia
import Synchronization
import Units

/// A compressed picture of a file.
package struct FileAccessUnit: Sendable {
  /// NAL units, each behind its length in 4 bytes. Parameter sets are apart, in the reader.
  package var bytes: [UInt8]
  /// When it is shown and when it is decoded, from the first unit's presentation. Equal without B-frames.
  package var presentation: Duration
  package var decoding: Duration
  /// True when the container says that it decodes alone.
  package var isSync: Bool
}

/// Reads the access units of an HEVC or H.264 track without decoding: from MP4, MOV or Matroska, which keep them whole and
/// their parameter sets apart.
///
/// Any thread; calls take turns. Reading blocks for the disk.
package final class AccessUnitReader: Sendable {
  package let coding: VideoCoding
  /// The track's parameter sets in the order of the file.
  package let parameterSets: [[UInt8]]
  package let description: MediaFileDescription

  private let state: Mutex<State>

  /// Unchecked Sendable: it lives in its reader's mutex and nowhere else.
  private struct State: @unchecked Sendable {
    let input: InputContext
    let packet: Packet
    var origin: Int64?
    var lastDecoding: Int64 = 0
  }

  /// Throws one of the causes about files; `.codecNotSupported` for another codec, or a container that has the units in
  /// another form.
  package init(path: String) throws(MediaError) {
    let input = try InputContext(path: path)
    let parameters = try input.parameters().pointee
    guard let coding = VideoCoding(parameters.codec_id) else {
      let name = String(cString: avcodec_get_name(parameters.codec_id))
      throw MediaError(.codecNotSupported(name), while: .opening, "access units are of HEVC or H.264", path: path)
    }
    let record = [UInt8](UnsafeBufferPointer(start: parameters.extradata, count: Int(parameters.extradata_size)))
    // Both records begin with version 1; parameter sets in the form of Annex B begin with a zero.
    guard record.first == 1 else {
      throw MediaError(
        .codecNotSupported(coding.rawValue), while: .opening, "the container has no configuration record", path: path)
    }
    do throws(MediaError) {
      let (sets, lengthSize) = try Self.read(record, coding)
      guard lengthSize == LengthPrefixedUnits.prefixLength else {
        throw MediaError(.codecNotSupported(coding.rawValue), while: .opening, "lengths of \(lengthSize) bytes")
      }
      self.coding = coding
      // Some encoders put supplemental information beside them.
      parameterSets = sets.filter { set in
        set.first.map { coding.isParameterSet(type: coding.unitType(firstByte: $0)) } ?? false
      }
      description = try input.description()
      state = Mutex(State(input: input, packet: try Packet()))
    } catch {
      throw error.about(path: path)
    }
  }

  /// The next access unit in order of decoding; nil at the end.
  package func next() throws(MediaError) -> FileAccessUnit? {
    try state.withLock { state throws(MediaError) in
      guard try state.input.read(state.packet) else { return nil }
      let raw = state.packet.pointer.pointee
      let decoding = state.input.nanoseconds(raw.dts) ?? state.lastDecoding
      let presentation = state.input.nanoseconds(raw.pts) ?? decoding
      let origin = state.origin ?? presentation
      state.origin = origin
      state.lastDecoding = decoding
      return FileAccessUnit(
        bytes: [UInt8](UnsafeBufferPointer(start: raw.data, count: Int(raw.size))),
        presentation: .nanoseconds(presentation.subtractingSaturating(origin)),
        decoding: .nanoseconds(decoding.subtractingSaturating(origin)),
        isSync: raw.flags & AV_PKT_FLAG_KEY != 0)
    }
  }

  /// The parameter sets of a configuration record, and how many bytes the lengths before NAL units have.
  private static func read(
    _ record: [UInt8], _ coding: VideoCoding
  ) throws(MediaError) -> (sets: [[UInt8]], lengthSize: Int) {
    do throws(BitstreamError) {
      switch coding {
      case .hevc:
        let parsed = try HEVCConfigurationRecord(parsing: record)
        return (parsed.parameterSets, parsed.lengthSize)
      case .h264:
        let parsed = try AVCConfigurationRecord(parsing: record)
        return (parsed.parameterSets, parsed.lengthSize)
      }
    } catch {
      throw MediaError(.malformedData, while: .opening, "its configuration record is malformed: \(error)")
    }
  }
}
