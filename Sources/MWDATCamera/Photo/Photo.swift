import Foundation
import LinkProtocol
import LinkTransport
import MWDATCore
import Synchronization
import Units

/// Photos apart from a stream, in a size and compression of the app's choice.
///
/// All members may be used from any thread. What is announced comes on one thread of this object's, in order; nothing is
/// replayed, so subscribe before `start()`. The stream and this share the camera of the glasses: while the stream is not
/// stopped, captures are answered `.busy`.
public final class Photo: Sendable {
  private struct State {
    var machine = PhotoMachine()
    var timer: LaneTimer?
  }

  private let context: CameraContext
  private let desk: PhotoDesk
  private let isStreaming: @Sendable () -> Bool
  private let lane: any Lane
  private let states: Broadcaster<PhotoState>
  private let photos: Broadcaster<PhotoCaptureData>
  private let errors: Broadcaster<PhotoError>
  private let progress: Broadcaster<PhotoTransferProgress>
  private let state = Mutex(State())

  init(_ context: CameraContext, desk: PhotoDesk, isStreaming: @escaping @Sendable () -> Bool) {
    self.context = context
    self.desk = desk
    self.isStreaming = isStreaming
    lane = context.timekeeper.makeLane("photo")
    states = Broadcaster(lane: lane)
    photos = Broadcaster(lane: lane)
    errors = Broadcaster(lane: lane)
    progress = Broadcaster(lane: lane)
  }

  /// Announces each new state.
  public var statePublisher: any Announcer<PhotoState> { states }

  /// Announces each photo: exactly one of a photo and an error for each capture.
  public var photoDataPublisher: any Announcer<PhotoCaptureData> { photos }

  /// Announces what goes wrong: an error before the state that it explains.
  public var errorPublisher: any Announcer<PhotoError> { errors }

  /// Announces how much of a photo has arrived.
  public var transferProgressPublisher: any Announcer<PhotoTransferProgress> { progress }

  /// Begins, and returns at once; `.started` is announced, or an error and `.stopped`, within 30 s. Nothing happens when
  /// started or starting.
  public func start() { handle(.start) }

  /// Ends at once when started; while starting, as soon as that has resolved, without `.started`. Harmless when
  /// repeated.
  public func stop() { handle(.stop) }

  /// Takes a photo and returns at once. The photo, or an error, is announced within 10 s of the last progress of its
  /// transfer; `.notReady` when not started, `.busy` during another capture or a stream.
  public func capturePhoto(resolution: PhotoResolution = .medium, quality: PhotoQuality = .medium) {
    let isBusy = isStreaming()
    state.withLock { state in
      guard state.machine.isStarted else { return errors.send(.notReady) }
      guard !isBusy,
        desk.begin(
          for: .standalone, format: .jpeg, size: PhotoSize(resolution), quality: PhotoCompression(quality))
      else { return errors.send(.busy) }
    }
  }
}

extension Photo {
  func parentEnded() { handle(.parentEnded) }
  func linkLost() { handle(.linkLost) }

  private func handle(_ event: PhotoMachine.Event) {
    state.withLock { state in
      for action in state.machine.handle(event) { carryOut(action, &state) }
    }
  }

  /// With the lock held: everything here is queued.
  private func carryOut(_ action: PhotoMachine.Action, _ state: inout State) {
    switch action {
    case .announce(let new):
      if new != .starting {
        state.timer?.cancel()
        state.timer = nil
      }
      states.send(new)
    case .report(let failure):
      errors.send(PhotoError(failure))
    case .check(let attempt):
      let deadline = context.timekeeper.now + PhotoMachine.checkLimit
      state.timer = context.link.lane.run(at: deadline) { [weak self] in self?.handle(.deadline(attempt)) }
      context.link.lane.run { [weak self] in self?.check(attempt) }
    case .cancelCapture:
      if desk.cancel(.standalone) { captureFailed(.cancelled) }
    }
  }

  private func check(_ attempt: PhotoMachine.Attempt) {
    CameraAvailability.check(context) { [weak self] availability in
      if let failure = PhotoMachine.SetupFailure(availability) {
        self?.handle(.refused(attempt, failure))
      } else {
        self?.handle(.permitted(attempt))
      }
    }
  }
}

extension Photo: CaptureOwner {
  var captureLane: any Lane { lane }

  func exclusively(_ body: () -> Void) { state.withLock { _ in body() } }

  func captureMoved(received: Int, total: Int) {
    progress.send(PhotoTransferProgress(bytesReceived: UInt64(max(0, received)), totalBytes: UInt64(max(0, total))))
  }

  func captureTaken(_ facts: PhotoFacts, captured: Instant, bytes: [UInt8]) {
    let received = Date(timeIntervalSince1970: context.timekeeper.wallClockSeconds)
    photos.send(
      PhotoCaptureData(
        imageData: Data(bytes), metadata: nil, timestamp: received, origin: PhotoOrigin(facts, captured: captured)))
  }

  func captureFailed(_ failure: CaptureMachine.Failure) {
    let error = PhotoError(failure)
    errors.send(error)
    // No photo can be taken without it, and the same error ends a start: it is an end here too.
    if case .permissionDenied = error { lane.run { [weak self] in self?.stop() } }
  }
}

extension PhotoSize {
  init(_ resolution: PhotoResolution) {
    self =
      switch resolution {
      case .small: .small480
      case .medium: .medium720
      case .large: .large1080
      case .full: .full
      }
  }
}

extension PhotoCompression {
  init(_ quality: PhotoQuality) {
    self =
      switch quality {
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
  }
}
