import Units

/// What stands before the payload of a media unit. Its length is fixed, so that the payload is put together in an array
/// of its own and handed on without a copy.
enum UnitHead {
  static let videoLength = 20
  static let photoLength = 4

  static func length(_ channel: Channel) -> Int {
    switch channel {
    case .control: 0
    case .audio: audioLength
    case .video: videoLength
    case .photo: photoLength
    }
  }

  static func encode(_ unit: AccessUnit) -> [UInt8] {
    var writer = ByteWriter(reserving: videoLength)
    writer.integer(unit.stream.value)
    writer.integer(unit.captured.nanoseconds)
    writer.size(unit.size)
    writer.value(unit.flags)
    writer.value(unit.codec)
    writer.integer(UInt16(0))
    return writer.bytes
  }

  static func decode(video head: [UInt8], payload: [UInt8]) throws(LinkProtocolError) -> AccessUnit {
    var reader = ByteReader(head)
    let stream = try reader.stream()
    let captured = DeviceTime(nanoseconds: try reader.integer("captured"))
    let size = try reader.size("size")
    let flags = AccessUnit.Flags(rawValue: try reader.integer("flags"))
    let codec: VideoCodecID = try reader.value("codec")
    // The two reserved bytes are for a newer minor version; an older one ignores them.
    return AccessUnit(
      stream: stream, flags: flags, codec: codec, size: size, captured: captured, payload: payload)
  }

  static func encode(_ photo: PhotoID) -> [UInt8] {
    var writer = ByteWriter(reserving: photoLength)
    writer.integer(photo.value)
    return writer.bytes
  }

  static func decode(photo head: [UInt8]) throws(LinkProtocolError) -> PhotoID {
    var reader = ByteReader(head)
    return try reader.photo()
  }
}
