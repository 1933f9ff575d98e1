import PortableMedia

/// A decoded still image.
package struct StillImage: Sendable {
  /// 'BGRA'. Pixels as they are stored, not turned.
  package var picture: CVPixelBuffer
  /// How the stored pixels have to be turned to stand upright.
  package var orientation: StillOrientation
  package var format: StillFormat
}

/// How an image file is coded.
package enum StillFormat: String, Hashable, Sendable, CaseIterable {
  case jpeg, png, heic
}

/// Where the stored rows and columns of an image belong: the values of Exif 2.3's Orientation tag (274).
package enum StillOrientation: UInt16, Hashable, Sendable, CaseIterable {
  case up = 1, upMirrored, down, downMirrored, leftMirrored, right, rightMirrored, left
}
