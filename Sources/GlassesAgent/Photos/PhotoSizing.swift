import LinkProtocol
import Units

extension PhotoSize {
  /// The shorter side in pixels; nil for as large as there is.
  var shorterSide: Int? {
    switch self {
    case .source, .full: nil
    case .small480: 480
    case .medium720: 720
    case .large1080: 1080
    }
  }

  /// The size of a photo of this setting from a picture of that size: its shape, even sides, never enlarged.
  func fitted(to source: PixelSize) -> PixelSize {
    let shorter = min(source.width, source.height)
    guard let side = shorterSide, shorter > side else { return source }
    func scaled(_ length: Int) -> Int {
      max(2, (length.multipliedSaturating(by: side).addingSaturating(shorter / 2) / shorter + 1) & ~1)
    }
    return PixelSize(width: scaled(source.width), height: scaled(source.height))
  }
}
