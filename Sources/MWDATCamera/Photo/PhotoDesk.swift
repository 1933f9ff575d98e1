import Foundation
import LinkProtocol
import LinkTransport
import MediaEngine
import Synchronization
import Units

/// Someone who takes photos: the stream and the standalone photo of one camera.
///
/// The members other than `exclusively` are called inside it and only queue, so that a photo, or the failure of one,
/// stands in one order with the owner's states: never after `.stopped`.
protocol CaptureOwner: AnyObject, Sendable {
  /// Where digests are computed; a photo of 5 MB takes a few milliseconds.
  var captureLane: any Lane { get }
  /// Runs the body under the lock that guards the owner's state.
  func exclusively(_ body: () -> Void)
  func captureMoved(received: Int, total: Int)
  func captureTaken(_ facts: PhotoFacts, captured: Instant, bytes: [UInt8])
  func captureFailed(_ failure: CaptureMachine.Failure)
}

/// Takes photos over the link for a camera's stream and standalone photo, one at a time between them.
///
/// Lock order: the owner's, then this one's.
final class PhotoDesk: Sendable {
  private struct State {
    var machine = CaptureMachine()
    var lastProgress = Instant.distantPast
    /// When the photo in flight was captured, on this host's clock, once the glasses have said so.
    var captured = Instant.distantPast
  }

  private struct Owners {
    weak var stream: (any CaptureOwner)?
    weak var standalone: (any CaptureOwner)?
  }

  private let context: CameraContext
  private let owners = Mutex(Owners())
  private let state = Mutex(State())

  init(_ context: CameraContext) { self.context = context }

  func serve(stream: any CaptureOwner, standalone: any CaptureOwner) {
    owners.withLock { $0 = Owners(stream: stream, standalone: standalone) }
  }

  /// Asks the glasses for a photo; false when one is in flight. Called inside the owner's `exclusively`.
  func begin(
    for owner: CaptureMachine.Owner, format: PhotoFormat, size: PhotoSize, quality: PhotoCompression
  ) -> Bool {
    let photo = LinkNumbers.nextPhoto()
    let now = context.timekeeper.now
    let isAccepted = state.withLock { state in
      guard state.machine.begin(photo, for: owner) else { return false }
      state.lastProgress = now
      return true
    }
    guard isAccepted else { return false }
    context.link.send(
      .photoRequest(
        PhotoRequest(photo: photo, session: context.session, format: format, size: size, quality: quality)))
    watch(photo, until: now + CaptureMachine.limit)
    return true
  }

  /// Ends what that owner has in flight; true when there was something. Called inside its `exclusively`.
  func cancel(_ owner: CaptureMachine.Owner) -> Bool {
    state.withLock { $0.machine.cancel(owner) } != nil
  }

  /// On the link lane.
  func handle(_ event: LinkEvent) {
    switch event {
    case .message(.photoResult(let result)):
      if case .taken(let facts) = result.outcome { note(facts, of: result.photo) }
      update(result.photo) { $0.result(result) }
    case .photoProgress(let photo, let received, let total):
      update(photo) { $0.progress(photo, received: received, total: total) }
    case .photo(let photo, let bytes):
      update(photo) { $0.received(photo, bytes: bytes) }
    case .closed:
      guard let photo = state.withLock({ $0.machine.current?.photo }) else { return }
      fail(photo, .linkLost)
    case .opened, .message, .accessUnit, .audio, .videoDropped, .audioDropped, .clockRealigned, .silent, .heardAgain:
      break
    }
  }

  /// At once, while the alignment of the clocks is that of the moment.
  private func note(_ facts: PhotoFacts, of photo: PhotoID) {
    let captured = context.link.hostTime(of: facts.captured)
    state.withLock { state in
      if state.machine.current?.photo == photo { state.captured = captured }
    }
  }

  private func fail(_ photo: PhotoID, _ failure: CaptureMachine.Failure) {
    update(photo) { machine in machine.failed(photo, failure).map { .fail($0) } ?? .none }
  }

  /// Feeds the machine under the owner's lock and carries out what it says. Does nothing when that photo is not the one
  /// in flight.
  private func update(_ photo: PhotoID, _ input: (inout CaptureMachine) -> CaptureMachine.Action) {
    guard let current = state.withLock({ $0.machine.current }), current.photo == photo,
      let owner = owner(current.owner)
    else { return }
    owner.exclusively {
      switch state.withLock({ input(&$0.machine) }) {
      case .none:
        break
      case .progress(_, let received, let total):
        state.withLock { $0.lastProgress = context.timekeeper.now }
        owner.captureMoved(received: received, total: total)
      case .verify(let photo, let facts, let bytes):
        owner.captureLane.run { [weak self] in self?.verify(photo, facts, bytes) }
      case .fail(let ending):
        owner.captureFailed(ending.failure)
      }
    }
  }

  /// On the owner's lane.
  private func verify(_ photo: PhotoID, _ facts: PhotoFacts, _ bytes: [UInt8]) {
    guard let digest = try? sha256(bytes), digest == facts.digest else { return fail(photo, .damaged) }
    guard let current = state.withLock({ $0.machine.current }), let owner = owner(current.owner) else { return }
    owner.exclusively {
      let captured: Instant? = state.withLock { $0.machine.delivered(photo) ? $0.captured : nil }
      guard let captured else { return }
      owner.captureTaken(facts, captured: captured, bytes: bytes)
    }
  }

  /// One timer for each photo, which comes again for as long as there was progress.
  private func watch(_ photo: PhotoID, until deadline: Instant) {
    context.link.lane.run(at: deadline) { [weak self] in
      guard let self else { return }
      let due: Instant? = state.withLock { state in
        guard case .waiting(photo, _, _, _) = state.machine.phase else { return nil }
        return state.lastProgress + CaptureMachine.limit
      }
      guard let due else { return }
      if due <= context.timekeeper.now { fail(photo, .timedOut) } else { watch(photo, until: due) }
    }
  }

  private func owner(_ owner: CaptureMachine.Owner) -> (any CaptureOwner)? {
    owners.withLock { owners in
      switch owner {
      case .stream: owners.stream
      case .standalone: owners.standalone
      }
    }
  }
}
