import Foundation
import MediaEngine
import PortableMedia

/// Turns uncompressed sound of one format into another: rate, channels, kind of samples, interleaved or not.
///
/// From one channel to two, both get the one. From two to one, the first is taken, unless ``downmix`` is set; which goes
/// where is ``channelMap``. Integers are rounded to the nearest and held within their range. Without a change of rate
/// nothing else is changed: samples that fit the output's format come out bit for bit.
///
/// For one thread at a time. Errors have the domain `NSOSStatusErrorDomain`: -50 for buffers of other formats than the
/// converter's and for what a call doesn't do, `'otsz'` for an output buffer that is too small, `'what'` if the resampler
/// fails.
public final class AVAudioConverter {
  /// The format of what goes in.
  public let inputFormat: AVAudioFormat
  /// The format of what comes out.
  public let outputFormat: AVAudioFormat
  /// Whether two channels are mixed into one, each at half level, rather than the one taken that ``channelMap`` says. An
  /// output channel that the map makes silent stays so. False at first.
  public var downmix = false
  /// From which input channel each output channel is taken, -1 for silence. A map of another length, or with a channel
  /// that there isn't, is ignored.
  public var channelMap: [NSNumber] {
    get { map.map { NSNumber(value: $0) } }
    set {
      let new = newValue.map(\.intValue)
      guard new.count == map.count, new.allSatisfy({ (-1..<Int(inputFormat.channelCount)).contains($0) }) else {
        return
      }
      map = new
    }
  }
  /// Kept and given back. There is one quality, which leaves nothing audible.
  public var sampleRateConverterQuality = AVAudioQuality.medium.rawValue
  /// How the frames around the first and the last are treated. Counts from the first conversion after it was set and
  /// ``reset()`` was called.
  public var primeMethod = AVAudioConverterPrimeMethod.normal

  private var map: [Int]
  /// Nil if the rates are the same.
  private let resampler: Resampler?
  private var queue = ConvertedSamples()

  /// Nil for formats that aren't one of the common ones, and for rates that are no whole numbers or that no filter
  /// takes, unless they are the same.
  public init?(from fromFormat: AVAudioFormat, to toFormat: AVAudioFormat) {
    guard fromFormat.commonFormat != .otherFormat, toFormat.commonFormat != .otherFormat else { return nil }
    if fromFormat.sampleRate == toFormat.sampleRate {
      resampler = nil
    } else {
      let channels = Int(toFormat.channelCount)
      guard let from = Int(exactly: fromFormat.sampleRate), let to = Int(exactly: toFormat.sampleRate),
        let resampler = try? Resampler(
          from: PCMFormat(sampleRate: from, channels: channels), to: PCMFormat(sampleRate: to, channels: channels))
      else { return nil }
      self.resampler = resampler
    }
    inputFormat = fromFormat
    outputFormat = toFormat
    map = (0..<Int(toFormat.channelCount)).map { min($0, Int(fromFormat.channelCount) - 1) }
  }

  /// Forgets everything on its way, so that the next input is the first; also after the end of a stream.
  public func reset() {
    queue = ConvertedSamples()
    // A resampler that fails now will fail at the next conversion, which says so.
    _ = try? resampler?.flush()
  }

  /// Converts a whole buffer between formats of the same rate.
  ///
  /// - Throws: for different rates, buffers of other formats, and an output buffer with less capacity than the input
  ///   has frames. The output buffer is then empty.
  public func convert(to outputBuffer: AVAudioPCMBuffer, from inputBuffer: AVAudioPCMBuffer) throws {
    outputBuffer.frameLength = 0
    guard resampler == nil, inputBuffer.format == inputFormat, outputBuffer.format == outputFormat,
      let samples = mapped(inputBuffer)
    else { throw Self.error(Self.parameterError) }
    guard outputBuffer.frameCapacity >= inputBuffer.frameLength else { throw Self.error(Self.invalidOutputSize) }
    outputBuffer.frameLength = AVAudioFrameCount(outputBuffer.write(interleaved: samples[...], at: 0))
  }

