import PortableMedia

/// Turns colours by ITU-R BT.709 into the same colours by BT.601, both in limited range.
///
/// Straight from luma and chroma to luma and chroma: by way of 8-bit RGB, colours beyond it would be clipped, chroma averaged
/// once more, and libyuv's coefficients for BT.709 saturate below 2.112, which costs strong blues a dozen levels.
enum MatrixChange {
  /// Bits behind the point.
  private static let bits: Int32 = 14
  private static let half: Int32 = 1 << (bits - 1)

  // With R = Y + 1.5748 Cr, B = Y + 1.8556 Cb (BT.709) put into Y = 0.299 R + 0.587 G + 0.114 B, Cb = (B - Y) / 1.772,
  // Cr = (R - Y) / 1.402 (BT.601). Luma spans 219 levels and chroma 224.
  private static let lumaOfCb = fixed(0.101579 * 219 / 224)
  private static let lumaOfCr = fixed(0.196076 * 219 / 224)
  private static let cbOfCb = fixed(0.989854)
  private static let cbOfCr = fixed(-0.110653)
  private static let crOfCb = fixed(-0.072453)
  private static let crOfCr = fixed(0.983398)

  private static func fixed(_ value: Double) -> Int32 { Int32((value * Double(1 << bits)).rounded()) }

  /// Pictures of one size.
  static func to601(_ source: PlanarBytes, into target: PlanarBytes) {
    for y in 0..<Int(source.y.height) {
      changeLuma(
        source.y.at(x: 0, y: y), source.u.at(x: 0, y: y / 2), source.v.at(x: 0, y: y / 2), target.y.at(x: 0, y: y),
        width: Int(source.y.width))
    }
    for y in 0..<Int(source.u.height) {
      changeChroma(
        source.u.at(x: 0, y: y), source.v.at(x: 0, y: y), target.u.at(x: 0, y: y), target.v.at(x: 0, y: y),
        width: Int(source.u.width))
    }
  }

  private static func changeLuma(
    _ luma: UnsafeMutablePointer<UInt8>, _ cb: UnsafeMutablePointer<UInt8>, _ cr: UnsafeMutablePointer<UInt8>,
    _ target: UnsafeMutablePointer<UInt8>, width: Int
  ) {
    let (ofCb, ofCr) = (lumaOfCb, lumaOfCr)
    func shift(_ x: Int) -> Int32 {
      (ofCb &* (Int32(cb[x]) &- 128) &+ ofCr &* (Int32(cr[x]) &- 128) &+ half) >> bits
    }
    for x in 0..<width / 2 {
      let shift = shift(x)
      target[2 &* x] = UInt8(clamping: Int32(luma[2 &* x]) &+ shift)
      target[2 &* x &+ 1] = UInt8(clamping: Int32(luma[2 &* x &+ 1]) &+ shift)
    }
    if width % 2 == 1 { target[width - 1] = UInt8(clamping: Int32(luma[width - 1]) &+ shift(width / 2)) }
  }

  private static func changeChroma(
    _ cb: UnsafeMutablePointer<UInt8>, _ cr: UnsafeMutablePointer<UInt8>, _ newCb: UnsafeMutablePointer<UInt8>,
    _ newCr: UnsafeMutablePointer<UInt8>, width: Int
  ) {
    let (cbOfCb, cbOfCr, crOfCb, crOfCr) = (cbOfCb, cbOfCr, crOfCb, crOfCr)
    for x in 0..<width {
      let (oldCb, oldCr) = (Int32(cb[x]) &- 128, Int32(cr[x]) &- 128)
      newCb[x] = UInt8(clamping: (cbOfCb &* oldCb &+ cbOfCr &* oldCr &+ half) >> bits &+ 128)
      newCr[x] = UInt8(clamping: (crOfCb &* oldCb &+ crOfCr &* oldCr &+ half) >> bits &+ 128)
    }
  }
}
