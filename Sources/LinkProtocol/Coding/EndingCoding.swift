import Units

/// Why something ended, as `sessionClosed` and `streamStopped` carry it: each with kinds of its own, and alike in what
/// comes with a failure.
protocol EndReason {
  associatedtype Kind: RawRepresentable where Kind.RawValue == UInt8

  var kind: Kind { get }
  /// Nil of an end that is no failure.
  var failureCode: LinkErrorCode? { get }
  init(_ kind: Kind, code: LinkErrorCode)
}

extension SessionClosed.Reason: EndReason {
  enum Kind: UInt8 { case requested = 1, endedByDevice, failed }

  var kind: Kind {
    switch self {
    case .requested: .requested
    case .endedByDevice: .endedByDevice
    case .failed: .failed
    }
  }

  var failureCode: LinkErrorCode? {
    switch self {
    case .requested, .endedByDevice: nil
    case .failed(let code): code
    }
  }

  init(_ kind: Kind, code: LinkErrorCode) {
    switch kind {
    case .requested: self = .requested
    case .endedByDevice: self = .endedByDevice
    case .failed: self = .failed(code)
    }
  }
}

extension StreamStopped.Reason: EndReason {
  enum Kind: UInt8 { case requested = 1, failed }

  var kind: Kind {
    switch self {
    case .requested: .requested
    case .failed: .failed
    }
  }

  var failureCode: LinkErrorCode? {
    switch self {
    case .requested: nil
    case .failed(let code): code
    }
  }

  init(_ kind: Kind, code: LinkErrorCode) {
    switch kind {
    case .requested: self = .requested
    case .failed: self = .failed(code)
    }
  }
}

extension ByteWriter {
  /// Code and `retryAfter` of an end that is no failure are zeros, so that the layout stays the same.
  mutating func ending(_ reason: some EndReason, retryAfter: Duration?, text: String) {
    value(reason.kind)
    value(reason.failureCode ?? .unknown)
    wait(reason.failureCode == nil ? nil : retryAfter)
    self.text(text)
  }

  /// In milliseconds, rounded up so that nobody comes too early; 0 for none.
  private mutating func wait(_ length: Duration?) {
    let nanoseconds = max(0, length?.nanoseconds ?? 0)
    integer(UInt32(clamping: nanoseconds / 1_000_000 + (nanoseconds % 1_000_000 > 0 ? 1 : 0)))
  }
}

extension ByteReader {
  mutating func ending<Reason: EndReason>() throws(LinkProtocolError) -> (Reason, retryAfter: Duration?, text: String) {
    let kind: Reason.Kind = try value("reason")
    let reason = Reason(kind, code: try value("code", else: .unknown))
    let wait: UInt32 = try integer("retryAfter")
    let retryAfter: Duration? = wait > 0 && reason.failureCode != nil ? .milliseconds(wait) : nil
    return (reason, retryAfter, try text("text"))
  }
}
