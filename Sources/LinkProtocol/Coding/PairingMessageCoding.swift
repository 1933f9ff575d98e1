import Units

extension PairingRequest: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.text(hostName)
    writer.bytes(hostKey)
    writer.bytes(signature)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    hostName = try reader.text("hostName")
    hostKey = try reader.bytes("hostKey", atMost: PairingLimits.key)
    signature = try reader.bytes("signature", atMost: PairingLimits.key)
  }
}

extension PairingAccepted: WireBody {
  func encode(into writer: inout ByteWriter) {
    writer.bytes(agentKey)
    writer.bytes(signature)
  }

  init(from reader: inout ByteReader) throws(LinkProtocolError) {
    agentKey = try reader.bytes("agentKey", atMost: PairingLimits.key)
    signature = try reader.bytes("signature", atMost: PairingLimits.key)
  }
}

extension Unpair: WireBody {
  func encode(into writer: inout ByteWriter) {}
  init(from reader: inout ByteReader) throws(LinkProtocolError) {}
}
