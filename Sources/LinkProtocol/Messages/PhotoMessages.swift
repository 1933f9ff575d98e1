import Units

package enum PhotoFormat: UInt8, Hashable, Sendable, CaseIterable { case jpeg = 1, heic }

/// The size a photo is asked for, by its shorter side; `source` is what the sensor gives.
package enum PhotoSize: UInt8, Hashable, Sendable, CaseIterable {
  case source = 1, small480, medium720, large1080, full
}

package enum PhotoCompression: UInt8, Hashable, Sendable, CaseIterable { case low = 1, medium, high }

/// App to glasses: take a photo. Answered by exactly one `photoResult`.
package struct PhotoRequest: Hashable, Sendable {
  package var photo: PhotoID
  package var session: SessionID
  package var format: PhotoFormat
  package var size: PhotoSize
  package var quality: PhotoCompression
  package init(
    photo: PhotoID, session: SessionID, format: PhotoFormat, size: PhotoSize = .source,
    quality: PhotoCompression = .high
  ) {
    self.photo = photo
    self.session = session
    self.format = format
    self.size = size
    self.quality = quality
  }
}

/// Glasses to app: the photo was taken and its bytes follow on the photo channel, or it failed.
package struct PhotoResult: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    case taken(PhotoFacts)
    case failed(LinkErrorCode)
  }
  package var photo: PhotoID
  package var outcome: Outcome
  package var text: String
  package init(photo: PhotoID, outcome: Outcome, text: String = "") {
    self.photo = photo
    self.outcome = outcome
    self.text = text
  }
}

/// What is known of a photo before its bytes are.
package struct PhotoFacts: Hashable, Sendable {
  package var format: PhotoFormat
  package var size: PixelSize
  /// As in Exif, 1 to 8 (CIPA DC-008, tag 0x0112).
  package var orientation: UInt8
  package var captured: DeviceTime
  package var byteCount: UInt32
  /// SHA-256 of the bytes (FIPS 180-4), 32 bytes.
  package var digest: [UInt8]
  package init(
    format: PhotoFormat, size: PixelSize, orientation: UInt8, captured: DeviceTime, byteCount: UInt32,
    digest: [UInt8]
  ) {
    self.format = format
    self.size = size
    self.orientation = orientation
    self.captured = captured
    self.byteCount = byteCount
    self.digest = digest
  }
}
