import Foundation
import LinkProtocol
import Units

/// The one capture that a camera has in flight, in a stream or standalone, as a value.
///
/// Contract: each capture that `begin` accepted leaves by exactly one `Ending`, and whatever names another capture
/// than the one in flight changes nothing. Result and bytes may come in either order, since they travel on different
/// channels.
package struct CaptureMachine: Sendable {
  /// Who waits for the photo.
  package enum Owner: Hashable, Sendable { case stream, standalone }

  /// Why there is no photo.
  package enum Failure: LocalizedError, CustomStringConvertible, Hashable, Sendable {
    /// The glasses took none; the text is theirs.
    case refused(LinkErrorCode, text: String)
    /// Nothing of it came for `CaptureMachine.limit`.
    case timedOut
    /// What came is not what the glasses announced.
    case damaged
    case linkLost
    /// Its owner stopped.
    case cancelled

    /// For people: an app meets this as the underlying error of a `PhotoError`, and prints it.
    package var description: String {
      switch self {
      case .refused(let code, let text): text.isEmpty ? "the glasses refused: \(code)" : text
      case .timedOut: "nothing of the photo came for \(CaptureMachine.limit)"
      case .damaged: "the photo's bytes are not those that the glasses announced"
      case .linkLost: "the link ended before the photo came"
      case .cancelled: "the stream ended before the photo came"
      }
    }

    package var errorDescription: String? { description }
  }

  /// The end of one capture.
  package struct Ending: Hashable, Sendable {
    package var owner: Owner
    package var photo: PhotoID
    package var failure: Failure

    package init(owner: Owner, photo: PhotoID, failure: Failure) {
      self.owner = owner
      self.photo = photo
      self.failure = failure
    }
  }

  package enum Phase: Hashable, Sendable {
    case idle
    case waiting(PhotoID, Owner, facts: PhotoFacts?, bytes: [UInt8]?)
    /// All is here and its digest is being computed.
    case verifying(PhotoID, Owner, PhotoFacts, bytes: [UInt8])
  }

  /// What to do after the photo's news.
  package enum Action: Hashable, Sendable {
    case none
    /// It moves: give it `limit` from now, and tell the owner.
    case progress(Owner, received: Int, total: Int)
    /// Compute the digest of the bytes and answer with `verified`.
    case verify(PhotoID, PhotoFacts, bytes: [UInt8])
    case fail(Ending)
  }

  /// How long a photo may go without progress.
  package static let limit: Duration = .seconds(10)

  package private(set) var phase: Phase

  package init(phase: Phase = .idle) { self.phase = phase }

  package var isIdle: Bool { phase == .idle }

  /// The capture in flight and who waits for it.
  package var current: (photo: PhotoID, owner: Owner)? {
    switch phase {
    case .idle: nil
    case .waiting(let photo, let owner, _, _): (photo, owner)
    case .verifying(let photo, let owner, _, _): (photo, owner)
    }
  }

  /// False when another capture is in flight.
  package mutating func begin(_ photo: PhotoID, for owner: Owner) -> Bool {
    guard isIdle else { return false }
    phase = .waiting(photo, owner, facts: nil, bytes: nil)
    return true
  }

  package mutating func result(_ result: PhotoResult) -> Action {
    guard case .waiting(result.photo, let owner, facts: nil, let bytes) = phase else { return .none }
    switch result.outcome {
    case .failed(let code):
      return end(.refused(code, text: result.text))
    case .taken(let facts):
      if let bytes { return verify(result.photo, owner, facts, bytes) }
      phase = .waiting(result.photo, owner, facts: facts, bytes: nil)
      return .progress(owner, received: 0, total: Int(facts.byteCount))
    }
  }

  package mutating func progress(_ photo: PhotoID, received: Int, total: Int) -> Action {
    guard case .waiting(photo, let owner, _, bytes: nil) = phase else { return .none }
    return .progress(owner, received: received, total: total)
  }

  package mutating func received(_ photo: PhotoID, bytes: [UInt8]) -> Action {
    guard case .waiting(photo, let owner, let facts, bytes: nil) = phase else { return .none }
    if let facts { return verify(photo, owner, facts, bytes) }
    phase = .waiting(photo, owner, facts: nil, bytes: bytes)
    return .progress(owner, received: bytes.count, total: bytes.count)
  }

  private mutating func verify(_ photo: PhotoID, _ owner: Owner, _ facts: PhotoFacts, _ bytes: [UInt8]) -> Action {
    guard bytes.count == Int(facts.byteCount) else { return end(.damaged) }
    phase = .verifying(photo, owner, facts, bytes: bytes)
    return .verify(photo, facts, bytes: bytes)
  }

  /// The digest is known. True for the one call that makes the photo its owner's.
  package mutating func delivered(_ photo: PhotoID) -> Bool {
    guard case .verifying(photo, _, _, _) = phase else { return false }
    phase = .idle
    return true
  }

  /// The digest differs, or nothing came in time.
  package mutating func failed(_ photo: PhotoID, _ failure: Failure) -> Ending? {
    guard let current, current.photo == photo else { return nil }
    return ending(failure)
  }

  package mutating func linkLost() -> Ending? { ending(.linkLost) }

  /// Nil when that owner has none in flight.
  package mutating func cancel(_ owner: Owner) -> Ending? {
    guard let current, current.owner == owner else { return nil }
    return ending(.cancelled)
  }

  private mutating func end(_ failure: Failure) -> Action {
    guard let ending = ending(failure) else { return .none }
    return .fail(ending)
  }

  private mutating func ending(_ failure: Failure) -> Ending? {
    guard let current else { return nil }
    phase = .idle
    return Ending(owner: current.owner, photo: current.photo, failure: failure)
  }
}
