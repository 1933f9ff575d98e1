import PortableMedia

/// What an input block has for a converter.
public enum AVAudioConverterInputStatus: Int, Sendable {
  /// The buffer that it returns.
  case haveData = 0
  /// Nothing at the moment.
  case noDataNow = 1
  /// Nothing ever again.
  case endOfStream = 2
}

/// How a conversion ended.
public enum AVAudioConverterOutputStatus: Int, Sendable {
  /// There is sound in the output buffer: as much as fits, or the last before the end.
  case haveData = 0
  /// The input block had no more at the moment; the output buffer has what there was, which may be nothing.
  case inputRanDry = 1
  /// The end is reached; the output buffer is empty.
  case endOfStream = 2
  /// The conversion failed.
  case error = 3
}

/// How a change of rate treats the frames around the first and the last.
public enum AVAudioConverterPrimeMethod: Int, Sendable {
  /// Here the same as ``normal``: there is no sound before a converter's first.
  case pre = 0
  /// Output begins with the first input frame, and waits for the few frames that a filter looks ahead; the end brings
  /// the rest. The length is kept.
  case normal = 1
  /// Nothing is waited for: output begins with as much silence as the filter looks ahead, and the end brings nothing.
  case none = 2
}

/// Quality of a change of rate, for ``AVAudioConverter/sampleRateConverterQuality``.
public enum AVAudioQuality: Int, Sendable {
  case min = 0
  case low = 0x20
  case medium = 0x40
  case high = 0x60
  case max = 0x7F
}

/// Gives a converter its input. Called on the thread that converts, before `convert` returns.
///
/// Its arguments are about how many frames are wanted, and where to say what there is. It returns a buffer in the
/// converter's input format, of any length, that nobody changes before the next call; or nil when it has none.
public typealias AVAudioConverterInputBlock = (
  AVAudioPacketCount, UnsafeMutablePointer<AVAudioConverterInputStatus>
) -> AVAudioBuffer?
