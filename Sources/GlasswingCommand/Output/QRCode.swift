import CQREncode

/// A QR code (ISO/IEC 18004) for a terminal: two rows of modules a line, black on white whatever the terminal's colours.
enum QRCode {
  /// White around the code, in modules, as readers need it (ISO/IEC 18004, 5.3.8).
  private static let quietZone = 4

  /// Nil for a text that is too long for any code.
  static func lines(_ text: String) -> [String]? {
    // The least correction: a screen has no dirt, and the code stays small.
    guard let code = QRcode_encodeString(text, 0, QR_ECLEVEL_L, QR_MODE_8, 1) else { return nil }
    defer { QRcode_free(code) }
    let width = Int(code.pointee.width)
    guard let data = code.pointee.data, width > 0 else { return nil }
    func isBlack(_ x: Int, _ y: Int) -> Bool {
      guard 0..<width ~= x, 0..<width ~= y else { return false }
      return data[y * width + x] & 1 == 1
    }
    let range = -quietZone..<(width + quietZone)
    return stride(from: -quietZone, to: width + quietZone, by: 2).map { y in
      let modules = range.map { x in
        switch (isBlack(x, y), isBlack(x, y + 1)) {
        case (true, true): "█"
        case (true, false): "▀"
        case (false, true): "▄"
        case (false, false): " "
        }
      }
      // ECMA-48: black on white, and back.
      return "\u{1b}[30;107m" + modules.joined() + "\u{1b}[0m"
    }
  }
}
