import Units

extension Hello: WireBody {
  /// "GLSW": tells a peer of this protocol from a stranger at the first bytes.
  package static let magic: UInt32 = 0x474C_5357

  func encode(into writer: inout ByteWriter) {
    writer.integer(Self.magic)
    writer.integer(version.major)
    writer.integer(version.minor)
    writer.value(role)
    writer.value(purpose)
    writer.integer(capabilities.rawValue)
    writer.fixed(nonce.bytes, count: Nonce.length)
    writer.text(identifier)
    writer.text(name)
    writer.text(model)
    writer.text(softwareVersion)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    version = try Self.readVersion(from: &reader)
    // Of another major version no more than the magic and the version can be understood.
    guard version.major == ProtocolVersion.current.major else {
      throw LinkProtocolError(.versionMismatch(peer: version), stage: .hello)
    }
    role = try reader.value("role")
    purpose = try reader.value("purpose")
    capabilities = Capabilities(rawValue: try reader.integer("capabilities"))
    guard let nonce = Nonce(try reader.fixed(Nonce.length, "nonce")) else {
      throw LinkProtocolError(.truncated(field: "nonce"), stage: .decoding)
    }
    self.nonce = nonce
    identifier = try reader.text("identifier")
    name = try reader.text("name")
    model = try reader.text("model")
    softwareVersion = try reader.text("softwareVersion")
  }

  private static func readVersion(from reader: inout ByteReader) throws(LinkProtocolError) -> ProtocolVersion {
    guard try reader.integer("magic", as: UInt32.self) == magic else {
      throw LinkProtocolError(.notThisProtocol, stage: .hello)
    }
    return ProtocolVersion(major: try reader.integer("major"), minor: try reader.integer("minor"))
  }

  /// The version in an encoded hello, which may be of a newer minor version than this side's.
  static func version(of unit: [UInt8]) throws(LinkProtocolError) -> ProtocolVersion {
    var reader = ByteReader(unit, from: MemoryLayout<UInt16>.size)
    return try readVersion(from: &reader)
  }
}

extension Goodbye: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.value(reason)
    writer.text(text)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    // Open: whatever a newer peer's reason is, it has left.
    reason = try reader.value("reason", else: .internalError)
    text = try reader.text("text")
  }
}

extension Ping: WireBody {
  func encode(into writer: inout ByteWriter) { writer.integer(number) }

  init(from reader: inout ByteReader) throws(LinkProtocolError) { number = try reader.integer("number") }
}

extension ClockRequest: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(number)
    writer.integer(originated.nanoseconds)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    number = try reader.integer("number")
    originated = Instant(nanoseconds: try reader.integer("originated"))
  }
}

extension ClockReply: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(number)
    writer.integer(originated.nanoseconds)
    writer.integer(received.nanoseconds)
    writer.integer(transmitted.nanoseconds)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    number = try reader.integer("number")
    originated = Instant(nanoseconds: try reader.integer("originated"))
    received = DeviceTime(nanoseconds: try reader.integer("received"))
    transmitted = DeviceTime(nanoseconds: try reader.integer("transmitted"))
  }
}

extension Feedback: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.value(channel)
    writer.integer(highestSequence)
    writer.integer(arrived.nanoseconds)
    writer.integer(unitsReceived)
    writer.integer(unitsLost)
    writer.integer(bytesReceived)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    channel = try reader.value("channel")
    highestSequence = try reader.integer("highestSequence")
    arrived = Instant(nanoseconds: try reader.integer("arrived"))
    unitsReceived = try reader.integer("unitsReceived")
    unitsLost = try reader.integer("unitsLost")
    bytesReceived = try reader.integer("bytesReceived")
  }
}

extension Failure: WireBody {
  private enum ScopeKind: UInt8 { case link = 0, session, stream }

  func encode(into writer: inout ByteWriter) {
    switch scope {
    case .link:
      writer.value(ScopeKind.link)
      writer.integer(UInt32(0))
    case .session(let session):
      writer.value(ScopeKind.session)
      writer.integer(session.value)
    case .stream(let stream):
      writer.value(ScopeKind.stream)
      writer.integer(stream.value)
    }
    writer.value(code)
    writer.text(text)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    switch try reader.value("scope", as: ScopeKind.self) {
    case .link:
      let zero = try reader.integer("id", as: UInt32.self)
      guard zero == 0 else {
        throw LinkProtocolError(.badValue(field: "id", value: UInt64(zero)), stage: .decoding)
      }
      scope = .link
    case .session: scope = .session(try reader.session())
    case .stream: scope = .stream(try reader.stream())
    }
    code = try reader.value("code", else: .unknown)
    text = try reader.text("text")
  }
}

extension DeviceStateReport: WireBody {
  /// In place of a battery level that isn't known.
  private static let unknownLevel: UInt8 = 255

  func encode(into writer: inout ByteWriter) {
    writer.integer(batteryLevel.map { min($0, 100) } ?? Self.unknownLevel)
    writer.value(charging)
    writer.value(wear)
    writer.value(hinge)
    writer.value(thermal)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    let level: UInt8 = try reader.integer("batteryLevel")
    guard level <= 100 || level == Self.unknownLevel else {
      throw LinkProtocolError(.badValue(field: "batteryLevel", value: UInt64(level)), stage: .decoding)
    }
    batteryLevel = level == Self.unknownLevel ? nil : level
    charging = try reader.value("charging", else: .unknown)
    wear = try reader.value("wear", else: .unknown)
    hinge = try reader.value("hinge", else: .unknown)
    thermal = try reader.value("thermal", else: .unknown)
  }
}
