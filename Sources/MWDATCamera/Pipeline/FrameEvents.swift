import LinkProtocol
import Synchronization

/// What a stream hears of its frames, on the link lane or the decode lane.
protocol FrameOwner: AnyObject, Sendable {
  /// A unit has passed the loss gate; told before any listener has its frame. `isFrame`: listeners have it next, or there
  /// is none; otherwise it goes to the decoder, and `frameDecoded` tells when its frame is on the way to them.
  func unitPassed(_ stream: StreamID, isFrame: Bool)
  /// A decoded frame is on its way to the listeners.
  func frameDecoded(_ stream: StreamID)
  /// Nothing of this stream can be used, now and later; the text says why.
  func framesFailed(_ stream: StreamID, _ text: String)
}

/// The way from the pipeline to its owner, which the pipeline must not keep alive.
final class FrameEvents: Sendable {
  private struct Owner { weak var object: (any FrameOwner)? }

  private let owner = Mutex(Owner())

  func serve(_ object: any FrameOwner) { owner.withLock { $0.object = object } }

  func passed(_ stream: StreamID, isFrame: Bool) {
    owner.withLock { $0.object }?.unitPassed(stream, isFrame: isFrame)
  }
  func decoded(_ stream: StreamID) { owner.withLock { $0.object }?.frameDecoded(stream) }
  func failed(_ stream: StreamID, _ text: String) { owner.withLock { $0.object }?.framesFailed(stream, text) }
}
