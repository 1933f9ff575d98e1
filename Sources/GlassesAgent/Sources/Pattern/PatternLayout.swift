import Units

/// Where things stand in the test pattern, in pixels, for a picture of any size.
///
/// Everything is measured in `unit`s, an 18th of the shorter side, so that a scaled picture has the same layout and the
/// blocks (one unit square each) stay as large as they can be: 20 pixels at 360x640.
struct PatternLayout {
  struct Rectangle: Equatable {
    var x: Int
    var y: Int
    var width: Int
    var height: Int
  }

  let size: PixelSize
  let unit: Double

  init(size: PixelSize) {
    self.size = size
    unit = Double(max(min(size.width, size.height), 18)) / 18
  }

  /// Left edge of the column of text and blocks, which is 16 units wide and stands in the middle.
  private var left: Double { (Double(size.width) - 16 * unit) / 2 }

  func rectangle(x: Double, y: Double, width: Double, height: Double) -> Rectangle {
    let left = Int((self.left + x * unit).rounded())
    let top = Int((y * unit).rounded())
    let right = Int((self.left + (x + width) * unit).rounded())
    let bottom = Int(((y + height) * unit).rounded())
    return Rectangle(x: left, y: top, width: right - left, height: bottom - top)
  }

  func block(column: Int, row: Int) -> Rectangle {
    rectangle(x: Double(column), y: 1 + Double(row), width: 1, height: 1)
  }

  /// The frame number's eight digits; each has a cell of 2 by 3 units, of which the glyph takes 5/6 of the width.
  func numberDigit(_ index: Int) -> Rectangle { rectangle(x: Double(index) * 2, y: 7.5, width: 1.7, height: 2.6) }

  /// The clock and the checksum: 16 cells of one unit.
  func smallDigit(_ index: Int) -> Rectangle { rectangle(x: Double(index), y: 10.6, width: 0.8, height: 1.3) }

  /// Lit during the first tenth of each second.
  var flash: Rectangle { rectangle(x: 0, y: 12.4, width: 4, height: 4) }

  /// The band in which the moving square runs, to the right of the flash.
  var track: Rectangle { rectangle(x: 4.5, y: 12.4, width: 11.5, height: 4) }
}
