import LinkProtocol

/// Numbers a link within one agent, in the order of their arrival.
package struct LinkKey: Hashable, Sendable {
  package let value: UInt64
  package init(_ value: UInt64) { self.value = value }
}

/// A stream among all of an agent's.
package struct StreamKey: Hashable, Sendable {
  package let link: LinkKey
  package let stream: StreamID
  package init(link: LinkKey, stream: StreamID) {
    self.link = link
    self.stream = stream
  }
}

/// A photo among all of an agent's.
package struct PhotoKey: Hashable, Sendable {
  package let link: LinkKey
  package let photo: PhotoID
  package init(link: LinkKey, photo: PhotoID) {
    self.link = link
    self.photo = photo
  }
}

/// What an input to `AgentSessionMachine` asks its owner to do, to be carried out in the order given.
package enum SessionAction: Hashable, Sendable {
  case send(LinkKey, Message)
  /// Say goodbye and end the link.
  case close(LinkKey, Goodbye)
  /// Begin pictures of a stream; the first is a sync unit.
  case startVideo(StreamKey, VideoParameters)
  /// As `startVideo`, after pictures that the app was owed and never got: the sync unit says so.
  case continueVideo(StreamKey, VideoParameters)
  /// End them; when this has been carried out no unit of the stream follows.
  case stopVideo(StreamKey)
  /// Begin the sound of a stream, before its pictures; it waits for them.
  case startAudio(StreamKey, AudioParameters)
  /// End it, before the pictures: what was captured is on its way when this has been carried out, and nothing follows.
  case stopAudio(StreamKey)
  case requestKeyframe(StreamKey)
  /// See whether what the camera shows now can be played, for a stream that rests; answer with `feedRefused` if not.
  case checkFeed(StreamKey)
  case takePhoto(PhotoKey, PhotoRequest)
  /// Nobody waits for the photo any more.
  case dropPhoto(PhotoKey)
}

/// What a message's answer depends on besides the sessions.
package struct SessionConditions {
  package var health: HealthVerdict
  /// Whether an app, by its identifier, may use the sensor. Asked only when the answer matters.
  package var allowsCamera: (String) -> Bool
  package var allowsMicrophone: (String) -> Bool
  package var faults: AgentFaults
  /// How long the link may keep what it was lent if nothing more is heard of it; nil when nobody knows.
  package var leaseLeft: (LinkKey) -> Duration?

  package init(
    health: HealthVerdict, faults: AgentFaults = AgentFaults(), allowsCamera: @escaping (String) -> Bool,
    allowsMicrophone: @escaping (String) -> Bool,
    leaseLeft: @escaping (LinkKey) -> Duration? = { _ in nil }
  ) {
    self.health = health
    self.faults = faults
    self.allowsCamera = allowsCamera
    self.allowsMicrophone = allowsMicrophone
    self.leaseLeft = leaseLeft
  }
}
