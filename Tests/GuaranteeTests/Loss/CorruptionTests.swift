import LinkProtocol
import LinkTransport
import MWDATCamera
import TestSupport
import Testing
import Units

/// Units whose bits were changed on the way, which no gate can see: the picture's hash tells.
@Suite(.exclusive(.mockKit))
struct CorruptionTests {
  @Test(
    "LOSS-3: with a changed bit in every fifth unit no picture that reaches a listener differs from the one without",
    arguments: [UInt64](1...3))
  func everyFifth(seed: UInt64) async throws {
    let test = LossCase(codec: .raw, keyframeInterval: .seconds(1), seed: seed, verifiesPictures: true)
    try await LossRun.with(test) { run in
      let before = run.frames.values.count
      run.glasses.link.apply(.corrupt, to: .unit, .every(5), on: .video)
      run.clock.advance(by: .seconds(8))
      let corrupted = run.glasses.link.log.count { if case .corrupted = $0.kind { true } else { false } }
      #expect(corrupted > 20)
      run.glasses.link.clear()
      run.clock.advance(by: .seconds(2))
      let (wrong, all) = (try run.wrongFrames().count, run.frames.values.count)
      #expect(wrong == 0, "\(wrong) of \(all) pictures are wrong")
      #expect(all > before + 40)
      #expect(run.stream.statistics.drops.undecodable > 0)
    }
  }
}
