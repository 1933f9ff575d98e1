import Units

package enum VideoCodecID: UInt8, Hashable, Sendable, CaseIterable { case hevc = 1, h264 }

package enum AudioCodecID: UInt8, Hashable, Sendable, CaseIterable { case pcmFloat32 = 1, opus }

/// What sound a stream shall carry or carries.
package struct AudioParameters: Hashable, Sendable {
  package var codec: AudioCodecID
  /// Samples a second.
  package var sampleRate: UInt32
  package var channels: UInt8
  package init(codec: AudioCodecID, sampleRate: UInt32, channels: UInt8) {
    self.codec = codec
    self.sampleRate = sampleRate
    self.channels = channels
  }
}

/// What pictures a stream shall carry or carries.
package struct VideoParameters: Hashable, Sendable {
  package var codec: VideoCodecID
  package var size: PixelSize
  /// Pictures a second.
  package var frameRate: UInt8
  package init(codec: VideoCodecID, size: PixelSize, frameRate: UInt8) {
    self.codec = codec
    self.size = size
    self.frameRate = frameRate
  }
}

/// App to glasses: begin a stream of a session. Answered by `streamStarted` or by `streamStopped` with a reason.
package struct StreamStart: Hashable, Sendable {
  package var stream: StreamID
  package var session: SessionID
  package var video: VideoParameters
  package var audio: AudioParameters?
  package init(stream: StreamID, session: SessionID, video: VideoParameters, audio: AudioParameters? = nil) {
    self.stream = stream
    self.session = session
    self.video = video
    self.audio = audio
  }
}

/// Glasses to app: what was agreed. Media follows.
package struct StreamStarted: Hashable, Sendable {
  package var stream: StreamID
  package var video: VideoParameters
  package var audio: AudioParameters?
  package init(stream: StreamID, video: VideoParameters, audio: AudioParameters? = nil) {
    self.stream = stream
    self.video = video
    self.audio = audio
  }
}

/// Glasses to app: size or rate step; arrives before the first unit in the new form.
package struct StreamChanged: Hashable, Sendable {
  package enum Reason: UInt8, Hashable, Sendable, CaseIterable { case linkNarrowed = 1, linkWidened, thermal, source }
  package var stream: StreamID
  package var video: VideoParameters
  package var reason: Reason
  package init(stream: StreamID, video: VideoParameters, reason: Reason) {
    self.stream = stream
    self.video = video
    self.reason = reason
  }
}

/// App to glasses: end the stream. Answered by `streamStopped`.
package struct StreamStop: Hashable, Sendable {
  package var stream: StreamID
  package init(stream: StreamID) { self.stream = stream }
}

/// Glasses to app: the stream is over, or could not begin; no unit of it follows.
package struct StreamStopped: Hashable, Sendable {
  package enum Reason: Hashable, Sendable {
    case requested
    case failed(LinkErrorCode)
  }
  package var stream: StreamID
  package var reason: Reason
  /// Of a failure: when a new try may succeed; nil when nobody knows. In whole milliseconds on the link.
  package var retryAfter: Duration?
  /// What is wrong and with what, in words, for logs and health events.
  package var text: String
  package init(stream: StreamID, reason: Reason, retryAfter: Duration? = nil, text: String = "") {
    self.stream = stream
    self.reason = reason
    self.retryAfter = retryAfter
    self.text = text
  }
}

/// App to glasses: make the next picture a sync unit.
package struct KeyframeRequest: Hashable, Sendable {
  package enum Reason: UInt8, Hashable, Sendable, CaseIterable { case loss = 1, lateListener, application }
  package var stream: StreamID
  package var reason: Reason
  package init(stream: StreamID, reason: Reason) {
    self.stream = stream
    self.reason = reason
  }
}
