import Testing

@testable import Glasswing

@Suite("REC-3: stamps of a recording")
struct StampRepairTests {
  private static let frame: Int64 = 33_333_333

  private func stamps(_ raws: [Int64?]) -> (stamps: [Int64], repairs: Int) {
    var repair = StampRepair()
    return (raws.map { repair.stamp(for: $0) }, repair.repairs)
  }

  private func risesStrictly(_ stamps: [Int64]) -> Bool {
    zip(stamps, stamps.dropFirst()).allSatisfy { $1 - $0 >= StampRepair.leastStep }
  }

  @Test("Good stamps keep their distances, jitter and gaps included")
  func goodStampsPass() {
    let raws: [Int64] = [5_000_000_000, 5_030_000_000, 5_070_000_000, 9_000_000_000, 9_033_000_000]
    let result = stamps(raws)
    #expect(result.stamps == raws.map { $0 - 5_000_000_000 })
    #expect(result.repairs == 0)
  }

  @Test("An equal stamp moves by half a frame, and the next one is good again")
  func equalStamp() {
    let result = stamps([0, Self.frame, Self.frame, 2 * Self.frame])
    #expect(result.repairs == 1)
    #expect(risesStrictly(result.stamps))
    #expect(result.stamps[3] == 2 * Self.frame)
    #expect(result.stamps[2] - Self.frame <= Self.frame)
  }

  @Test("A stamp that goes back a little moves by no more than a frame")
  func smallStepBack() {
    let raw = 3 * Self.frame - 10_000_000
    let result = stamps([0, Self.frame, 2 * Self.frame, 3 * Self.frame, raw, 4 * Self.frame])
    #expect(result.repairs == 1)
    #expect(risesStrictly(result.stamps))
    #expect(result.stamps[4] - raw <= Self.frame)
    #expect(result.stamps[5] == 4 * Self.frame)
  }

  @Test("A missing stamp follows the last by one frame; one repair each, the first sample's included")
  func missingStamps() {
    let result = stamps([nil, nil, 100_000_000_000, 100_033_000_000])
    #expect(result.repairs == 2)
    #expect(risesStrictly(result.stamps))
    #expect(result.stamps[2] - result.stamps[1] == Self.frame)
    #expect(result.stamps[3] - result.stamps[2] == 33_000_000)
  }

  @Test("A jump to another time base is joined on with one repair")
  func newBase() {
    let result = stamps([50_000_000_000, 50_033_000_000, 1_000_000_000, 1_033_000_000, 1_066_000_000])
    #expect(result.repairs == 1)
    #expect(risesStrictly(result.stamps))
    #expect(result.stamps[3] - result.stamps[2] == 33_000_000)
    #expect(result.stamps[2] - result.stamps[1] <= Self.frame)
  }

  @Test("Stamps from nowhere never trap and always rise", arguments: 0..<20)
  func anything(_ round: Int) {
    var generator = SystemRandomNumberGenerator()
    var repair = StampRepair()
    var last: Int64 = -1_000_000
    for _ in 0..<500 {
      let raw: Int64? =
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: nil
        case 1: .max
        case 2: .min
        case 3: Int64.random(in: .min ... .max, using: &generator)
        case 4: 7
        case _: Int64.random(in: 0...10_000_000_000, using: &generator)
        }
      let stamp = repair.stamp(for: raw)
      #expect(stamp - last >= StampRepair.leastStep)
      last = stamp
    }
  }
}
