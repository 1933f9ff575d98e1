import Glasswing
import MWDATCamera
import MWDATCore
import Synchronization

/// Watches a stream for its end, with the words that only health events carry.
final class StreamWatch: Sendable {
  private struct State {
    var words: String?
    var error: StreamError?
  }

  private let tokens = ListenerTokenBag()
  private let state = Mutex(State())

  /// - Parameter ended: the stream has stopped; called once for each stop, with the cause in words if it failed.
  init(_ stream: MWDATCamera.Stream, ended: @escaping @Sendable (String?) -> Void) {
    stream.healthPublisher.listen { [weak self] event in
      guard event.kind == .failed || event.kind == .photoFailed else { return }
      self?.state.withLock { $0.words = event.text }
    }.store(in: tokens)
    stream.errorPublisher.listen { [weak self] error in
      self?.state.withLock { $0.error = error }
    }.store(in: tokens)
    stream.statePublisher.listen { [weak self] state in
      guard state == .stopped else { return }
      ended(self?.cause)
    }.store(in: tokens)
  }

  /// Why the last thing failed: the glasses' own words, else the error's sentence, and the error's stable name; nil when
  /// nothing has.
  var cause: String? {
    state.withLock { state in
      guard let error = state.error else { return nil }
      let words = state.words.flatMap { $0.isEmpty ? nil : $0 } ?? error.localizedDescription
      return "\(words) (\(error.facts.name))"
    }
  }

  func end() { tokens.clear() }
}
