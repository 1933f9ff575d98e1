import Foundation
import GlassesAgent
import MWDATCamera
import MWDATMockDevice
import MediaEngine
import Units

/// What the simulated microphone hears. Any thread; each call returns at once.
///
/// Without a call it hears what the camera sees: a film's own sound, in step with its pictures, or the test pattern's beep
/// with each flash over a quiet tone. A stream that runs takes each change up within 20 ms and goes on.
public struct MockMicrophoneKit: Sendable {
  /// Nil for glasses that this kit did not make: nothing is heard of them.
  let microphone: GlassesMicrophone?

  /// The sound of what the camera sees, in step with its pictures; silence for a film without sound.
  public func useCameraFeed() { microphone?.setSource(.feed) }

  /// The sound of a file from now on, over and over: WAV, FLAC, Ogg, or any other that has sound, at any rate. A stream
  /// that begins, or goes on after a pause, has it from the file's beginning, which is heard with the first picture.
  ///
  /// A file whose sound can't be played ends a stream with sound by `StreamError.audioStreamingError`.
  public func setAudioFeed(fileURL: URL) { microphone?.setSource(.file(path: fileURL.feedPath)) }

  /// As ``setAudioFeed(fileURL:)``, but opens the file first and decodes its beginning. One that can't be played is told
  /// here, in words, and the microphone goes on hearing what it heard.
  ///
  /// Returns within a second for a local file. Not affected by cancellation.
  ///
  /// - Throws: `AudioFeedError.notPlayable`, with what is wrong with the file.
  public func setAudioFeed(validating fileURL: URL) async throws(AudioFeedError) {
    let path = fileURL.feedPath
    let problem = await FileCheck.problem {
      _ = try AudioFileReader(path: path, format: PCMFormat(sampleRate: 48_000, channels: 2))
    }
    if let problem { throw .notPlayable(path: path, reason: problem) }
    setAudioFeed(fileURL: fileURL)
  }

  /// A sine from now on, on all channels.
  ///
  /// - Parameters:
  ///   - frequency: in hertz; one that the stream's rate can't carry is silent.
  ///   - level: of its peaks, in decibels of full scale: 0 for full scale, -20 for a tenth of it.
  public func setTone(frequency: Double, level: Double = -20) {
    microphone?.setSource(.tone(frequency: frequency, level: level))
  }

  /// Silence from now on; the stream's sound goes on.
  public func setSilence() { microphone?.setSource(.silence) }

  /// These samples are heard at that time, in place of whatever else there is then; of several buffers for the same time,
  /// those of the last call.
  ///
  /// Bit for bit where the buffer has the rate and channels that the stream was asked for (and no app, link or clock
  /// forces a resampling or Opus on it), else resampled. The first sample is heard at the stream's sample whose time is
  /// nearest. Samples for a time at which no stream has sound are heard by nobody. The buffer's samples are copied.
  ///
  /// - Parameters:
  ///   - buffer: 1 or 2 channels in any of the common formats.
  ///   - time: on the clock of presentation time stamps: seconds of this host's monotonic clock. Not before now.
  /// - Throws: `AudioFeedError.tooLate`, `.tooMuchPending` when more than a minute of sound, or 6000 buffers, would wait,
  ///   `.notUsable`.
  public func inject(_ buffer: AVAudioPCMBuffer, at time: CMTime) throws(AudioFeedError) {
    guard let samples = buffer.interleavedSamples, time.isNumeric else { throw .notUsable }
    let format = PCMFormat(
      sampleRate: Int(Int64(saturating: buffer.format.sampleRate)), channels: Int(buffer.format.channelCount))
    let nanoseconds = CMTimeConvertScale(time, timescale: 1_000_000_000, method: .roundHalfAwayFromZero)
    guard nanoseconds.isNumeric else { throw .notUsable }
    do throws(InjectionError) {
      try microphone?.inject(
        PCMBlock(format: format, samples: samples), at: Instant(nanoseconds: nanoseconds.value))
    } catch {
      throw AudioFeedError(error)
    }
  }

  /// Gives silence in place of all that is heard, to the sample, until it is taken back. The stream and its time run on,
  /// and the app is told.
  public func setMuted(_ isMuted: Bool) { microphone?.setMuted(isMuted) }

  /// The microphone fails, once: a stream with sound ends with `StreamError.audioStreamingError`. One that is started
  /// later has sound again. Nothing happens without a stream with sound.
  public func fail() { microphone?.fail("the simulated microphone was told to fail") }

  /// How many millionths faster than their rate says samples come, by the glasses' clock. For tests of drift.
  package var clockSkew: Double {
    get { microphone?.clockSkew ?? 0 }
    nonmutating set { microphone?.clockSkew = newValue }
  }
}

extension MockGlassesServices {
  /// The microphone.
  public var microphone: MockMicrophoneKit {
    MockMicrophoneKit(microphone: (self as? SimulatedServices)?.microphone)
  }
}

extension AudioFeedError {
  init(_ error: InjectionError) {
    switch error {
    case .tooLate(let duration): self = .tooLate(by: duration)
    case .tooMuchPending: self = .tooMuchPending
    case .formatNotSupported: self = .notUsable
    }
  }
}
