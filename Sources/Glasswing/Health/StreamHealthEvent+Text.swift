import Units

extension StreamHealthEvent: CustomStringConvertible {
  /// A line for logs, with the host's time in seconds: `812.040 s reconnected: the link answers again, after 1.300 s`.
  public var description: String {
    "\(Self.seconds(hostNanoseconds)) \(kind)" + (words.isEmpty ? "" : ": \(words)")
  }

  private var words: String {
    switch kind {
    case .negotiated: video.map { "\($0)" } ?? ""
    case .formatChanged:
      (oldVideo.map { "from \($0) " } ?? "") + (video.map { "to \($0)" } ?? "") + (text.map { " (\($0))" } ?? "")
    case .unitsLost: "\(count ?? 0) lost, \(withheld ?? 0) withheld"
    case .waiting: (text.map { "for \($0)" } ?? "") + deadline
    case .keyframeRequested, .paused: text.map { "for \($0)" } ?? ""
    case .keyframeArrived: "after \(withheld ?? 0) withheld units"
    case .stallBegan:
      "no \(text ?? "pictures") for \(Self.seconds(length))\(deadline.isEmpty ? ", once too often" : deadline)"
    case .stallEnded: "after \(Self.seconds(length))"
    case .reconnecting: "the link does not answer\(deadline)"
    case .reconnected: "the link answers again, after \(Self.seconds(length))"
    case .resumed: "a picture comes next"
    case .listenerBehind: "listener \(listener ?? 0) missed \(count ?? 0) frames"
    case .audioListenerBehind: "audio listener \(listener ?? 0) missed \(count ?? 0) frames"
    case .audioChanged: (oldAudio.map { "from \($0) to " } ?? "") + (audio.map { "\($0)" } ?? "")
    case .audioGap: "\(Self.seconds(length)) missing (\(count ?? 0) samples)"
    case .audioUnusable: "\(count ?? 0) units"
    case .decoderBehind: "\(count ?? 0) units dropped up to the next keyframe"
    case .clockRealigned: "presentation times move by \(Self.seconds(length))"
    case .failed, .photoFailed: [error.map { "\($0)" }, text].compactMap { $0 }.joined(separator: " - ")
    default: text ?? ""
    }
  }

  private var deadline: String { deadlineHostNanoseconds.map { ", until \(Self.seconds($0)) at most" } ?? "" }

  private static func seconds(_ length: Duration?) -> String { seconds(length?.nanoseconds ?? 0) }

  private static func seconds(_ nanoseconds: Int64) -> String {
    let milliseconds = (nanoseconds.magnitude / 1_000_000)
    let fraction = String(milliseconds % 1000)
    let sign = nanoseconds < 0 ? "-" : ""
    return "\(sign)\(milliseconds / 1000).\(String(repeating: "0", count: 3 - fraction.count))\(fraction) s"
  }
}

extension StreamHealthEvent.Kind: CustomStringConvertible {
  /// The stable name.
  public var description: String { rawValue }
}

extension NegotiatedVideo: CustomStringConvertible {
  /// `720x1280 at 30/s`
  public var description: String { "\(width)x\(height) at \(frameRate)/s" }
}
