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
  private enum ReasonKind: UInt8 { case requested = 1, endedByDevice, failed }

  func encode(into writer: inout ByteWriter) {
    writer.integer(session.value)
    switch reason {
    case .requested:
      writer.value(ReasonKind.requested)
      writer.value(LinkErrorCode.unknown)
    case .endedByDevice:
      writer.value(ReasonKind.endedByDevice)
      writer.value(LinkErrorCode.unknown)
    case .failed(let code):
      writer.value(ReasonKind.failed)
      writer.value(code)
    }
    writer.text(text)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    session = try reader.session()
    let kind: ReasonKind = try reader.value("reason")
    let code: LinkErrorCode = try reader.value("code", else: .unknown)
    switch kind {
    case .requested: reason = .requested
    case .endedByDevice: reason = .endedByDevice
    case .failed: reason = .failed(code)
    }
    text = try reader.text("text")
  }
}
