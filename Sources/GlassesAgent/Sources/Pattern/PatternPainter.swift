import Units

/// Paints the test pattern: a still background made once for its size, and over it what changes from picture to picture.
///
/// What a picture shows is a function of its mark and size alone.
struct PatternPainter {
  /// The flash is lit, and a beep sounds, this long from each full second of the source's clock.
  static let flashMilliseconds: UInt32 = 100
  /// Pictures after which the moving squares are back where they were; prime, so that they are in step with nothing.
  private static let movingPeriod: UInt32 = 97

  private let layout: PatternLayout

  init(size: PixelSize) { layout = PatternLayout(size: size) }

  static func isFlash(milliseconds: UInt32) -> Bool { milliseconds % 1000 < flashMilliseconds }

  /// A diagonal shade with bars of colour at the foot: nowhere as dark as the borders that scaling may add.
  func paintBackground(on canvas: PatternCanvas) {
    let size = layout.size
    // Every row is a stretch of one ramp.
    let length = size.width + size.height
    let ramp = (0..<length).map { UInt8(80 + 80 * $0 / length) }
    ramp.withUnsafeBufferPointer { ramp in
      guard let start = ramp.baseAddress else { return }
      for row in 0..<size.height {
        (canvas.luma.base + row * canvas.luma.stride).update(from: start + row, count: size.width)
      }
    }
    let everything = PatternLayout.Rectangle(x: 0, y: 0, width: size.width, height: size.height)
    canvas.cb.fill(everything, with: 128)
    canvas.cr.fill(everything, with: 128)
    paintColourBars(on: canvas)
  }

  /// The eight bars of 75 % (ITU-R BT.1729) without their luma, on the last unit of the picture.
  private func paintColourBars(on canvas: PatternCanvas) {
    let chroma: [(cb: UInt8, cr: UInt8)] = [
      (128, 128), (44, 136), (147, 44), (63, 52), (193, 204), (109, 212), (212, 120), (128, 128),
    ]
    let size = layout.size
    let top = size.height - Int(layout.unit.rounded())
    for (index, colour) in chroma.enumerated() {
      let left = size.width * index / chroma.count
      let right = size.width * (index + 1) / chroma.count
      canvas.fill(
        PatternLayout.Rectangle(x: left, y: top, width: right - left, height: size.height - top), luma: 140,
        cb: colour.cb, cr: colour.cr)
    }
  }

  func paint(_ mark: PatternMark, on canvas: PatternCanvas) {
    paintBlocks(mark, on: canvas)
    for (index, glyph) in PatternGlyphs.digits(mark.frameNumber, count: 8).enumerated() {
      canvas.draw(glyph, in: layout.numberDigit(index))
    }
    for (index, glyph) in clockAndChecksum(mark).enumerated() { canvas.draw(glyph, in: layout.smallDigit(index)) }
    let isLit = Self.isFlash(milliseconds: mark.milliseconds)
    canvas.fill(layout.flash, luma: isLit ? PatternCanvas.white : PatternCanvas.black)
    paintMovingSquares(mark.frameNumber, on: canvas)
  }

  private func paintBlocks(_ mark: PatternMark, on canvas: PatternCanvas) {
    for (index, bit) in mark.bits.enumerated() {
      let block = layout.block(column: index % PatternMark.columns, row: index / PatternMark.columns)
      canvas.fill(block, luma: bit ? PatternCanvas.white : PatternCanvas.black)
    }
  }

  /// `mm:ss.mmm   CCCC`: the source's clock and the checksum.
  private func clockAndChecksum(_ mark: PatternMark) -> [[UInt8]] {
    let seconds = mark.milliseconds / 1000
    return PatternGlyphs.digits(seconds / 60, count: 2) + [PatternGlyphs.colon]
      + PatternGlyphs.digits(seconds % 60, count: 2) + [PatternGlyphs.point]
      + PatternGlyphs.digits(mark.milliseconds % 1000, count: 3)
      + [PatternGlyphs.space, PatternGlyphs.space, PatternGlyphs.space]
      + PatternGlyphs.digits(UInt32(mark.checksum), count: 4, radix: 16)
  }

  /// A chequered square in the track, and a larger one below it where the picture is high enough.
  private func paintMovingSquares(_ number: UInt32, on canvas: PatternCanvas) {
    paintChequeredSquare(side: 4, number: number, in: layout.track, on: canvas)
    let free = Double(layout.size.height) / layout.unit - 1.5 - 17
    guard free >= 6 else { return }
    let field = layout.rectangle(x: 0, y: 17, width: 16, height: min(free, 14))
    paintChequeredSquare(side: 5, number: number, in: field, on: canvas)
  }

  private func paintChequeredSquare(
    side units: Double, number: UInt32, in field: PatternLayout.Rectangle, on canvas: PatternCanvas
  ) {
    let side = Int((units * layout.unit).rounded())
    let phase = Double(number % Self.movingPeriod) / Double(Self.movingPeriod)
    // Even, so that chroma moves with luma.
    let x = field.x + Int(Double(max(field.width - side, 0)) * Self.triangle(phase)) & ~1
    let y = field.y + Int(Double(max(field.height - side, 0)) * Self.triangle(2 * phase)) & ~1
    let cells = 6
    for row in 0..<cells {
      for column in 0..<cells {
        let left = side * column / cells
        let right = side * (column + 1) / cells
        let top = side * row / cells
        let bottom = side * (row + 1) / cells
        let cell = PatternLayout.Rectangle(x: x + left, y: y + top, width: right - left, height: bottom - top)
        let isDark = (row + column) % 2 == 0
        canvas.fill(cell, luma: isDark ? 60 : 190, cb: isDark ? 96 : 160, cr: isDark ? 160 : 96)
      }
    }
  }

  /// 0 to 1 and back within each unit of phase.
  private static func triangle(_ phase: Double) -> Double {
    let fraction = phase - phase.rounded(.down)
    return fraction < 0.5 ? 2 * fraction : 2 - 2 * fraction
  }
}
