import PortableMedia
import Testing
import Units

@testable import MediaEngine

@Suite struct PictureTests {
  private let planar = kCVPixelFormatType_420YpCbCr8Planar
  private let biPlanar = kCVPixelFormatType_420YpCbCr8BiPlanarVideoRange
  private let bgra = kCVPixelFormatType_32BGRA

  @Test("a picture survives every way between formats", arguments: [(64, 48), (65, 49), (2, 2), (1, 1)])
  func roundTrips(_ width: Int, _ height: Int) throws {
    let converter = PictureConverter()
    let original = try grey(width, height, luma: 100)
    for path in [
      [biPlanar], [bgra], [biPlanar, bgra], [bgra, biPlanar], [kCVPixelFormatType_420YpCbCr8PlanarFullRange],
    ] {
      var picture = original
      for format in path { picture = try converter.convert(picture, to: format) }
      picture = try converter.convert(picture, to: planar)
      #expect(picture.pixelFormat == planar)
      for (x, y) in [(0, 0), (width - 1, height - 1)] { #expect(abs(sample(picture, plane: 0, x: x, y: y) - 100) <= 2) }
      #expect(abs(sample(picture, plane: 1, x: (width - 1) / 2, y: (height - 1) / 2) - 128) <= 2)
    }
  }

  @Test("a picture of the wanted format is handed on as it is")
  func identity() throws {
    let picture = try grey(16, 16, luma: 50)
    #expect(try PictureConverter().convert(picture, to: planar) === picture)
    #expect(try PictureScaler(size: PixelSize(width: 16, height: 16)).fit(picture) === picture)
    #expect(try PictureConverter().rotate(picture, by: .none) === picture)
  }

  @Test("red is red in B, G, R, A and R, G, B, A, by either matrix")
  func colours() throws {
    // Red in limited range: BT.601 81, 90, 240; BT.709 63, 102, 240.
    for (luma, cb, matrix) in [
      (81, 90, kCVImageBufferYCbCrMatrix_ITU_R_601_4), (63, 102, kCVImageBufferYCbCrMatrix_ITU_R_709_2),
    ] {
      let picture = try filled(8, 8, luma: luma, cb: cb, cr: 240)
      CVBufferSetAttachment(picture, kCVImageBufferYCbCrMatrixKey, matrix, .shouldPropagate)
      let converted = try PictureConverter().convert(picture, to: bgra)
      #expect(sample(converted, plane: 0, x: 0, y: 0) <= 3)
      #expect(sample(converted, plane: 0, x: 1, y: 0) <= 3)
      #expect(sample(converted, plane: 0, x: 2, y: 0) >= 252)
      let rgba = try PictureConverter().rgba(picture)
      #expect(rgba.count == 8 * 8 * 4)
      #expect(rgba[0] >= 252 && rgba[1] <= 3 && rgba[2] <= 3 && rgba[3] == 255)
    }
  }

  @Test("BT.709 becomes BT.601 where pictures are made for an encoder, and BT.601 stays as it is")
  func matrices() throws {
    let red = try filled(16, 16, luma: 63, cb: 102, cr: 240)
    #expect(try PictureConverter().convertedTo601(red) === red)
    CVBufferSetAttachment(red, kCVImageBufferYCbCrMatrixKey, kCVImageBufferYCbCrMatrix_ITU_R_709_2, .shouldPropagate)
    for picture in [
      try PictureConverter().convertedTo601(red), try PictureScaler(size: PixelSize(width: 16, height: 16)).fit(red),
      try PictureScaler(size: PixelSize(width: 8, height: 8)).fit(red),
    ] {
      #expect(!picture.is709)
      #expect(picture.pixelFormat == planar)
      for (plane, value) in [81, 90, 240].enumerated() {
        #expect(abs(sample(picture, plane: plane, x: 2, y: 2) - value) <= 2)
      }
    }
  }

  @Test("black and white keep their meaning between ranges")
  func ranges() throws {
    let converter = PictureConverter()
    let full = kCVPixelFormatType_420YpCbCr8PlanarFullRange
    for (limited, wide) in [(16, 0), (235, 255)] {
      let picture = try converter.convert(try grey(16, 16, luma: limited), to: full)
      #expect(abs(luma(picture) - wide) <= 1)
      #expect(abs(luma(try converter.convert(picture, to: planar)) - limited) <= 1)
    }
  }

  @Test(
    "a turn moves the corners, clockwise",
    arguments: [(QuarterTurns.quarter, Corner.upperRight), (.half, .lowerRight), (.threeQuarters, .lowerLeft)])
  func rotation(_ turns: QuarterTurns, _ corner: Corner) throws {
    for (width, height) in [(64, 48), (65, 49)] {
      let picture = try cornered(width, height)
      let turned = try PictureConverter().rotate(picture, by: turns)
      #expect(turned.pixelWidth == (turns.swapsSides ? height : width))
      #expect(turned.pixelHeight == (turns.swapsSides ? width : height))
      #expect(Corner.allCases.filter { $0.isWhite(in: turned) } == [corner])
    }
  }

  @Test("angles become the nearest quarter turn")
  func angles() {
    let expected: [(Double, QuarterTurns)] = [
      (0, .none), (89, .quarter), (90, .quarter), (-90, .threeQuarters), (180, .half), (-180, .half),
      (270, .threeQuarters),
      (360, .none), (-450, .threeQuarters), (44, .none), (.nan, .none), (.infinity, .none),
    ]
    for (angle, turns) in expected { #expect(QuarterTurns(nearestTo: angle) == turns, "\(angle)") }
  }

  @Test("a picture is fitted whole, in the middle, on even positions, and never stretched")
  func fitting() {
    let sizes = [(160, 120), (120, 160), (161, 121), (1280, 720), (176, 144), (640, 272), (1, 1), (3, 4000), (4000, 3)]
    let targets = [(504, 896), (360, 640), (720, 1280), (896, 504)]
    for (width, height) in sizes {
      for (targetWidth, targetHeight) in targets {
        let area = PictureScaler.area(
          of: PixelSize(width: width, height: height), in: PixelSize(width: targetWidth, height: targetHeight))
        #expect([area.x, area.y, area.width, area.height].allSatisfy { $0 % 2 == 0 })
        #expect(area.width >= 2 && area.height >= 2)
        #expect(area.x + area.width <= targetWidth && area.y + area.height <= targetHeight)
        #expect(area.width == targetWidth || area.height == targetHeight)
        #expect(abs(targetWidth - area.width - 2 * area.x) <= 2)
        #expect(abs(targetHeight - area.height - 2 * area.y) <= 2)
        let scale = min(Double(targetWidth) / Double(width), Double(targetHeight) / Double(height))
        #expect(abs(Double(area.width) - Double(width) * scale) <= 2)
        #expect(abs(Double(area.height) - Double(height) * scale) <= 2)
      }
    }
  }

  @Test("bars are black, the picture is where it belongs, also when memory is used again")
  func bars() throws {
    let scaler = PictureScaler(size: PixelSize(width: 100, height: 200))
    for _ in 0..<3 {
      let wide = try scaler.fit(try filled(160, 120, luma: 200, cb: 90, cr: 160))
      #expect(wide.pixelWidth == 100 && wide.pixelHeight == 200)
      #expect(sample(wide, plane: 0, x: 50, y: 100) == 200)
      for y in [0, 60, 140, 199] { #expect(sample(wide, plane: 0, x: 50, y: y) == 16) }
      for y in [0, 30, 99] { #expect(sample(wide, plane: 1, x: 20, y: y) == 128) }
      let tall = try scaler.fit(try filled(30, 200, luma: 180, cb: 90, cr: 160))
      #expect(sample(tall, plane: 0, x: 50, y: 0) == 180)
      for x in [0, 33, 64, 99] { #expect(sample(tall, plane: 0, x: x, y: 100) == 16) }
    }
  }

  @Test("pictures of every format are fitted")
  func formats() throws {
    let scaler = PictureScaler(size: PixelSize(width: 32, height: 32))
    let converter = PictureConverter()
    for format in [planar, biPlanar, bgra, kCVPixelFormatType_420YpCbCr8BiPlanarFullRange] {
      let source = try converter.convert(try grey(64, 64, luma: 120), to: format)
      let picture = try scaler.fit(source)
      #expect(picture.pixelFormat == planar)
      #expect(abs(luma(picture) - 120) <= 2)
    }
  }

  private func grey(_ width: Int, _ height: Int, luma: Int) throws -> CVPixelBuffer {
    try filled(width, height, luma: luma, cb: 128, cr: 128)
  }

  private func cornered(_ width: Int, _ height: Int) throws -> CVPixelBuffer {
    let picture = try grey(width, height, luma: 16)
    let plane = try #require(picture.plane(0))
    for y in 0..<height / 2 {
      for x in 0..<width / 2 { plane.base.storeBytes(of: 235, toByteOffset: y * plane.bytesPerRow + x, as: UInt8.self) }
    }
    return picture
  }
}

/// A 'y420' picture of one colour.
func filled(_ width: Int, _ height: Int, luma: Int, cb: Int, cr: Int) throws -> CVPixelBuffer {
  let picture = try #require(
    CVPixelBuffer(width: width, height: height, pixelFormat: kCVPixelFormatType_420YpCbCr8Planar))
  for (index, value) in [luma, cb, cr].enumerated() {
    let plane = try #require(picture.plane(index))
    plane.base.initializeMemory(as: UInt8.self, repeating: UInt8(value), count: plane.bytesPerRow * plane.height)
  }
  return picture
}
