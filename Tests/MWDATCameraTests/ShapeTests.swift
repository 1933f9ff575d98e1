import Foundation
import MWDATCamera
import MWDATCore
import Testing

// The interface as an app sees it: what compiles here must go on compiling.

@Suite("Shape of the camera's interface")
struct ShapeTests {
  @Test("Configurations have these initialisers, in this label order, and these defaults")
  func configuration() {
    let plain = StreamConfiguration()
    #expect(plain.videoCodec == .raw)
    #expect(plain.audioCodec == nil)
    #expect(plain.resolution == .medium)
    #expect(plain.frameRate == 30 as UInt)
    let mute = StreamConfiguration(videoCodec: .hvc1, resolution: .high, frameRate: 24)
    #expect(mute.audioCodec == nil)
    let full = StreamConfiguration(
      videoCodec: .raw, audioCodec: .pcm(sampleRate: .rate44100, numberOfChannels: 2), resolution: .low, frameRate: 15)
    guard case .pcm(let rate, let channels) = full.audioCodec else {
      Issue.record("no audio codec")
      return
    }
    #expect(rate.rawValue == 44_100)
    #expect(channels == 2 as UInt32)
  }

  @Test("Enumerations have their cases in order, and their raw values")
  func enumerations() {
    #expect(StreamingResolution.allCases == [.high, .medium, .low])
    let sizes = StreamingResolution.allCases.map { [$0.videoFrameSize.width, $0.videoFrameSize.height] }
    #expect(sizes == [[720, 1280], [504, 896], [360, 640]] as [[UInt]])
    #expect(AudioSampleRate.allCases.map(\.rawValue) == [16_000, 44_100, 48_000])
    #expect(PhotoResolution.allCases.map(\.rawValue) == ["small", "medium", "large", "full"])
    #expect(PhotoQuality.allCases.map(\.rawValue) == ["low", "medium", "high"])
    for state in [StreamState.stopping, .stopped, .waitingForDevice, .starting, .streaming, .paused] {
      switch state {
      case .stopping, .stopped, .waitingForDevice, .starting, .streaming, .paused: break
      }
    }
    for state in [CameraState.starting, .started, .stopping, .stopped] {
      switch state {
      case .starting, .started, .stopping, .stopped: break
      }
    }
    for format in [PhotoCaptureFormat.heic, .jpeg] {
      switch format {
      case .heic, .jpeg: break
      }
    }
    #expect(Set([PhotoState.stopped, .starting, .started, .stopping]).count == 4)
    #expect(Set([VideoCodec.raw, .hvc1]).count == 2)
  }

  @Test("Errors print their case and say a sentence")
  func errors() {
    let errors: [StreamError] = [
      .internalError, .deviceNotFound("A"), .deviceNotConnected("A"), .timeout, .videoStreamingError,
      .audioStreamingError, .permissionDenied, .hingesClosed, .thermalHot, .batteryLow, .peakPowerLimit,
      .photoCaptureFailed,
    ]
    #expect(Set(errors.map(\.description)).count == errors.count)
    #expect("\(StreamError.timeout)" == "timeout")
    #expect(StreamError.deviceNotFound("A") == .deviceNotFound("A"))
    #expect(StreamError.deviceNotFound("A") != .deviceNotFound("B"))
    for error in errors {
      #expect(error.localizedDescription == error.description)
      #expect(!error.description.isEmpty)
    }
    let photoErrors: [PhotoError] = [
      .notReady, .captureFailure(underlying: nil), .sessionSetupFailed(underlying: StreamError.timeout), .busy,
      .serviceUnavailable, .permissionDenied, .deviceHealthCritical, .deviceDisconnected,
    ]
    #expect(Set(photoErrors.map(\.localizedDescription)).count == photoErrors.count)
  }

  @Test("Photo values are made by these initialisers")
  func photoValues() {
    let data = PhotoData(data: Data([1]), format: .heic)
    #expect(data.format == .heic)
    let now = Date(timeIntervalSince1970: 5)
    let capture = PhotoCaptureData(imageData: Data([1, 2]), metadata: nil, timestamp: now)
    #expect(capture.imageData.count == 2)
    #expect(capture.timestamp == now)
  }

  @Test("The module's own Stream has the name that Foundation's also has, and clients can tell them apart")
  func streamName() {
    let isOurs: (MWDATCamera.Stream) -> StreamState = { $0.state }
    _ = isOurs
    #expect(Notification.Name.mwdatStreamSessionCreated.rawValue == "mwdatStreamSessionCreated")
  }
}
