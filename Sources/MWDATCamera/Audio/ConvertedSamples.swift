import PortableMedia

/// What a converter has made and not given out: at most what came of one input buffer, since no other is asked for
/// before it is gone.
struct ConvertedSamples {
  /// The input has ended.
  var hasEnded = false
  /// Interleaved; those before `taken` are given out.
  private var samples: [Double] = []
  private var taken = 0
  /// Frames of input, and of output made from them, while a filter has made none yet.
  private var framesIn = 0
  private var hasBegun = false

  mutating func append(_ new: [Double]) {
    if taken == samples.count {
      samples = new
      taken = 0
    } else {
      samples += new
    }
  }

  /// Gives out as much as the buffer takes from a frame on, and says how many frames that was.
  mutating func move(to buffer: AVAudioPCMBuffer, at frame: AVAudioFrameCount) -> AVAudioFrameCount {
    guard taken < samples.count else { return 0 }
    let frames = buffer.write(interleaved: samples[taken...], at: Int(frame))
    taken += frames * Int(buffer.format.channelCount)
    return AVAudioFrameCount(frames)
  }

  /// The frames of silence that stand for what a filter still holds back, so that from the first frame on as much comes
  /// out as went in. Once the filter has begun there are none: it holds back the same from then on.
  mutating func silenceBefore(_ made: Int, after input: Int, ratio: Double) -> Int {
    guard !hasBegun else { return 0 }
    let before = Int((Double(framesIn) * ratio).rounded(.down))
    framesIn += input
    hasBegun = made > 0
    return max(0, Int((Double(framesIn) * ratio).rounded(.down)) - before - made)
  }
}
