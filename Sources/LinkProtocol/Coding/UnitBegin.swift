// What can be told of a unit from its first chunk, without putting it together.

extension Channel {
  /// Bytes at the begin of each unit that say what it is; media follows.
  package var headLength: Int { UnitHead.length(self) }
}

extension AccessUnit.Flags {
  /// As they stand in the first bytes of a unit of the video channel; nil where those are too few.
  package init?(videoUnitBegin bytes: ArraySlice<UInt8>) {
    // Behind stream, capture time and size.
    let place = 16
    guard bytes.count > place else { return nil }
    self.init(rawValue: bytes[bytes.startIndex + place])
  }
}
