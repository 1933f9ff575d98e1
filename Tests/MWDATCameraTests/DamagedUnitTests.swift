import LinkProtocol
import MWDATCamera
import TestSupport
import Testing
import Units

@Suite("Damaged access units")
struct DamagedUnitTests {
  @Test("cut or changed anywhere, a unit has parts that lie inside it, or none")
  func parts() throws {
    let unit = CodedPictures.unit(0, of: StreamID(1), captured: DeviceTime(nanoseconds: 0)).payload
    let whole = try #require(AccessUnitLayout(unit))
    for damaged in DecoderVerifier.damaged(unit) {
      guard let layout = AccessUnitLayout(damaged) else { continue }
      #expect(damaged.count == unit.count, "a cut unit has none")
      #expect(layout.pictureStart <= damaged.count - 6)
      var end = 0
      for set in layout.parameterSets {
        // Behind the length of the one before, and before the picture.
        #expect(set.lowerBound >= end + 4 && !set.isEmpty && set.upperBound <= layout.pictureStart)
        end = set.upperBound
      }
    }
    #expect(whole.parameterSets.count == 3)
  }
}
