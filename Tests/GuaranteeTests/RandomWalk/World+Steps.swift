import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice

extension World {
  /// Does a step; time is not this world's to move. Any thread.
  func perform(_ step: Step) {
    switch step {
    case .time: break
    case .proceed(let configuration): proceed(configuration)
    case .photograph(let format): photograph(format)
    case .recover: recover()
    case .configure: try? Wearables.configure()
    case .createSession(let place, let automatic): createSession(place, automatic: automatic)
    case .startSession(let place): startSession(place)
    case .stopSession(let place): stopSession(place)
    case .releaseSession(let place): releaseSession(place)
    case .addCamera(let place, let configuration): addCamera(place, configuration)
    case .stopCamera(let place): stopCamera(place)
    case .releaseCamera(let place): withExtendedLifetime(take(place, \.cameras)) {}
    case .startStream(let place): startStream(place)
    case .stopStream(let place): stopStream(place)
    case .capturePhoto(let place, let format): capturePhoto(place, format)
    case .requestKeyframe(let place): pick(place, \.cameras)?.camera.stream.requestKeyframe()
    case .startPhoto(let place): startPhoto(place)
    case .stopPhoto(let place): stopPhoto(place)
    case .takePhoto(let place, let resolution, let quality): takePhoto(place, resolution, quality)
    case .listen(let place, let publisher): listen(place, publisher)
    case .cancelToken(let place): cancelToken(place)
    case .releaseToken(let place): releaseToken(place)
    case .beginSequence(let place, let sequence): beginSequence(place, sequence)
    case .abandonSequence(let place): abandonSequence(place)
    case .checkPermission(let permission): checkPermission(permission)
    case .requestPermission(let permission): requestPermission(permission)
    case .startRegistration: startRegistration()
    case .startUnregistration: startUnregistration()
    case .handleURL: handleURL()
    case .openUpdates: openUpdates()
    case .readEverything(let place): readEverything(place)
    case .startRecorder(let place): startRecorder(place)
    case .appendSound(let place): appendSound(place)
    case .finishRecorder(let place): finishRecorder(place)
    case .releaseRecorder(let place): withExtendedLifetime(take(place, \.recorders)) {}
    case .hardware(let place, let action): hardware(place, action)
    case .feed(let place, let feed): self.feed(place, feed)
    case .image(let place, let isReadable): image(place, isReadable: isReadable)
    case .failNextCapture(let place):
      pick(place, \.glasses)?.services.cameraCapture.simulateCaptureFailure()
    case .microphone(let place, let change): microphone(place, change)
    case .setPermission(let permission, let status): MockKit.shared.permissions.set(permission, status)
    case .setRequestResult(let permission, let status):
      MockKit.shared.permissions.setRequestResult(permission, result: status)
    case .pair: pair()
    case .unpair(let place, let waits): unpair(place, waits: waits)
    case .enable(let isRegistered): enable(isRegistered: isRegistered)
    case .disable(let waits): disable(waits: waits)
    case .fault(let place, let fault): self.fault(place, fault)
    }
  }
}
