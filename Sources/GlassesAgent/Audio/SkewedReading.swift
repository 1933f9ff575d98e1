import MediaEngine

extension AudioSource {
  /// Appends `frames` frames that lie `step` frames of the source apart, from a place between two of its own on: cubic
  /// interpolation through the four nearest (Catmull-Rom). For clocks that are out of step; where positions are whole
  /// and the step is 1, `read` gives the source's own samples.
  func read(
    from position: Double, step: Double, frames: Int, channels: Int, into samples: inout [Float]
  ) throws(MediaError) {
    guard frames > 0 else { return }
    let first = Int(position.rounded(.down)) - 1
    let last = Int((position + step * Double(frames - 1)).rounded(.down)) + 2
    var own: [Float] = []
    own.reserveCapacity((last - first + 1) * channels)
    try read(from: first, frames: last - first + 1, into: &own)
    let begin = position - Double(first)
    samples.reserveCapacity(samples.count + frames * channels)
    own.withUnsafeBufferPointer { own in
      guard let own = own.baseAddress else { return }
      for frame in 0..<frames {
        let place = begin + step * Double(frame)
        let whole = Int(place)
        let t = Float(place - Double(whole))
        let base = (whole - 1) * channels
        for channel in 0..<channels {
          let (a, b) = (own[base + channel], own[base + channels + channel])
          let (c, d) = (own[base + 2 * channels + channel], own[base + 3 * channels + channel])
          samples.append(b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))))
        }
      }
    }
  }
}
