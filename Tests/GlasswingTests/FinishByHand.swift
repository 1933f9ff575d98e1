import LinkProtocol
import PortableMedia
import TestSupport
import Testing

@testable import Glasswing

extension Recorder {
  /// Finishes under a clock that the test moves: it stands still meanwhile.
  func finish(by clock: ManualTimekeeper) async throws -> RecordingSummary {
    let outcome = Observed<Result<RecordingSummary, RecorderError>>()
    let finishing = Task {
      do throws(RecorderError) {
        outcome.record(.success(try await self.finish()))
      } catch {
        outcome.record(.failure(error))
      }
    }
    // What waits is written while finishing, and not before.
    while try takesSound() { await Task.yield() }
    while outcome.values.isEmpty {
      clock.settle()
      await Task.yield()
    }
    await finishing.value
    return try #require(outcome.values.first).get()
  }

  /// False once it is finishing or has failed.
  private func takesSound() throws -> Bool {
    let format = try #require(AVAudioFormat(standardFormatWithSampleRate: 16_000, channels: 1))
    let nothing = try #require(AVAudioPCMBuffer(pcmFormat: format, frameCapacity: 1))
    do throws(RecorderError) {
      try append(nothing, at: .invalid)
      return true
    } catch {
      return false
    }
  }
}
