import LinkProtocol
import TestSupport
import Testing

@testable import Glasswing

extension Recorder {
  /// Finishes under a clock that the test moves: it stands still meanwhile, unless `step` says otherwise.
  func finish(by clock: ManualTimekeeper, step: Duration = .zero) async throws -> RecordingSummary {
    let outcome = Observed<Result<RecordingSummary, RecorderError>>()
    let finishing = Task {
      do throws(RecorderError) {
        outcome.record(.success(try await self.finish()))
      } catch {
        outcome.record(.failure(error))
      }
    }
    while outcome.values.isEmpty {
      clock.advance(by: step)
      await Task.yield()
    }
    await finishing.value
    return try #require(outcome.values.first).get()
  }
}
