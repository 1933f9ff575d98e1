import Units

extension UnitHead {
  static let audioLength = 24

  static func encode(_ unit: AudioUnit) -> [UInt8] {
    var writer = ByteWriter(reserving: audioLength)
    writer.integer(unit.stream.value)
    writer.integer(unit.captured.nanoseconds)
    writer.integer(unit.sampleRate)
    writer.integer(unit.frames)
    writer.value(unit.flags)
    writer.value(unit.codec)
    writer.integer(unit.channels)
    writer.integer(UInt8(0))
    writer.integer(UInt16(0))
    return writer.bytes
  }

  /// Nil where a unit is not what it says, or says what can't be: it then counts as lost.
  static func decode(audio head: [UInt8], payload: [UInt8]) -> AudioUnit? {
    guard let unit = try? read(audio: head, payload: payload), unit.isPlausible else { return nil }
    return unit
  }

  private static func read(audio head: [UInt8], payload: [UInt8]) throws(LinkProtocolError) -> AudioUnit {
    var reader = ByteReader(head)
    let stream = try reader.stream()
    let captured = DeviceTime(nanoseconds: try reader.integer("captured"))
    let sampleRate: UInt32 = try reader.positive("sampleRate")
    let frames: UInt16 = try reader.positive("frames")
    let flags = AudioUnit.Flags(rawValue: try reader.integer("flags"))
    let codec: AudioCodecID = try reader.value("codec")
    let channels: UInt8 = try reader.positive("channels")
    // The three reserved bytes are for a newer minor version; an older one ignores them.
    return AudioUnit(
      stream: stream, flags: flags, codec: codec, sampleRate: sampleRate, channels: channels, frames: frames,
      captured: captured, payload: payload)
  }
}

extension AudioUnit {
  /// Rates that a receiver takes: from telephones' to what converters go up to.
  package static let sampleRates: ClosedRange<UInt32> = 8000...192_000
  package static let channelCounts: ClosedRange<UInt8> = 1...2
  /// Longest unit: Opus has no longer packet (RFC 6716, 2.1.4).
  package static let longest: Duration = .milliseconds(120)
  /// RFC 6716, 2.1.3: what a decoder gives.
  private static let opusRates: Set<UInt32> = [8000, 12_000, 16_000, 24_000, 48_000]

  /// Whether rate, channels, length and payload go together.
  package var isPlausible: Bool {
    guard Self.sampleRates.contains(sampleRate), Self.channelCounts.contains(channels), frames > 0, !payload.isEmpty,
      Int64(frames) * 1_000_000_000 <= Self.longest.nanoseconds * Int64(sampleRate)
    else { return false }
    switch codec {
    case .pcmFloat32: return payload.count == Int(frames) * Int(channels) * MemoryLayout<Float>.size && isFinite
    case .opus: return Self.opusRates.contains(sampleRate)
    }
  }

  /// IEEE 754: an exponent of ones alone is an infinity or no number.
  private var isFinite: Bool {
    payload.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return true }
      var place = 3
      while place < bytes.count {
        if base[place] & 0x7f == 0x7f, base[place - 1] & 0x80 != 0 { return false }
        place += 4
      }
      return true
    }
  }
}

extension AudioChanged: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(stream.value)
    writer.audio(audio)
    writer.value(source)
    writer.integer(UInt8(isMuted ? 1 : 0))
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    stream = try reader.stream()
    guard let audio = try reader.audio() else {
      throw LinkProtocolError(.badValue(field: "audio.codec", value: 0), stage: .decoding)
    }
    self.audio = audio
    source = try reader.value("source", else: .unknown)
    let muted: UInt8 = try reader.integer("muted")
    guard muted <= 1 else {
      throw LinkProtocolError(.badValue(field: "muted", value: UInt64(muted)), stage: .decoding)
    }
    isMuted = muted == 1
  }
}
