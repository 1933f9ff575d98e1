import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import TestSupport
import Testing

/// docs/health.md and docs/errors.md, run: their Swift blocks stand here word for word.
@Suite(.exclusive(.mockKit))
struct HealthGuide {
  @Test("the pages on health and errors do what they say")
  func guide() async throws {
    let lines = Observed<String>()
    let reports = Observed<ErrorFacts?>()
    let starts = Counter()
    let log: @Sendable (String) -> Void = { lines.record($0) }
    let report: @Sendable (ErrorFacts?, String?) -> Void = { error, _ in reports.record(error) }
    let startAgain: @Sendable () -> Void = { starts.add() }
    try await withGlasses { glasses in
      let session = try await startedSession(with: glasses)
      let camera = try #require(try session.addCamera())
      let stream = camera.stream
      let tokens = ListenerTokenBag()

      stream.healthPublisher.listen { event in
        log("\(event)")  // 812.040 s stallBegan: no pictures for 1.000 s, until 822.040 s at most
        if event.kind == .failed { report(event.error, event.text) }
      }.store(in: tokens)

      let now = stream.statistics
      log("\(now.framesPerSecond) frames/s, \(now.bitsPerSecond / 1000) kbit/s, \(now.stalls) stalls")

      stream.errorPublisher.listen { error in
        let facts = error.facts
        log("\(facts)")  // stream.timeout (504, terminal, at start): The glasses sent no pictures in time. …
        if facts.severity == .terminal, facts.advice == .retry { startAgain() }
      }.store(in: tokens)

      let watched = WatchedStream(stream)
      stream.start()
      try await watched.wait(for: .streaming)
      glasses.setThermalLevel(.severe)
      try await watched.wait(for: .stopped)
      tokens.clear()
    }
    #expect(lines.values.contains { $0.hasPrefix("stream.thermalHot (509, terminal, at glasses): ") })
    #expect(lines.values.contains { $0.contains(" s failed: stream.thermalHot") })
    #expect(reports.values.map { $0?.stage } == [.glasses])
    #expect(starts.value == 0, "heat is not mended by trying again")
  }
}