  /// Fills a buffer, asking for input until it is full, the input has nothing now, or has ended.
  ///
  /// Input beyond what the output holds, and what the filter looks ahead, stays for the next call. After the end of the
  /// stream every call says so until ``reset()``.
  ///
  /// - Parameter outError: gets the error if the result is ``AVAudioConverterOutputStatus/error``, else nil.
  public func convert(
    to outputBuffer: AVAudioBuffer, error outError: UnsafeMutablePointer<NSError?>?,
    withInputFrom inputBlock: AVAudioConverterInputBlock
  ) -> AVAudioConverterOutputStatus {
    outError?.pointee = nil
    do throws(NSError) {
      guard let output = outputBuffer as? AVAudioPCMBuffer, output.format == outputFormat else {
        throw Self.error(Self.parameterError)
      }
      return try fill(output, inputBlock)
    } catch {
      outError?.pointee = error
      return .error
    }
  }

  private func fill(
    _ output: AVAudioPCMBuffer, _ inputBlock: AVAudioConverterInputBlock
  ) throws(NSError) -> AVAudioConverterOutputStatus {
    output.frameLength = 0
    while true {
      output.frameLength += queue.move(to: output, at: output.frameLength)
      let missing = output.frameCapacity - output.frameLength
      if missing == 0 { return .haveData }
      if queue.hasEnded { return output.frameLength > 0 ? .haveData : .endOfStream }
      var status = AVAudioConverterInputStatus.haveData
      let buffer = inputBlock(wanted(for: missing), &status)
      switch status {
      case .haveData:
        // A block that says so and has nothing would be asked for ever.
        guard let buffer = buffer as? AVAudioPCMBuffer, buffer.frameLength > 0 else { return .inputRanDry }
        try take(buffer)
      case .noDataNow: return .inputRanDry
      case .endOfStream: try takeEnd()
      }
    }
  }

  /// About as much input as makes so many frames.
  private func wanted(for frames: AVAudioFrameCount) -> AVAudioPacketCount {
    AVAudioPacketCount(
      exactly: (Double(frames) * inputFormat.sampleRate / outputFormat.sampleRate).rounded(.up)) ?? .max
  }

  private func take(_ buffer: AVAudioPCMBuffer) throws(NSError) {
    guard buffer.format == inputFormat, let samples = mapped(buffer) else { throw Self.error(Self.parameterError) }
    guard let resampler else { return queue.append(samples) }
    let converted = try resample { () throws(MediaError) in try resampler.convert(samples.map { Float($0) }) }
    let channels = Int(outputFormat.channelCount)
    let silence =
      primeMethod == .none
      ? queue.silenceBefore(
        converted.count / channels, after: samples.count / channels,
        ratio: outputFormat.sampleRate / inputFormat.sampleRate) : 0
    if silence > 0 { queue.append([Double](repeating: 0, count: silence * channels)) }
    queue.append(converted.map { Double($0) })
  }

  private func takeEnd() throws(NSError) {
    queue.hasEnded = true
    guard let resampler else { return }
    let rest = try resample { () throws(MediaError) in try resampler.flush() }
    if primeMethod != .none { queue.append(rest.map { Double($0) }) }
  }

  private func resample(_ work: () throws(MediaError) -> [Float]) throws(NSError) -> [Float] {
    do {
      return try work()
    } catch {
      throw Self.error(Self.unspecifiedError)
    }
  }

  /// A buffer's samples in the output's channels.
  private func mapped(_ buffer: AVAudioPCMBuffer) -> [Double]? {
    guard let samples = buffer.interleavedDoubles else { return nil }
    let from = Int(inputFormat.channelCount)
    if from == map.count, map == Array(0..<from) { return samples }
    let mixes = downmix && map.count == 1 && from == 2
    let frames = samples.count / from
    return [Double](unsafeUninitializedCapacity: frames * map.count) { mapped, count in
      for first in Swift.stride(from: 0, to: frames * from, by: from) {
        for source in map {
          let sample = mixes ? (samples[first] + samples[first + 1]) / 2 : samples[first + max(0, source)]
          mapped.initializeElement(at: count, to: source < 0 ? 0 : sample)
          count += 1
        }
      }
    }
  }

  // MARK: Errors

  /// `kAudio_ParamError`.
  private static let parameterError = -50
  /// `kAudioConverterErr_InvalidOutputSize`, `'otsz'`.
  private static let invalidOutputSize = 0x6F74_737A
  /// `kAudioConverterErr_UnspecifiedError`, `'what'`.
  private static let unspecifiedError = 0x7768_6174

  private static func error(_ code: Int) -> NSError { NSError(domain: "NSOSStatusErrorDomain", code: code) }
}
