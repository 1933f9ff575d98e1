import LinkProtocol
import MWDATCamera
import MWDATCore

/// What ended a session or a stream, where DAT's error has no case for it or no room for its details.
///
/// DAT's own error is announced all the same; this adds to it.
public enum GlassesFailure: GlasswingError {
  /// Another app has the camera. `retryAfter` is how long that app keeps it if it is gone without a word; one that is
  /// there keeps it for as long as it likes. nil when the glasses don't say.
  case heldByOther(retryAfter: Duration?)
  /// The glasses named a cause: its name in the link protocol, and their words.
  case reported(cause: String, text: String)
  /// The glasses or their wearer ended it: switched off, folded, unpaired, or by hand.
  case endedByGlasses(text: String)
  /// What was awaited of the glasses did not come in time: an answer, or pictures. They are out of reach, or their camera
  /// or software stands still.
  case silent(text: String)
  /// The connection broke, or never came up.
  case linkLost(text: String)
  /// App and glasses speak different versions.
  case incompatible(text: String)
  /// It failed on the app's side.
  case here(text: String)

  public var name: String {
    switch self {
    case .heldByOther: "glasses.heldByOther"
    case .reported: "glasses.reported"
    case .endedByGlasses: "glasses.endedByGlasses"
    case .silent: "glasses.silent"
    case .linkLost: "glasses.linkLost"
    case .incompatible: "glasses.incompatible"
    case .here: "glasses.here"
    }
  }

  public var code: Int {
    switch self {
    case .heldByOther: 7101
    case .reported: 7102
    case .endedByGlasses: 7103
    case .silent: 7104
    case .linkLost: 7105
    case .incompatible: 7106
    case .here: 7107
    }
  }

  public var stage: ErrorStage { .session }

  /// A session or stream does not go on after any of these.
  public var severity: ErrorSeverity { .terminal }

  public var advice: ErrorAdvice {
    switch self {
    case .heldByOther: .wait
    case .reported, .silent, .linkLost, .here: .retry
    case .endedByGlasses, .incompatible: .userAction
    }
  }

  /// Of `heldByOther`: how long to wait before the next try, if the glasses say.
  public var retryAfter: Duration? {
    switch self {
    case .heldByOther(let retryAfter): retryAfter
    case .reported, .endedByGlasses, .silent, .linkLost, .incompatible, .here: nil
    }
  }

  public var message: String {
    switch self {
    case .heldByOther(let retryAfter):
      if let retryAfter {
        "Another app has the camera. Try again in \(retryAfter)."
      } else {
        "Another app has the camera. Try again when it is done."
      }
    case .reported(let cause, let text): sentence("The glasses report \(cause)", text)
    case .endedByGlasses(let text): sentence("The glasses ended it", text)
    case .silent(let text): sentence("What was awaited of the glasses did not come", text)
    case .linkLost(let text): sentence("The link to the glasses was lost", text)
    case .incompatible(let text): sentence("App and glasses speak different versions", text)
    case .here(let text): sentence("It failed in the app", text)
    }
  }

  private func sentence(_ words: String, _ text: String) -> String { text.isEmpty ? words : "\(words): \(text)" }
}

extension GlassesFailure {
  init(_ cause: FailureCause, text: String) {
    self =
      switch cause {
      case .reported(.heldByOther, let retryAfter): .heldByOther(retryAfter: retryAfter)
      case .reported(let code, _): .reported(cause: "\(code)", text: text)
      case .ended: .endedByGlasses(text: text)
      case .silence: .silent(text: text)
      case .linkLost: .linkLost(text: text)
      case .incompatible: .incompatible(text: text)
      case .here: .here(text: text)
      }
  }
}

extension DeviceSession {
  /// What ended the session, or kept it from starting; nil while nothing has, and after an end that the app asked for.
  /// Any thread; there by the time the error is announced.
  public var lastFailure: GlassesFailure? { failure.map { GlassesFailure($0.cause, text: $0.text) } }
}

extension MWDATCamera.Stream {
  /// What ended the stream by an error; nil while nothing has. Any thread; there by the time the error is announced.
  public var lastFailure: GlassesFailure? { streamFailure.map { GlassesFailure($0.cause, text: $0.text) } }
}
