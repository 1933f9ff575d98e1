extension SessionOpen: WireBody {
  func encode(into writer: inout ByteWriter) { writer.integer(session.value) }
  init(from reader: inout ByteReader) throws(LinkProtocolError) { session = try reader.session() }
}

extension SessionOpened: WireBody {
  func encode(into writer: inout ByteWriter) { writer.integer(session.value) }
  init(from reader: inout ByteReader) throws(LinkProtocolError) { session = try reader.session() }
}

extension SessionPaused: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(session.value)
    writer.value(reason)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    session = try reader.session()
    reason = try reader.value("reason")
  }
}

extension SessionResumed: WireBody {
  func encode(into writer: inout ByteWriter) { writer.integer(session.value) }
  init(from reader: inout ByteReader) throws(LinkProtocolError) { session = try reader.session() }
}

extension SessionClose: WireBody {
  func encode(into writer: inout ByteWriter) { writer.integer(session.value) }
  init(from reader: inout ByteReader) throws(LinkProtocolError) { session = try reader.session() }
}

extension SessionClosed: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(session.value)
    writer.ending(reason, retryAfter: retryAfter, text: text)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    session = try reader.session()
    (reason, retryAfter, text) = try reader.ending()
  }
}
