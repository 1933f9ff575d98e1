import LinkProtocol
import Synchronization

/// Counts the sync units of a stream that could not be used, one after the other, wherever on their way that showed: on
/// arrival or in the decoder. After `limit` of them the next one is no hope either.
///
/// Any thread.
final class SyncUnitRefusals: Sendable {
  private struct State {
    var stream: StreamID?
    var count = 0
  }

  static let limit = 3

  private let state = Mutex(State())

  /// Counts for this stream from now on, from 0.
  func open(_ stream: StreamID) { state.withLock { $0 = State(stream: stream) } }

  /// A picture could be used. What others of an older stream say changes nothing.
  func used(_ stream: StreamID) {
    state.withLock { if $0.stream == stream { $0.count = 0 } }
  }

  /// One more could not. True when the stream is to end.
  func refused(_ stream: StreamID) -> Bool {
    state.withLock { state in
      guard state.stream == stream else { return false }
      state.count = min(state.count + 1, Self.limit)
      return state.count == Self.limit
    }
  }
}
