import Foundation
import LinkProtocol
import MediaEngine

/// A picture file as it lies on disk.
struct StillFile {
  /// Larger files are refused before they are read: the link takes no larger photo.
  static let largestSize = LinkLimits().photoUnit

  let path: String
  let format: StillFormat
  let bytes: [UInt8]

  init(path: String) throws(PhotoFailure) {
    self.path = path
    bytes = try Self.read(path)
    guard let format = StillDecoder.format(of: bytes) else {
      throw PhotoFailure("\(path): neither JPEG, HEIC nor PNG")
    }
    self.format = format
  }

  private static func read(_ path: String) throws(PhotoFailure) -> [UInt8] {
    do {
      let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
      guard size <= largestSize else {
        throw PhotoFailure("\(path): \(size) bytes are too many for a photo (\(largestSize) at most)")
      }
      return [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    } catch let failure as PhotoFailure {
      throw failure
    } catch {
      throw PhotoFailure("\(path): can't be read (\(error.localizedDescription))")
    }
  }

  func decoded() throws(PhotoFailure) -> StillImage {
    do throws(MediaError) {
      return try StillDecoder.decode(bytes)
    } catch {
      throw PhotoFailure(error.about(path: path).description)
    }
  }
}

/// Why there is no photo, in words.
struct PhotoFailure: Error, Hashable {
  let text: String
  init(_ text: String) { self.text = text }
}
