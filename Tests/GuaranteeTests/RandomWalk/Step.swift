import Foundation
import MWDATCamera
import MWDATCore

/// One thing that an app, a wearer, a test or the world does to glasses and to the interface. Plain data, so that a walk
/// that went wrong can be printed, repeated and cut down.
///
/// `place` picks among what is there at that moment, counted from the newest; nothing happens when nothing is there.
enum Step: Hashable, Sendable {
  case time(Duration)

  // Towards a stream: walks that draw everything alone hardly ever get there
  /// The app does the next thing on its way.
  case proceed(WalkConfiguration)
  /// The app wants a photo, by whichever way is open.
  case photograph(PhotoCaptureFormat)
  /// The wearer puts everything right.
  case recover

  // The app
  case configure
  case createSession(place: Int, automatic: Bool)
  case startSession(place: Int)
  case stopSession(place: Int)
  case releaseSession(place: Int)
  case addCamera(place: Int, WalkConfiguration)
  case stopCamera(place: Int)
  case releaseCamera(place: Int)
  case startStream(place: Int)
  case stopStream(place: Int)
  case capturePhoto(place: Int, PhotoCaptureFormat)
  case requestKeyframe(place: Int)
  case startPhoto(place: Int)
  case stopPhoto(place: Int)
  case takePhoto(place: Int, PhotoResolution, PhotoQuality)
  case listen(place: Int, WalkPublisher)
  case cancelToken(place: Int)
  case releaseToken(place: Int)
  case beginSequence(place: Int, WalkSequence)
  case abandonSequence(place: Int)
  case checkPermission(Permission)
  case requestPermission(Permission)
  case startRegistration
  case startUnregistration
  case handleURL
  case openUpdates
  case readEverything(place: Int)
  case startRecorder(place: Int)
  /// A sample of sound that the app brings itself.
  case appendSound(place: Int)
  case finishRecorder(place: Int)
  case releaseRecorder(place: Int)

  // The wearer, the test, the user
  case hardware(place: Int, WalkHardware)
  case feed(place: Int, WalkFeed)
  case image(place: Int, isReadable: Bool)
  case failNextCapture(place: Int)
  case microphone(place: Int, WalkMicrophone)
  case setPermission(Permission, PermissionStatus)
  case setRequestResult(Permission, PermissionStatus)
  case pair
  case unpair(place: Int, waits: Bool)
  case enable(isRegistered: Bool)
  case disable(waits: Bool)

  // A bad day
  case fault(place: Int, WalkFault)

  /// As it is written in a list of steps.
  var written: String {
    switch self {
    case .time(let duration): ".time(.milliseconds(\(Int(duration / .milliseconds(1)))))"
    default: ".\(Self.text(of: self))"
    }
  }

  /// The case as it is written, with its values.
  private static func text(of value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    guard let child = mirror.children.first, let name = child.label else {
      return mirror.displayStyle == .enum ? "\(value)" : String(reflecting: value)
    }
    let parts = Mirror(reflecting: child.value)
    let isTuple = parts.displayStyle == .tuple
    let values: [(String?, Any)] = isTuple ? parts.children.map { ($0.label, $0.value) } : [(nil, child.value)]
    let list = values.map { label, value in
      let written =
        Mirror(reflecting: value).displayStyle == .enum ? ".\(text(of: value))" : String(reflecting: value)
      return label.map { $0.hasPrefix(".") ? written : "\($0): \(written)" } ?? written
    }
    return "\(name)(\(list.joined(separator: ", ")))"
  }
}

/// What a walk asks cameras for.
enum WalkConfiguration: CaseIterable, Hashable, Sendable {
  case compressed30, compressed15, compressed2, decoded15, decoded2, oddRate, withAudio, decodedWithAudio, nineChannels

  var configuration: StreamConfiguration {
    switch self {
    case .compressed30: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 30)
    case .compressed15: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 15)
    case .compressed2: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 2)
    case .decoded15: StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: 15)
    case .decoded2: StreamConfiguration(videoCodec: .raw, resolution: .low, frameRate: 2)
    case .oddRate: StreamConfiguration(videoCodec: .hvc1, resolution: .low, frameRate: 11)
    case .withAudio:
      StreamConfiguration(
        videoCodec: .hvc1, audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 1), resolution: .low,
        frameRate: 15)
    case .decodedWithAudio:
      StreamConfiguration(
        videoCodec: .raw, audioCodec: .pcm(sampleRate: .rate44100, numberOfChannels: 2), resolution: .low,
        frameRate: 7)
    case .nineChannels:
      StreamConfiguration(
        videoCodec: .hvc1, audioCodec: .pcm(sampleRate: .rate16000, numberOfChannels: 9), resolution: .low,
        frameRate: 15)
    }
  }
}

enum WalkPublisher: CaseIterable, Hashable, Sendable {
  case registration, devices, deviceState, linkState, compatibility
  case sessionStates, sessionErrors, cameraStates, streamStates, streamErrors, frames, audio, continuousAudio,
    streamPhotos, health
  case photoStates, photos, photoErrors, photoProgress, recording
}

enum WalkSequence: CaseIterable, Hashable, Sendable {
  case registration, devices, sessionStates, sessionErrors, activeDevice, specificDevice
}

enum WalkHardware: Hashable, Sendable {
  case powerOn, powerOff, don, doff, fold, unfold, tap, tapAndHold
  case battery(Int?)
  case charging(ChargingState)
  case thermal(ThermalLevel)
}

enum WalkMicrophone: CaseIterable, Hashable, Sendable {
  case feed, tone, silence, file, missing, mute, unmute, fail, inject, validate
}

enum WalkFeed: CaseIterable, Hashable, Sendable {
  /// `validate` by a file that can't be played: one that can is set when the disk has it, which no seed decides.
  case pattern, clip, unplayable, missing, validate
}
