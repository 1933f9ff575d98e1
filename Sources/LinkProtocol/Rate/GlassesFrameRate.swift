/// The pictures a second that glasses know, and what becomes of any other number. App and glasses go by this one rule, so
/// that what an app asks for is what the glasses understand.
package enum GlassesFrameRate {
  /// Rising.
  package static let all: [UInt8] = [2, 7, 15, 24, 30]

  /// The nearest of them; of two equally near ones the higher, so that nothing asked for is lost.
  package static func nearest(to asked: some UnsignedInteger & FixedWidthInteger) -> UInt8 {
    let asked = UInt8(clamping: asked)
    return all.reversed().min { distance($0, asked) < distance($1, asked) } ?? asked
  }

  private static func distance(_ rate: UInt8, _ asked: UInt8) -> UInt8 { rate > asked ? rate - asked : asked - rate }
}
