import Foundation
import Glasswing
import MWDATCamera
import MWDATCore
import MWDATMockDevice
import Testing

extension ErrorEntry {
  static let streams: [ErrorEntry] = [
    ErrorEntry("stream.internalError") {
      try await ErrorScene.met { scene in
        scene.camera.stop()
        await scene.pass(.seconds(1))
        scene.camera.stream.start()
      }
    },
    ErrorEntry("stream.deviceNotFound") {
      try await ErrorScene.met { scene in
        MockDeviceKit.shared.unpairDevice(scene.glasses)
        scene.camera.stream.start()
      }
    },
    ErrorEntry("stream.deviceNotConnected") {
      try await ErrorScene.streaming { scene in
        scene.glasses.link.cut()
        await scene.pass(.seconds(12))
      }
    },
    ErrorEntry("stream.timeout") {
      try await ErrorScene.met { scene in
        scene.glasses.link.mute(.video)
        scene.camera.stream.start()
        await scene.pass(.seconds(11))
      }
    },
    ErrorEntry("stream.videoStreamingError") {
      try await ErrorScene.streaming { scene in
        scene.glasses.services.camera.setCameraFeed(fileURL: URL(fileURLWithPath: "/nowhere/feed.mp4"))
        await scene.pass(.seconds(2))
      }
    },
    ErrorEntry("stream.audioStreamingError") {
      let sound = AudioCodec.pcm(sampleRate: .rate16000, numberOfChannels: 9)
      return try await ErrorScene.met(
        StreamConfiguration(videoCodec: .hvc1, audioCodec: sound, resolution: .low, frameRate: 15)
      ) { scene in
        scene.camera.stream.start()
      }
    },
    ErrorEntry("stream.permissionDenied") {
      try await ErrorScene.met { scene in
        MockDeviceKit.shared.permissions.set(.camera, .denied)
        scene.camera.stream.start()
      }
    },
    ErrorEntry("stream.hingesClosed") { try await ErrorScene.streaming { $0.glasses.fold() } },
    ErrorEntry("stream.thermalHot") { try await ErrorScene.streaming { $0.glasses.setThermalLevel(.severe) } },
    ErrorEntry("stream.batteryLow") { try await ErrorScene.streaming { $0.glasses.setBatteryLevel(4) } },
    ErrorEntry("stream.peakPowerLimit") {
      try await ErrorScene.streaming { $0.glasses.agent.hardware.raisePeakPowerLimit() }
    },
    ErrorEntry("stream.photoCaptureFailed") {
      try await ErrorScene.streaming { scene in
        scene.glasses.services.camera.setCapturedImage(fileURL: URL(fileURLWithPath: "/nowhere/photo.jpg"))
        #expect(scene.camera.stream.capturePhoto(format: .jpeg))
        await scene.pass(.seconds(1))
        #expect(scene.camera.stream.state == .streaming)
      }
    },
  ]

  static let photos: [ErrorEntry] = [
    ErrorEntry("photo.notReady") { try await ErrorScene.met { $0.camera.photo.capturePhoto() } },
    ErrorEntry("photo.captureFailure") {
      try await ErrorScene.photographing { scene in
        scene.glasses.services.cameraCapture.simulateCaptureFailure()
        scene.camera.photo.capturePhoto()
      }
    },
    ErrorEntry("photo.sessionSetupFailed") {
      try await ErrorScene.met { scene in
        scene.glasses.powerOff()
        scene.camera.photo.start()
      }
    },
    ErrorEntry("photo.busy") {
      try await ErrorScene.photographing { scene in
        scene.camera.photo.capturePhoto()
        scene.camera.photo.capturePhoto()
      }
    },
    ErrorEntry("photo.serviceUnavailable") {
      try await ErrorScene.photographing { scene in
        let other = OtherApp(at: scene.glasses, scene.clock)
        await scene.pass(.milliseconds(100))
        other.startStream(1)
        await scene.pass(.milliseconds(500))
        scene.camera.photo.capturePhoto()
        await scene.pass(.seconds(1))
        other.leave()
      }
    },
    ErrorEntry("photo.permissionDenied") {
      try await ErrorScene.met { scene in
        MockDeviceKit.shared.permissions.set(.camera, .denied)
        scene.camera.photo.start()
      }
    },
    ErrorEntry("photo.deviceHealthCritical") {
      try await ErrorScene.photographing { scene in
        // Simulated glasses end the session at that heat; others may refuse photos sooner.
        scene.glasses.agent.faults.photo = .failure(.thermalHot)
        scene.camera.photo.capturePhoto()
      }
    },
    ErrorEntry("photo.deviceDisconnected", .never("a lost device ends the capture, and says so by captureFailure")),
  ]
}
