import MediaEngine
import PortableMedia

// Stand-ins until the media engine has these; gone with its next step.
enum StillDecoder {
  static func decode(_ bytes: [UInt8]) throws(MediaError) -> CVPixelBuffer {
    throw MediaError(.libraryFailure, while: .decoding)
  }
}
enum JPEGEncoder {
  static func encode(_ picture: CVPixelBuffer, quality: Double) throws(MediaError) -> [UInt8] {
    throw MediaError(.libraryFailure, while: .encoding)
  }
}
enum PNGEncoder {
  static func encode(_ picture: CVPixelBuffer) throws(MediaError) -> [UInt8] {
    throw MediaError(.libraryFailure, while: .encoding)
  }
}
