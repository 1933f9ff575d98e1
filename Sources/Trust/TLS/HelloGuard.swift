/// A look at a client's bytes before OpenSSL has them: how long its messages in clear say that they are.
///
/// OpenSSL makes room for a whole hello, 131,396 bytes at most and a third more, when it has seen the first four bytes of
/// it. A stranger would get a hundredfold of memory for what it sends.
struct HelloGuard {
  /// Of the record that begins (RFC 8446, 5.1): kind, version, length.
  private var recordHead: [UInt8] = []
  private var recordRest = 0
  private var isInClear = false
  /// Of the message that begins (RFC 8446, 4): kind, length.
  private var messageHead: [UInt8] = []
  private var messageRest = 0

  /// False when a message in these bytes says that it is longer than a whole handshake may be.
  mutating func allows(_ bytes: ArraySlice<UInt8>) -> Bool {
    for byte in bytes {
      guard recordRest > 0 else {
        recordHead.append(byte)
        if recordHead.count == 5 {
          isInClear = recordHead[0] == 22
          recordRest = Int(recordHead[3]) << 8 | Int(recordHead[4])
          recordHead = []
        }
        continue
      }
      recordRest -= 1
      guard isInClear else { continue }
      guard messageRest == 0 else {
        messageRest -= 1
        continue
      }
      messageHead.append(byte)
      if messageHead.count == 4 {
        messageRest = Int(messageHead[1]) << 16 | Int(messageHead[2]) << 8 | Int(messageHead[3])
        messageHead = []
        if messageRest > TLSLimits.handshake { return false }
      }
    }
    return true
  }
}
