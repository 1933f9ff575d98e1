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
    /// Size or rate change; comes before the first frame in the new form. `video` is the new one, `oldVideo` the old,
    /// `text` the reason: `linkNarrowed`, `linkWidened`, `thermal`, `source`.
    public static let formatChanged = Kind(rawValue: "formatChanged")
    /// Units were lost on the link: `count`. What depends on them is withheld: `withheld` units by now.
    public static let unitsLost = Kind(rawValue: "unitsLost")
    /// A keyframe was asked for; `text` says why: `loss`, `lateListener`, `application`.
    public static let keyframeRequested = Kind(rawValue: "keyframeRequested")
    /// A keyframe ended a wait, in which `withheld` units were withheld.
    public static let keyframeArrived = Kind(rawValue: "keyframeArrived")
    /// Pictures, or sound where it was asked for, have stopped coming while streaming: since `startHostNanoseconds`, for
    /// `length` by now. `text` says which: `pictures`, `sound`; where both have, it is `pictures`. They are waited for until
    /// `deadlineHostNanoseconds`; without one not at all: the stream has stalled too often, or for too long, and ends.
    public static let stallBegan = Kind(rawValue: "stallBegan")
    /// What was missing comes again, or the stream rests or ends; start and `length` are the stall's.
    public static let stallEnded = Kind(rawValue: "stallEnded")
    /// The link does not answer during a stall, whose `deadlineHostNanoseconds` stays what it was.
    public static let reconnecting = Kind(rawValue: "reconnecting")
    /// It answers again, `length` after `reconnecting`.
    public static let reconnected = Kind(rawValue: "reconnected")
    /// The state is `.waitingForDevice`, or stays so for another reason; `text` says which: `permission`, `pausedSession`,
    /// `silentLink`. Ends by `deadlineHostNanoseconds`.
    public static let waiting = Kind(rawValue: "waiting")
    /// The glasses hold the session; `text` says why: `wearer`, `thermal`, `system` (see `PauseReason`).
    public static let paused = Kind(rawValue: "paused")
    /// The glasses go on with the session; a picture comes next.
    public static let resumed = Kind(rawValue: "resumed")
    /// A listener was too slow: it missed `count` frames since it was last told of, at most once a second. `listener` is
    /// its number among `frameListeners`.
    public static let listenerBehind = Kind(rawValue: "listenerBehind")
    /// The decoder was too slow, and `count` units were dropped up to the next keyframe.
    public static let decoderBehind = Kind(rawValue: "decoderBehind")
    /// The decoder refused a unit; `text` says why.
    public static let decoderFailed = Kind(rawValue: "decoderFailed")
    /// The glasses say what they send as sound, or change it: source, mute, the codec on the link. Comes before the first
    /// frame of the new kind. `audio` is the new one, `oldAudio` the one before. Frames have the rate and the channels that
    /// were asked for all the same.
    public static let audioChanged = Kind(rawValue: "audioChanged")
    /// Sound is missing between two frames: `count` samples of each channel, which are `length`, since this was last told,
    /// at most once a second.
    public static let audioGap = Kind(rawValue: "audioGap")
    /// `count` units of sound could not be used since this was last told, at most once a second.
    public static let audioUnusable = Kind(rawValue: "audioUnusable")
    /// As `listenerBehind`, of the listeners for sound; `listener` is its number among `audioListeners`.
    public static let audioListenerBehind = Kind(rawValue: "audioListenerBehind")
    /// The glasses' clock jumped: presentation times are later by `length` than they would have been (earlier where it is
    /// negative), and increase all the same.
    public static let clockRealigned = Kind(rawValue: "clockRealigned")
    /// The attempt ended by `error`, whose stage is the step at which it failed; `text` names the cause, such as what is
    /// wrong with a file.
    public static let failed = Kind(rawValue: "failed")
    /// A capture ended without a photo, by `error`; `text` says why.
    public static let photoFailed = Kind(rawValue: "photoFailed")
  }

  /// What happened.
  public let kind: Kind
  /// When, in nanoseconds on the host's monotonic clock, which frames' presentation times are on too.
  public let hostNanoseconds: Int64
  /// In words, where the kind has any.
  public internal(set) var text: String?
  /// How many, where the kind counts.
  public internal(set) var count: UInt64?
  /// The number of a listener for frames or sound, where the kind concerns one.
  public internal(set) var listener: Int?
  /// How many units were withheld, where the kind says so.
  public internal(set) var withheld: UInt64?
  /// When it began, where the kind says so; on the clock of `hostNanoseconds`.
  public internal(set) var startHostNanoseconds: Int64?
  /// Until when it is waited for what is missing, at the latest, where the kind waits for something; on the clock of
  /// `hostNanoseconds`.
  public internal(set) var deadlineHostNanoseconds: Int64?
  /// How long, where the kind says so.
  public internal(set) var length: Duration?
  /// The form of the pictures, where the kind has one.
  public internal(set) var video: NegotiatedVideo?
  /// The form before.
  public internal(set) var oldVideo: NegotiatedVideo?
  /// The sound, where the kind is about it.
  public internal(set) var audio: AudioStatus?
  /// The sound before.
  public internal(set) var oldAudio: AudioStatus?
  /// The error that was announced, where the kind has one.
  public internal(set) var error: ErrorFacts?

  init(_ kind: Kind, hostNanoseconds: Int64, text: String? = nil) {
    self.kind = kind
    self.hostNanoseconds = hostNanoseconds
    self.text = text
  }

  /// `hostNanoseconds` as the media types have it.
  public var time: CMTime { CMTime(value: hostNanoseconds, timescale: 1_000_000_000) }
}
