import Units

extension GlassesListing: WireBody {
  private static let uuidBytes = 16
  private static let pinBytes = 32

  func encode(into writer: inout ByteWriter) {
    writer.text(identifier)
    writer.fixed(uuid, count: Self.uuidBytes)
    writer.text(name)
    writer.text(model)
    writer.fixed(pin, count: Self.pinBytes)
    writer.value(presence)
    writer.integer(UInt8(clamping: min(addresses.count, Self.mostAddresses)))
    for address in addresses.prefix(Self.mostAddresses) { writer.text(address) }
    writer.integer(port)
    state.encode(into: &writer)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    identifier = try reader.text("identifier")
    uuid = try reader.fixed(Self.uuidBytes, "uuid")
    name = try reader.text("name")
    model = try reader.text("model")
    pin = try reader.fixed(Self.pinBytes, "pin")
    presence = try reader.value("presence", else: .away)
    let count = Int(try reader.integer("addressCount", as: UInt8.self))
    guard count <= Self.mostAddresses else {
      throw LinkProtocolError(.badValue(field: "addressCount", value: UInt64(count)), stage: .decoding)
    }
    addresses = []
    for _ in 0..<count { addresses.append(try reader.text("address")) }
    port = try reader.positive("port")
    state = try DeviceStateReport(from: &reader)
  }
}

extension GlassesRemoved: WireBody {
  func encode(into writer: inout ByteWriter) { writer.text(identifier) }
  init(from reader: inout ByteReader) throws(LinkProtocolError) { identifier = try reader.text("identifier") }
}

extension GlassesListed: WireBody {
  func encode(into writer: inout ByteWriter) {}
  init(from reader: inout ByteReader) throws(LinkProtocolError) {}
}

extension CertificateRequest: WireBody {
  func encode(into writer: inout ByteWriter) { writer.bytes(appKey) }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    appKey = try reader.bytes("appKey", atMost: PairingLimits.key)
  }
}

extension CertificateIssued: WireBody {
  /// As long as a certificate may be in a handshake.
  private static let longest = 4096

  func encode(into writer: inout ByteWriter) { writer.bytes(certificate) }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    certificate = try reader.bytes("certificate", atMost: Self.longest)
  }
}

extension PairGlasses: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(number)
    writer.text(uri)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    number = try reader.integer("number")
    uri = try reader.text("uri")
  }
}

extension UnpairGlasses: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(number)
    writer.text(identifier)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    number = try reader.integer("number")
    identifier = try reader.text("identifier")
  }
}

extension CompanionAnswer: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.integer(number)
    writer.value(outcome)
    writer.text(identifier)
    writer.text(text)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    number = try reader.integer("number")
    outcome = try reader.value("outcome", else: .failed)
    identifier = try reader.text("identifier")
    text = try reader.text("text")
  }
}
