import MWDATCamera
import MWDATCore

/// Something about a stream that its states, frames and errors don't say.
///
/// A struct whose kinds are named values, so that later versions can add kinds and details without breaking an app:
/// ignore kinds you don't know.
public struct StreamHealthEvent: Codable, Hashable, Sendable {
  /// What happened.
  public struct Kind: RawRepresentable, Codable, Hashable, Sendable {
    /// The stable name.
    public let rawValue: String
    /// Any name; those that this version sends are the static members.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The glasses agreed to a size and rate: `video`.
    public static let negotiated = Kind(rawValue: "negotiated")
    /// Size or rate change; comes before the first frame in the new form. `video` is the new one, `oldVideo` the old.
    public static let formatChanged = Kind(rawValue: "formatChanged")
    /// Units were lost on the link: `count`. What depends on them is withheld.
    public static let unitsLost = Kind(rawValue: "unitsLost")
    /// A keyframe was asked for; `text` says why: `loss`, `lateListener`, `application`.
    public static let keyframeRequested = Kind(rawValue: "keyframeRequested")
    /// A keyframe ended a wait, in which `count` units were withheld.
    public static let keyframeArrived = Kind(rawValue: "keyframeArrived")
    /// Pictures have stopped coming while streaming; `length` says for how long by now.
    public static let stallBegan = Kind(rawValue: "stallBegan")
    /// Pictures come again, or the stream ended; `length` is the stall's.
    public static let stallEnded = Kind(rawValue: "stallEnded")
    /// The glasses hold the session; `text` says why: `wearer`, `thermal`, `system` (see `PauseReason`).
    public static let paused = Kind(rawValue: "paused")
    /// The glasses go on with the session.
    public static let resumed = Kind(rawValue: "resumed")
    /// The decoder was too slow, and `count` units were dropped up to the next keyframe.
    public static let decoderBehind = Kind(rawValue: "decoderBehind")
    /// The decoder refused a unit; `text` says why.
    public static let decoderFailed = Kind(rawValue: "decoderFailed")
    /// The attempt ended by a failure; `text` names the cause, such as what is wrong with a file.
    public static let failed = Kind(rawValue: "failed")
    /// A capture ended without a photo; `text` says why.
    public static let photoFailed = Kind(rawValue: "photoFailed")
  }

  /// What happened.
  public let kind: Kind
  /// When, in nanoseconds on the host's monotonic clock, which frames' presentation times are on too.
  public let hostNanoseconds: Int64
  /// In words, where the kind has any.
  public let text: String?
  /// How many, where the kind counts.
  public let count: UInt64?
  /// How long, where the kind says so.
  public let length: Duration?
  /// The form of the pictures, where the kind has one.
  public let video: NegotiatedVideo?
  /// The form before.
  public let oldVideo: NegotiatedVideo?

  init(
    _ kind: Kind, hostNanoseconds: Int64, text: String? = nil, count: UInt64? = nil, length: Duration? = nil,
    video: NegotiatedVideo? = nil, oldVideo: NegotiatedVideo? = nil
  ) {
    self.kind = kind
    self.hostNanoseconds = hostNanoseconds
    self.text = text
    self.count = count
    self.length = length
    self.video = video
    self.oldVideo = oldVideo
  }

  /// `hostNanoseconds` as the media types have it.
  public var time: CMTime { CMTime(value: hostNanoseconds, timescale: 1_000_000_000) }
}
