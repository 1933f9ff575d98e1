import Units

extension PhotoRequest: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(photo.value)
    writer.integer(session.value)
    writer.value(format)
    writer.value(size)
    writer.value(quality)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    photo = try reader.photo()
    session = try reader.session()
    format = try reader.value("format")
    size = try reader.value("size")
    quality = try reader.value("quality")
  }
}

extension PhotoResult: WireBody {
  private enum OutcomeKind: UInt8 { case taken = 1, failed }

  func encode(into writer: inout ByteWriter) {
    writer.integer(photo.value)
    switch outcome {
    case .taken(let facts):
      writer.value(OutcomeKind.taken)
      facts.encode(into: &writer)
    case .failed(let code):
      writer.value(OutcomeKind.failed)
      writer.value(code)
    }
    writer.text(text)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    photo = try reader.photo()
    switch try reader.value("outcome", as: OutcomeKind.self) {
    case .taken: outcome = .taken(try PhotoFacts(from: &reader))
    case .failed: outcome = .failed(try reader.value("code", else: .unknown))
    }
    text = try reader.text("text")
  }
}

extension PhotoFacts: WireBody {
  /// FIPS 180-4: SHA-256 gives 256 bits.
  static let digestLength = 32

  func encode(into writer: inout ByteWriter) {
    writer.value(format)
    writer.integer(orientation)
    writer.size(size)
    writer.integer(captured.nanoseconds)
    writer.integer(byteCount)
    writer.fixed(digest, count: Self.digestLength)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    format = try reader.value("format")
    orientation = try reader.integer("orientation")
    guard (1...8).contains(orientation) else {
      throw LinkProtocolError(.badValue(field: "orientation", value: UInt64(orientation)), stage: .decoding)
    }
    size = try reader.size("size")
    captured = DeviceTime(nanoseconds: try reader.integer("captured"))
    byteCount = try reader.integer("byteCount")
    digest = try reader.fixed(Self.digestLength, "digest")
  }
}
