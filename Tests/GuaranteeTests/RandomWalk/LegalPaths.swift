import MWDATCamera
import MWDATCore

/// Which state may follow which, as the interface's documentation has it. Written down once; whatever watches states
/// looks here.
enum LegalPaths {
  static let session: [DeviceSessionState: Set<DeviceSessionState>] = [
    // Never started: no `.stopping`.
    .idle: [.starting, .stopped],
    .starting: [.started, .stopping],
    .started: [.paused, .stopping],
    .paused: [.started, .stopping],
    .stopping: [.stopped],
    // Sessions are for one use.
    .stopped: [],
  ]

  static let camera: [CameraState: Set<CameraState>] = [
    .starting: [],
    .started: [.stopping],
    .stopping: [.stopped],
    .stopped: [],
  ]

  static let stream: [StreamState: Set<StreamState>] = [
    .stopped: [.waitingForDevice],
    // `.streaming` and `.paused` after an interruption only; `StreamModel` looks at that.
    .waitingForDevice: [.starting, .streaming, .paused, .stopping],
    .starting: [.streaming, .waitingForDevice, .paused, .stopping],
    .streaming: [.starting, .waitingForDevice, .paused, .stopping],
    .paused: [.streaming, .stopping],
    .stopping: [.stopped],
  ]

  static let photo: [PhotoState: Set<PhotoState>] = [
    .stopped: [.starting],
    .starting: [.started, .stopping],
    .started: [.stopping],
    .stopping: [.stopped],
  ]
}

/// The longest that an object may stay in a state, by what its documentation says. Nil: as long as it likes.
enum StateBounds {
  static func bound(_ state: DeviceSessionState) -> Duration? {
    switch state {
    case .starting: .seconds(10)
    case .stopping: .seconds(2)
    case .idle, .started, .paused, .stopped: nil
    }
  }

  static func bound(_ state: StreamState) -> Duration? {
    switch state {
    case .waitingForDevice: .seconds(30)
    case .starting: .seconds(10)
    case .stopping: .seconds(2)
    case .streaming, .paused, .stopped: nil
    }
  }

  static func bound(_ state: PhotoState) -> Duration? {
    switch state {
    case .starting: .seconds(30)
    case .stopping: .seconds(2)
    case .started, .stopped: nil
    }
  }

  static func bound(_ state: CameraState) -> Duration? {
    switch state {
    case .starting, .stopping: .seconds(2)
    case .started, .stopped: nil
    }
  }
}
