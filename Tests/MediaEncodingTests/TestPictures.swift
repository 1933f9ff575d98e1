import PortableMedia
import Units

/// Pictures like a camera's, from a seed: a rough texture that pans, so that each costs bits and resembles the last.
struct TestPictures {
  let size: PixelSize
  /// One scene under different grains, which no motion predicts.
  private let textures: [[UInt8]]
  private let textureWidth: Int
  private let textureHeight: Int

  init(size: PixelSize, seed: UInt64 = 1) {
    self.size = size
    textureWidth = size.width + 256
    textureHeight = size.height + 256
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func random() -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state >> 33 & 0xFF)
    }
    // Two octaves of blocks: edges for the intra prediction, grain for the residual.
    let coarseWidth = textureWidth / 16 + 1
    let coarse = (0..<coarseWidth * (textureHeight / 16 + 1)).map { _ in random() }
    let width = textureWidth
    let height = textureHeight
    textures = (0..<4).map { _ in
      [UInt8](unsafeUninitializedCapacity: width * height) { texture, count in
        for row in 0..<height {
          for column in 0..<width {
            let base = coarse[row / 16 * coarseWidth + column / 16] * 5 / 8
            texture[row * width + column] = UInt8(truncatingIfNeeded: 40 + base + (random() & 15))
          }
        }
        count = width * height
      }
    }
  }

  /// Scenes that most tests use, made once.
  static let first = TestPictures(size: PixelSize(width: 360, height: 640), seed: 1)
  static let second = TestPictures(size: PixelSize(width: 360, height: 640), seed: 99)

  /// Picture `index` of the pan.
  func picture(_ index: Int) throws -> CVPixelBuffer {
    let x = Self.swing(3 * index)
    let y = Self.swing(2 * index)
    return try Self.make(size) { plane, row, line in
      guard plane == 0 else { return line.update(repeating: 128) }
      textures[index % textures.count].withUnsafeBufferPointer { texture in
        guard let base = texture.baseAddress, let target = line.baseAddress else { return }
        target.update(from: base + (y + row) * textureWidth + x, count: line.count)
      }
    }
  }

  /// To 255 and back, so that the pan never jumps.
  private static func swing(_ distance: Int) -> Int {
    let phase = distance % 510
    return phase < 256 ? phase : 510 - phase
  }

  static func flat(_ size: PixelSize, luma: UInt8, cb: UInt8 = 128, cr: UInt8 = 128) throws -> CVPixelBuffer {
    try make(size) { plane, _, line in line.update(repeating: [luma, cb, cr][plane]) }
  }

  static func make(_ size: PixelSize, fill: (_ plane: Int, _ row: Int, UnsafeMutableBufferPointer<UInt8>) -> Void)
    throws
    -> CVPixelBuffer
  {
    struct NoBuffer: Error {}
    let format = kCVPixelFormatType_420YpCbCr8Planar
    guard let buffer = CVPixelBuffer(width: size.width, height: size.height, pixelFormat: format) else {
      throw NoBuffer()
    }
    for index in 0..<buffer.memoryPlaneCount {
      guard let plane = buffer.plane(index) else { throw NoBuffer() }
      for row in 0..<plane.height {
        let line = (plane.base + row * plane.bytesPerRow).assumingMemoryBound(to: UInt8.self)
        fill(index, row, UnsafeMutableBufferPointer(start: line, count: plane.width))
      }
    }
    return buffer
  }
}

/// NAL units of a payload, taken apart here without the library's help.
enum NALList {
  struct Malformed: Error {}

  static let vps: UInt8 = 32
  static let sps: UInt8 = 33
  static let pps: UInt8 = 34
  static let suffixSEI: UInt8 = 40
  static let idr: ClosedRange<UInt8> = 19...20

  static func units(_ payload: [UInt8]) throws -> [[UInt8]] {
    var units: [[UInt8]] = []
    var rest = payload[...]
    while !rest.isEmpty {
      guard rest.count > 4 else { throw Malformed() }
      let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
      rest = rest.dropFirst(4)
      guard length >= 2, rest.count >= length else { throw Malformed() }
      units.append(Array(rest.prefix(length)))
      rest = rest.dropFirst(length)
    }
    return units
  }

  static func types(_ payload: [UInt8]) throws -> [UInt8] { try units(payload).map { $0[0] >> 1 & 0x3F } }

  /// The same units after start codes, as tools read them from a plain file.
  static func annexB(_ payloads: [[UInt8]]) throws -> [UInt8] {
    try payloads.flatMap { try units($0).flatMap { [0, 0, 0, 1] + $0 } }
  }
}
