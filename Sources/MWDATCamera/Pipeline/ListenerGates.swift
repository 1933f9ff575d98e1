import LinkProtocol

/// Keeps one listener of compressed units from units that it can't decode.
struct CompressedListenerGate: Sendable {
  enum Outcome: Hashable, Sendable {
    case deliver(followsGap: Bool)
    /// `isMissed` is false before the first sync unit: a listener that comes late misses nothing that was its own.
    /// `asks`: a sync unit is needed.
    case withhold(isMissed: Bool, asks: Bool)
  }

  private var gate = LossGate()
  private var hasBegun = false
  private var stream: StreamID?
  private var lastNumber: UInt32?

  /// - Parameter number: counts the frames that were sent to listeners; a step of more than one is what this one missed.
  mutating func admit(_ number: UInt32, of stream: StreamID, _ frame: VideoFrame) -> Outcome {
    if self.stream != stream {
      // Each stream begins with a sync unit of its own.
      gate = LossGate()
      hasBegun = false
      self.stream = stream
      lastNumber = nil
    }
    let missed = lastNumber.map { Int(number &- $0 &- 1) } ?? 0
    lastNumber = number
    var flags: AccessUnit.Flags = frame.isSync ? [.sync, .parameterSets] : []
    if frame.followsGap { flags.insert(.discontinuity) }
    switch gate.admit(sequence: number, flags: flags, lostBefore: missed) {
    case .deliver(let discontinuity):
      hasBegun = true
      return .deliver(followsGap: discontinuity)
    case .withhold(let asks):
      // What was missed during a wait may have been the sync unit that was waited for.
      return .withhold(isMissed: hasBegun, asks: asks || missed > 0)
    }
  }
}

/// Tells which frames of one listener of decoded ones come after some that it missed.
struct DecodedListenerGate: Sendable {
  private var last: (stream: StreamID, number: UInt32)?

  mutating func admit(_ number: UInt32, of stream: StreamID) -> Bool {
    defer { last = (stream, number) }
    guard let last, last.stream == stream else { return false }
    return number &- last.number > 1
  }
}
