import Foundation
import Synchronization

/// The one way in which the interface's modules speak to whoever runs the process: one line a record, to standard
/// error unless a sink was set.
package enum Log {
  private static let sink = Mutex<(@Sendable (String) -> Void)?>(nil)

  /// Replaces standard error; nil restores it. The sink is called on the thread of the record.
  package static func setSink(_ newSink: (@Sendable (String) -> Void)?) {
    let old = sink.withLock { current in
      defer { current = newSink }
      return current
    }
    withExtendedLifetime(old) {}
  }

  /// Something the app's developer should know; the program goes on.
  package static func warning(_ text: String) {
    if let sink = sink.withLock({ $0 }) {
      sink(text)
    } else {
      FileHandle.standardError.write(Data("glasswing: \(text)\n".utf8))
    }
  }
}
