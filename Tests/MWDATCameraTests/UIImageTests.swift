import Foundation
import MWDATCamera
import MWDATCore
import PortableMedia
import TestSupport
import Testing

@Suite("Images")
struct UIImageTests {
  /// Four quadrants of one colour each, as they lie in the stored pixels.
  private enum Quadrant: CaseIterable {
    case topLeft, topRight, bottomLeft, bottomRight

    /// B, G, R, A.
    var colour: [UInt8] {
      switch self {
      case .topLeft: [0, 0, 255, 255]
      case .topRight: [0, 255, 0, 255]
      case .bottomLeft: [255, 0, 0, 255]
      case .bottomRight: [255, 255, 255, 255]
      }
    }
  }

  private static let width = 64
  private static let height = 32

  private func quadrants() throws -> UIImage {
    let picture = try #require(
      CVPixelBuffer(width: Self.width, height: Self.height, pixelFormat: kCVPixelFormatType_32BGRA))
    let plane = try #require(picture.plane(0))
    for y in 0..<Self.height {
      for x in 0..<Self.width {
        let quadrant: Quadrant =
          switch (y < Self.height / 2, x < Self.width / 2) {
          case (true, true): .topLeft
          case (true, false): .topRight
          case (false, true): .bottomLeft
          case (false, false): .bottomRight
          }
        for (index, value) in quadrant.colour.enumerated() {
          plane.base.storeBytes(of: value, toByteOffset: y * plane.bytesPerRow + 4 * x + index, as: UInt8.self)
        }
      }
    }
    return UIImage(pixelBuffer: picture)
  }

  /// The colour that the pixel at a place is nearest to.
  private func quadrant(of image: UIImage, right: Bool, bottom: Bool) throws -> Quadrant? {
    let png = try #require(image.pngData())
    let stored = try #require(UIImage(data: png))
    let plane = try #require(stored.pixelBuffer.plane(0))
    let x = right ? plane.width - 8 : 7
    let y = bottom ? plane.height - 8 : 7
    let pixel = (0..<3).map { Int(plane.base.load(fromByteOffset: y * plane.bytesPerRow + 4 * x + $0, as: UInt8.self)) }
    return Quadrant.allCases.min { a, b in distance(a, pixel) < distance(b, pixel) }
  }

  private func distance(_ quadrant: Quadrant, _ pixel: [Int]) -> Int {
    zip(quadrant.colour, pixel).reduce(0) { $0 + abs(Int($1.0) - $1.1) }
  }

  @Test("PNG and JPEG data give the image back", arguments: [true, false])
  func roundTrip(png: Bool) throws {
    let image = try quadrants()
    let data = try #require(png ? image.pngData() : image.jpegData(compressionQuality: 0.9))
    let read = try #require(UIImage(data: data))
    #expect(read.size == CGSize(width: Self.width, height: Self.height))
    #expect(read.scale == 1)
    #expect(read.imageOrientation == .up)
    #expect(try quadrant(of: read, right: false, bottom: false) == .topLeft)
    #expect(try quadrant(of: read, right: true, bottom: false) == .topRight)
    #expect(try quadrant(of: read, right: false, bottom: true) == .bottomLeft)
    #expect(try quadrant(of: read, right: true, bottom: true) == .bottomRight)
  }

  @Test("The higher the quality, the more bytes; any number is taken")
  func quality() throws {
    let image = try quadrants()
    let sizes = try [0, 0.5, 1].map { try #require(image.jpegData(compressionQuality: $0)).count }
    #expect(sizes == sizes.sorted())
    #expect(sizes[0] < sizes[2])
    for odd in [-1, 7, .nan, .infinity, -.infinity] as [CGFloat] {
      #expect(image.jpegData(compressionQuality: odd) != nil)
    }
  }

  /// Exif's table (CIPA DC-008, tag 0x0112): on which side of the upright image the stored first row and column lie.
  static let orientations: [(tag: UInt8, orientation: UIImage.Orientation, firstRow: String, firstColumn: String)] = [
    (1, .up, "top", "left"), (2, .upMirrored, "top", "right"), (3, .down, "bottom", "right"),
    (4, .downMirrored, "bottom", "left"), (5, .leftMirrored, "left", "top"), (6, .right, "right", "top"),
    (7, .rightMirrored, "right", "bottom"), (8, .left, "left", "bottom"),
  ]

  @Test("An image stands upright whatever orientation its file says", arguments: orientations)
  func orientation(tag: UInt8, orientation: UIImage.Orientation, firstRow: String, firstColumn: String) throws {
    let quadrants = try quadrants()
    let jpeg = try #require(quadrants.jpegData(compressionQuality: 1))
    let image = try #require(UIImage(data: withOrientation(jpeg, tag)))
    #expect(image.imageOrientation == orientation)
    let isTurned = firstRow == "left" || firstRow == "right"
    #expect(image.size.width == CGFloat(isTurned ? Self.height : Self.width))
    let sides = [firstRow, firstColumn]
    // Where first row and first column meet, and the other end of the first row.
    let right = sides.contains("right")
    let bottom = sides.contains("bottom")
    #expect(try quadrant(of: image, right: right, bottom: bottom) == .topLeft)
    #expect(
      try quadrant(of: image, right: isTurned ? right : !right, bottom: isTurned ? !bottom : bottom) == .topRight)
  }

  @Test("Data that is no image, or half of one, is none")
  func noImage() throws {
    #expect(UIImage(data: Data()) == nil)
    #expect(UIImage(data: Data("not an image".utf8)) == nil)
    let quadrants = try quadrants()
    let png = try #require(quadrants.pngData())
    #expect(UIImage(data: png.prefix(png.count / 2)) == nil)
  }

  @Test("A raw frame becomes an image of its size and colours")
  func ofFrame() throws {
    let rig = try CameraRig()
    let frames = Observed<VideoFrame>()
    let token = rig.stream.videoFramePublisher.listen { frames.record($0) }
    rig.stream.start()
    rig.settle()
    rig.run(pictures: 8)
    let image = try #require(frames.values[7].makeUIImage())
    #expect(image.size == CGSize(width: 64, height: 96))
    let png = try #require(image.pngData())
    let read = try #require(UIImage(data: png))
    let grey = try #require(read.pixelBuffer.plane(0)).base.load(as: UInt8.self)
    // Luma 180 of video range, 16 to 235, is 191 of 255.
    #expect(abs(Int(grey) - 191) <= 1)
    let jpeg = try #require(image.jpegData(compressionQuality: 0.8))
    #expect(UIImage(data: jpeg)?.size == image.size)
    withExtendedLifetime(token) {}
  }

  private func withOrientation(_ jpeg: Data, _ orientation: UInt8) -> Data {
    // Big-endian TIFF with one entry: Orientation, SHORT, one value.
    let tiff: [UInt8] = [
      0x4D, 0x4D, 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation, 0, 0, 0, 0, 0, 0,
    ]
    let exif = Array("Exif".utf8) + [0, 0] + tiff
    let segment: [UInt8] = [0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif
    return jpeg.prefix(2) + Data(segment) + jpeg.dropFirst(2)
  }
}
