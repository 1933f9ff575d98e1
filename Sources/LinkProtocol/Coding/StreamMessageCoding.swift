import Units

extension ByteWriter {
  mutating func video(_ parameters: VideoParameters) {
    value(parameters.codec)
    integer(parameters.frameRate)
    size(parameters.size)
  }

  /// No sound is codec 0 with zeros behind it, so that the layout stays the same.
  mutating func audio(_ parameters: AudioParameters?) {
    integer(parameters?.codec.rawValue ?? 0)
    integer(parameters?.channels ?? 0)
    integer(parameters?.sampleRate ?? 0)
  }
}

extension ByteReader {
  mutating func video() throws(LinkProtocolError) -> VideoParameters {
    let codec: VideoCodecID = try value("video.codec")
    let frameRate: UInt8 = try positive("video.frameRate")
    return VideoParameters(codec: codec, size: try size("video.size"), frameRate: frameRate)
  }

  mutating func audio() throws(LinkProtocolError) -> AudioParameters? {
    let raw: UInt8 = try integer("audio.codec")
    guard raw != 0 else {
      _ = try fixed(5, "audio")
      return nil
    }
    guard let codec = AudioCodecID(rawValue: raw) else {
      throw LinkProtocolError(.badValue(field: "audio.codec", value: UInt64(raw)), stage: .decoding)
    }
    let channels: UInt8 = try positive("audio.channels")
    return AudioParameters(codec: codec, sampleRate: try positive("audio.sampleRate"), channels: channels)
  }
}

extension StreamStart: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(stream.value)
    writer.integer(session.value)
    writer.video(video)
    writer.audio(audio)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    stream = try reader.stream()
    session = try reader.session()
    video = try reader.video()
    audio = try reader.audio()
  }
}

extension StreamStarted: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(stream.value)
    writer.video(video)
    writer.audio(audio)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    stream = try reader.stream()
    video = try reader.video()
    audio = try reader.audio()
  }
}

extension StreamChanged: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(stream.value)
    writer.video(video)
    writer.value(reason)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    stream = try reader.stream()
    video = try reader.video()
    reason = try reader.value("reason")
  }
}

extension StreamStop: WireBody {
  func encode(into writer: inout ByteWriter) { writer.integer(stream.value) }
  init(from reader: inout ByteReader) throws(LinkProtocolError) { stream = try reader.stream() }
}

extension StreamStopped: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(stream.value)
    writer.ending(reason, retryAfter: retryAfter, text: text)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    stream = try reader.stream()
    (reason, retryAfter, text) = try reader.ending()
  }
}

extension KeyframeRequest: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(stream.value)
    writer.value(reason)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    stream = try reader.stream()
    reason = try reader.value("reason")
  }
}
